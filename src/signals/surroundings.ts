import { type KnownClass } from '../health/cluster.ts';
import { isFinished } from '../health/pod.ts';
import { type ClaimView, type NodeView, type PodView, type StorageClassView } from '../kube/views.ts';

/** Facts about other objects that are needed to find who is to blame. Empty where these may not be watched. */
export interface Surroundings {
  /**
   * Whether this pod is down with its node. On a node that somebody drains, pods that never leave it (DaemonSets) do
   * not count.
   */
  isDownWithItsNode(pod: Pick<PodView, 'node' | 'owner'>): boolean;
  /** The StorageClass that this claim names, if it does not exist. */
  missingClassOf(namespace: string, claim: string): string | undefined;
  classOf(name: string | undefined): KnownClass;
  /** Pods that were not ready before their node was known to be down, and that are down with it. */
  podsOn(node: string): PlacedPod[];
  waitingClaims(): ClaimView[];
}

export type PlacedPod = Pick<PodView, 'namespace' | 'name' | 'uid' | 'owner'> & { node: string };

/** The objects that one watch holds for the others. */
export interface Cache<V> {
  set(view: V): void;
  delete(uid: string): void;
  /** Replaces all objects of this namespace; with undefined, of the whole cluster. */
  replace(views: readonly V[], namespace: string | undefined): void;
}

interface Kept {
  uid: string;
  namespace: string;
}

function createCache<V extends Kept, K extends Kept>(keep: (view: V) => K | undefined) {
  const kept = new Map<string, K>();
  const cache = {
    set(view: V): void {
      const slim = keep(view);
      if (slim) kept.set(view.uid, slim);
      else kept.delete(view.uid);
    },
    delete: (uid: string): void => void kept.delete(uid),
    replace(views: readonly V[], namespace: string | undefined): void {
      for (const { uid, namespace: own } of kept.values())
        if (namespace === undefined || namespace === own) kept.delete(uid);
      views.forEach(cache.set);
    },
    forget(isUnwatched: (namespace: string) => boolean): void {
      for (const { uid, namespace } of kept.values()) if (isUnwatched(namespace)) kept.delete(uid);
    },
    find: (isIt: (one: K) => boolean): K | undefined => [...kept.values()].find(isIt),
    all: (): K[] => [...kept.values()],
  };
  return cache;
}

/**
 * Facts that the watches share about each other's objects, in whichever order these come. It holds only nodes that are
 * down, pods that are not ready (their names), claims that wait, and StorageClasses, of which there are few.
 */
export function createSurroundings() {
  const nodes = createCache(({ uid, namespace, name, isLeaving }: NodeView) => ({ uid, namespace, name, isLeaving }));
  const classes = createCache((one: StorageClassView) => one);
  const claims = createCache((one: ClaimView) => one);
  const pods = createCache((pod: PodView): PlacedPod | undefined => {
    const { namespace, name, uid, node, owner } = pod;
    return node === undefined || isFinished(pod) ? undefined : { namespace, name, uid, node, ...(owner && { owner }) };
  });
  let areClassesKnown = false;

  const around: Surroundings = {
    isDownWithItsNode({ node: name, owner }) {
      const down = nodes.find((node) => node.name === name);
      return down !== undefined && !(down.isLeaving && owner?.kind === 'DaemonSet');
    },
    missingClassOf(namespace, name) {
      const claim = claims.find((one) => one.namespace === namespace && one.name === name);
      return claim && around.classOf(claim.storageClass) === 'missing' ? claim.storageClass : undefined;
    },
    classOf: (name) =>
      !areClassesKnown || !name ? 'unknown' : (classes.find((one) => one.name === name) ?? 'missing'),
    podsOn: (node) => pods.all().filter((pod) => pod.node === node && around.isDownWithItsNode(pod)),
    waitingClaims: () => claims.all().filter(({ phase }) => phase === 'Pending'),
  };
  const knownClasses: Cache<StorageClassView> = {
    ...classes,
    replace(views) {
      areClassesKnown = true;
      classes.replace(views, undefined);
    },
  };
  return { around, caches: { nodes, pods, claims, classes: knownClasses } };
}

export const nothingKnown: Surroundings = createSurroundings().around;
