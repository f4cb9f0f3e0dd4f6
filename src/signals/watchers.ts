import { type KnownClass, nodeTroubles } from '../health/cluster.ts';
import { isFinished } from '../health/pod.ts';
import type { KubeObject } from '../kube/api.ts';
import type { Kind } from '../kube/resources.ts';
import {
  type AutoscalerView,
  type ClaimView,
  type DeploymentView,
  type JobView,
  type NodeView,
  type PodView,
  type SetView,
  type StorageClassView,
  viewAutoscaler,
  viewClaim,
  viewDeployment,
  viewJob,
  viewNode,
  viewPod,
  viewSet,
  viewStorageClass,
} from '../kube/views.ts';
import {
  detectAutoscaler,
  detectClaim,
  detectDeployment,
  detectJob,
  detectNode,
  detectPod,
  detectSet,
  downWithItsNode,
} from './detect.ts';
import type { Signal } from './signal.ts';

/** What must be known of other objects to say who is to blame. Empty where they may not be watched. */
export interface Surroundings {
  /** Whether this pod is down with its node. Of a node that somebody drains those that never leave it are not worth a word. */
  isDownWithItsNode(pod: Pick<PodView, 'node' | 'owner'>): boolean;
  /** The class that this claim names, and that does not exist. */
  missingClassOf(namespace: string, claim: string): string | undefined;
  classOf(name: string | undefined): KnownClass;
  /** Those that were not ready before their node was known to be down, and are down with it. */
  podsOn(node: string): PlacedPod[];
  waitingClaims(): ClaimView[];
}

export type PlacedPod = Pick<PodView, 'namespace' | 'name' | 'uid' | 'owner'> & { node: string };

/** What one watch holds for the others. */
interface Cache<V> {
  set(view: V): void;
  delete(uid: string): void;
  /** All there are in this namespace, or with undefined anywhere. */
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
    forget(isLeft: (namespace: string) => boolean): void {
      for (const { uid, namespace } of kept.values()) if (isLeft(namespace)) kept.delete(uid);
    },
    find: (isIt: (one: K) => boolean): K | undefined => [...kept.values()].find(isIt),
    all: (): K[] => [...kept.values()],
  };
  return cache;
}

/**
 * What several watches learn about each other's objects, in whichever order it comes. Held are only nodes that are down,
 * pods that are not ready (their names), claims that wait, and StorageClasses, of which there are few.
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
type Caches = ReturnType<typeof createSurroundings>['caches'];

/** What is made of one kind of object. */
export interface Watcher<V> {
  kind: Kind;
  view(object: KubeObject): V | undefined;
  /** Whether anything of it can matter. Everything else is forgotten at once, so a healthy cluster takes no room. */
  matters(view: V): boolean;
  /** Without it: never a failure itself. */
  detect?(view: V, nowMs: number, around: Surroundings): Signal[];
  /** Where it is held for the others. */
  cache?(caches: Caches): Cache<V>;
  /** What these news (or that one is gone) say about others that were seen before. */
  echo?(news: readonly V[], around: Surroundings): Signal[];
}

const pods: Watcher<PodView> = {
  kind: 'Pod',
  view: viewPod,
  // One that was killed for memory may be up and ready again before anyone is told.
  matters: ({ ready, phase, containers }) =>
    phase !== 'Succeeded' && (!ready || containers.some(({ ended }) => ended?.reason === 'OOMKilled')),
  detect: detectPod,
  cache: (caches) => caches.pods,
};

const deployments: Watcher<DeploymentView> = {
  kind: 'Deployment',
  view: viewDeployment,
  matters: ({ progressing, refused }) => progressing?.status === 'False' || refused !== undefined,
  detect: detectDeployment,
};

const sets = (kind: SetView['kind']): Watcher<SetView> => ({
  kind,
  view: viewSet(kind),
  matters: ({ pods, desired }) => pods < desired,
  detect: detectSet,
});

const jobs: Watcher<JobView> = {
  kind: 'Job',
  view: viewJob,
  matters: ({ failed }) => failed !== undefined,
  detect: detectJob,
};

const claims: Watcher<ClaimView> = {
  kind: 'PersistentVolumeClaim',
  view: viewClaim,
  matters: ({ phase }) => phase !== 'Bound',
  detect: (claim, _nowMs, around) => detectClaim(claim, around.classOf(claim.storageClass)),
  cache: (caches) => caches.claims,
};

const autoscalers: Watcher<AutoscalerView> = {
  kind: 'HorizontalPodAutoscaler',
  view: viewAutoscaler,
  matters: ({ ableToScale, scalingActive }) => ableToScale?.status === 'False' || scalingActive?.status === 'False',
  detect: detectAutoscaler,
};

const nodes: Watcher<NodeView> = {
  kind: 'Node',
  view: viewNode,
  matters: (node) => nodeTroubles(node).length > 0,
  detect: detectNode,
  cache: (caches) => caches.nodes,
  echo: (down, around) => down.flatMap(({ name }) => around.podsOn(name).map((pod) => downWithItsNode(pod, name))),
};

/** Claims are judged by them. */
const storageClasses: Watcher<StorageClassView> = {
  kind: 'StorageClass',
  view: viewStorageClass,
  matters: () => true,
  cache: (caches) => caches.classes,
  echo: (_news, around) =>
    around.waitingClaims().flatMap((claim) => detectClaim(claim, around.classOf(claim.storageClass))),
};

type Use = <V>(watcher: Watcher<V>) => void;

/** One of each for every scope. */
export const namespaced: Readonly<Record<string, (use: Use) => void>> = {
  pods: (use) => use(pods),
  deployments: (use) => use(deployments),
  statefulsets: (use) => use(sets('StatefulSet')),
  daemonsets: (use) => use(sets('DaemonSet')),
  jobs: (use) => use(jobs),
  claims: (use) => use(claims),
  autoscalers: (use) => use(autoscalers),
};

/** The cluster's own: with rights in a few namespaces only they cannot be seen. */
export const clusterWide: Readonly<Record<string, (use: Use) => void>> = {
  nodes: (use) => use(nodes),
  storageclasses: (use) => use(storageClasses),
};
