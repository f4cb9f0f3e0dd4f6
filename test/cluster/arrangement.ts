import { basename } from 'node:path';

/**
 * How the files of test/e2e are run. One that is named nowhere here has a cluster of its own and runs beside others; that
 * is right for whatever watches, installs tapfix, kills a component or has nodes of its own.
 */
interface Table {
  /** Need the whole machine, so they come first, by themselves. */
  readonly alone: readonly string[];
  /**
   * Share one cluster, one after the other. What they have in common is deploy/manifests without the Deployments; a
   * controller that one of them runs minds its own namespaces.
   */
  readonly sharing: readonly string[];
  /** Those that take long begin first, or the last one would be waited for alone. */
  readonly longest: readonly string[];
}

export const table: Table = {
  alone: ['storm'],
  sharing: ['actions', 'actions-refused', 'fixing', 'quiet', 'rights'],
  longest: [
    'crash',
    'crash-undo',
    'fixing',
    'silence',
    'slack',
    'loop',
    'demo',
    'stale-facts',
    'tap',
    'proposals',
    'noticing',
    'kubelet',
  ],
};

export interface Arrangement {
  alone: string[];
  /** Each is one cluster with its files, in the order in which they begin. */
  beside: string[][];
}

export function arrange(files: readonly string[], { alone, sharing, longest }: Table): Arrangement {
  const nameOf = (file: string): string => basename(file, '.test.ts');
  const rank = (file: string): number => {
    const at = longest.indexOf(nameOf(file));
    return at < 0 ? longest.length : at;
  };
  const sorted = files.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const shared = sorted.filter((file) => sharing.includes(nameOf(file)));
  return {
    alone: sorted.filter((file) => alone.includes(nameOf(file))),
    // They begin when the longest of them would.
    beside: sorted
      .filter((file) => !alone.includes(nameOf(file)) && (!shared.includes(file) || file === shared[0]))
      .map((file) => (file === shared[0] ? shared : [file])),
  };
}
