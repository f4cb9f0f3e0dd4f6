import { type Shape, type SiteName, sites } from './shapes.ts';

const always = (word: string) => () => word;

interface Recovery {
  class?: string;
  before: string;
  after(n: number): string;
}

/** How a fix helps, sooner or later. */
const recoveries: Readonly<Record<string, Recovery>> = {
  'is ready at once': { before: 'unready', after: always('run') },
  'was crashing, and is ready at once': { class: 'CrashLoop', before: 'crash', after: always('run') },
  'was crashing every 25 s, and has to hold longer': {
    class: 'CrashLoop',
    before: 'crash-after=25s',
    after: always('run'),
  },
  'is ready after 20 s': { before: 'unready', after: always('ready-after=20s') },
  'has one pod that takes 45 s': { before: 'unready', after: (n) => (n === 1 ? 'ready-after=45s' : 'run') },
  'crashes once before it runs': { before: 'unready', after: always('crash, run') },
  'had no image, and loses a pod to its node once': {
    class: 'ImagePull',
    before: 'image-missing',
    after: (n) => (n === 0 ? 'evicted=10s' : 'run'),
  },
};

function before(site: SiteName, word: string): Shape['before'] {
  if (site.startsWith('deletion')) return (n) => (n === 0 ? word : 'run');
  return site === 'scaling' ? (n) => (n === 2 ? word : 'run') : always(word);
}

export const recoveringShapes: readonly Shape[] = Object.entries(recoveries).flatMap(([name, recovery]) =>
  (Object.keys(sites) as SiteName[]).map((site) => ({
    name: `${site}: ${name}`,
    site: sites[site],
    class: recovery.class ?? (site.startsWith('quota') ? 'QuotaExceeded' : 'ProbeFailing'),
    before: before(site, recovery.before),
    after: recovery.after,
  })),
);
