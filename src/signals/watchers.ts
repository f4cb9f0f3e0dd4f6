import { nodeTroubles } from '../health/cluster.ts';
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
import type { Cache, createSurroundings, Surroundings } from './surroundings.ts';

type Caches = ReturnType<typeof createSurroundings>['caches'];

/** How signals are made from one kind of object. */
export interface Watcher<V> {
  kind: Kind;
  view(object: KubeObject): V | undefined;
  /** Whether the object can matter. All others are forgotten at once, so a healthy cluster needs no memory. */
  matters(view: V): boolean;
  /** Absent: an object of this kind is never a failure itself. */
  detect?(view: V, nowMs: number, around: Surroundings): Signal[];
  /** The cache that holds it for the other watches. */
  cache?(caches: Caches): Cache<V>;
  /** Signals about other objects seen before that follow from this news (or, when empty, from a deletion). */
  echo?(news: readonly V[], around: Surroundings): Signal[];
}

const pods: Watcher<PodView> = {
  kind: 'Pod',
  view: viewPod,
  // A container that was killed for memory may be running and ready again before anything is posted.
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

/** Claims are judged by their StorageClass. */
const storageClasses: Watcher<StorageClassView> = {
  kind: 'StorageClass',
  view: viewStorageClass,
  matters: () => true,
  cache: (caches) => caches.classes,
  echo: (_news, around) =>
    around.waitingClaims().flatMap((claim) => detectClaim(claim, around.classOf(claim.storageClass))),
};

type Use = <V>(watcher: Watcher<V>) => void;

/** Every scope gets one of each. */
export const namespaced: Readonly<Record<string, (use: Use) => void>> = {
  pods: (use) => use(pods),
  deployments: (use) => use(deployments),
  statefulsets: (use) => use(sets('StatefulSet')),
  daemonsets: (use) => use(sets('DaemonSet')),
  jobs: (use) => use(jobs),
  claims: (use) => use(claims),
  autoscalers: (use) => use(autoscalers),
};

/** Cluster-scoped kinds. They cannot be seen with rights in a few namespaces only. */
export const clusterWide: Readonly<Record<string, (use: Use) => void>> = {
  nodes: (use) => use(nodes),
  storageclasses: (use) => use(storageClasses),
};
