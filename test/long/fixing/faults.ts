import type { Api } from '../../../src/kube/api.ts';
import { create, patchSpec, type Shape, type Site, type SiteName, sites } from './shapes.ts';

const always = (word: string) => () => word;

interface Fault {
  class?: string;
  before?(n: number): string;
  after(n: number, image: string): string;
  others?: Shape['others'];
  /** Beside it in the namespace. */
  neighbour?: 'broken' | 'fine';
  not?: (site: SiteName) => boolean;
}

const isScaling = (site: SiteName): boolean => site === 'scaling';
const isStepByStep = (site: SiteName): boolean =>
  ['image', 'image of an init container', 'restart of a Deployment'].includes(site);
const isRollout = (site: SiteName): boolean => /^(undo|restart|image)/.test(site);
const ofDeployment = (site: SiteName): boolean => sites[site].kind === 'Deployment' && isRollout(site);

/** How a fix can come to nothing. */
const faults: Readonly<Record<string, Fault>> = {
  'crashes at once': { after: always('crash') },
  'crashes at once, and others in the namespace are fine': { after: always('crash'), neighbour: 'fine' },
  'is never ready': { after: always('unready') },
  'is never ready, and others in the namespace are broken as well': { after: always('unready'), neighbour: 'broken' },
  'is ready for 5 s at a time': {
    class: 'CrashLoop',
    before: always('crash-after=5s'),
    after: always('crash-after=5s'),
  },
  // "As before" is where its pods ran before the fix. Without their init container, or behind a quota, they never did:
  // a first death that nobody has seen, and that comes after `stableFor`, cannot be waited for (docs/safety.md).
  'dies after 60 s, as before': {
    class: 'CrashLoop',
    before: always('crash-after=60s'),
    after: always('crash-after=60s'),
    not: (site) => /init|quota/.test(site),
  },
  'is killed for memory after 20 s': { class: 'OOMKilled', before: always('oom=20s'), after: always('oom=20s') },
  'ends well after 10 s, again and again': { after: always('exit-0=10s') },
  'fails its liveness probe': { after: always('liveness=5s') },
  'has an image that is missing': { class: 'ImagePull', after: always('image-missing') },
  'lacks its configuration': { class: 'ConfigMissing', after: always('config-missing=settings') },
  'gets no sandbox': { after: always('sandbox') },
  'waits for a volume': { after: always('volume=missing') },
  hangs: { after: always('hang') },
  'has one bad pod among good ones': { after: (n) => (n === 0 ? 'unready' : 'run'), not: isScaling },
  'has one pod that crashes every 20 s among good ones': {
    class: 'CrashLoop',
    after: (n) => (n === 0 ? 'crash-after=20s' : 'run'),
    not: isScaling,
  },
  'is deleted by somebody': { after: always('unready'), others: (api, namespace) => remove(api, namespace) },
  'is scaled to zero by somebody': {
    after: always('unready'),
    others: (api, namespace) => zero(api, namespace),
    not: (site) => sites[site].kind === 'DaemonSet',
  },
  'is kept off every node by somebody': {
    after: always('unready'),
    others: (api, namespace) => patchSpec(api, namespace, 'DaemonSet', '/template/spec/nodeSelector', { disk: 'none' }),
    not: (site) => sites[site].kind !== 'DaemonSet',
  },
  'dies after 50 s, and another comes up late': {
    class: 'CrashLoop',
    before: always('crash'),
    after: (n) => (n === 0 ? 'crash-after=50s' : 'ready-after=35s'),
    not: (site) => !/^(undo|image|restart) .*Deployment$|^image$/.test(site),
  },
  'is paused halfway': {
    after: always('ready-after=20s'),
    others: (api, namespace) => patchSpec(api, namespace, 'Deployment', '/paused', true),
    not: (site) => !isStepByStep(site),
  },
  'is rolled out once more by somebody, badly': {
    after: (_n, image) => (image.endsWith(':9') ? 'crash' : 'run'),
    others: (api, namespace) =>
      patchSpec(api, namespace, 'Deployment', '/template/spec/containers/0/image', 'shop/app:9'),
    not: (site) => !ofDeployment(site),
  },
  'never comes up while the old pods still serve': {
    after: always('unready'),
    not: (site) => site !== 'image of a rollout that stands still',
  },
  'crashes after 10 s while the old pods still serve': {
    after: always('crash-after=10s'),
    not: (site) => site !== 'image of a rollout that stands still',
  },
};

const remove = async (api: Api, namespace: string): Promise<void> => {
  for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet'] as const)
    if (await api.get({ kind, namespace, name: 'checkout' })) await api.delete({ kind, namespace, name: 'checkout' });
};
const zero = async (api: Api, namespace: string): Promise<void> => {
  for (const kind of ['Deployment', 'StatefulSet'] as const)
    if (await api.get({ kind, namespace, name: 'checkout' })) await patchSpec(api, namespace, kind, '/replicas', 0);
};

/** Of a pod's deletion one was bad; of a scaling what is left behaves as it did before. */
function before(site: SiteName, { before = always('unready'), after }: Fault): Shape['before'] {
  if (site.startsWith('deletion')) return (n) => (n === 0 ? before(n) : 'run');
  return isScaling(site) ? (n) => after(n, '') : before;
}

function withNeighbour(site: Site, neighbour: Fault['neighbour']): Site {
  if (!neighbour) return site;
  const make = async (api: Api, namespace: string): Promise<void> => {
    await create('Deployment', { app: neighbour, replicas: 1 })(api, namespace);
    await site.make(api, namespace);
  };
  return { ...site, make };
}

const shapeOf = (site: SiteName, name: string, fault: Fault): Shape => ({
  name: `${site}: ${name}`,
  site: withNeighbour(sites[site], fault.neighbour),
  class: fault.class ?? (site.startsWith('quota') ? 'QuotaExceeded' : 'ProbeFailing'),
  before: before(site, fault),
  after: fault.after,
  ...(fault.others && { others: fault.others }),
});

const siteNames = Object.keys(sites) as SiteName[];

/** Every other one of all that make sense: more than a hundred, each site with half of the faults, each fault on half of the sites. */
export const stuckShapes: readonly Shape[] = Object.entries(faults).flatMap(([name, fault], row) => {
  const possible = siteNames.filter((site) => !fault.not?.(site) && !(fault.neighbour && site.startsWith('quota')));
  return possible
    .filter((_, column) => possible.length < 4 || (row + column) % 2 === 0)
    .map((site) => shapeOf(site, name, fault));
});
