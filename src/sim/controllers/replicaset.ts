import { controllerOf } from '../../kube/raw.ts';
import type { Outcome } from '../../lib/queue.ts';
import { type ControllerDeps, createLoop, keyOf } from '../common/loop.ts';
import { writeStatus } from '../common/patch.ts';
import { isActive, isDeleting, isFinished, nextAvailableInMs, ownedBy } from '../common/pods.ts';
import { createRecorder } from '../common/recorder.ts';
import type { PodObject, ReplicaSetObject } from '../common/shapes.ts';
import { createPodControl, inSlowStart, isNamespaceGoing, podOf, wordsOf } from './pod-control.ts';
import { replicaSetStatus } from './replicaset-status.ts';
import { sizeOf } from './rollout.ts';
import { selectorText } from './selector.ts';
import { surplusOf } from './surplus.ts';

/** More than this many pods at once nobody creates or deletes. */
const mostAtOnce = 500;

/** ReplicaSets: keeps so many pods of one template. Pods without an owner are not adopted. */
export function runReplicaSets(deps: ControllerDeps): void {
  const { api, clock, lookout } = deps;
  const recorder = createRecorder({ ...deps, component: 'replicaset-controller' });
  const pods = createPodControl(api, recorder);
  const loop = createLoop(deps, 'replicaset-controller', sync);
  lookout.on('ReplicaSet', (set) => loop.add(keyOf(set)));
  lookout.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'ReplicaSet') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const set = await api.get<ReplicaSetObject>({ kind: 'ReplicaSet', namespace, name });
    if (!set) return undefined;
    const all = await api.list<PodObject>('Pod', namespace, selectorText(set.spec?.selector));
    const own = all.filter(ownedBy(set.metadata.uid));
    const active = own.filter(isActive);
    const failure = set.metadata.deletionTimestamp ? undefined : await manage(set, active);
    const terminating = own.filter((pod) => isDeleting(pod) && !isFinished(pod)).length;
    const trouble = failure === undefined ? undefined : wordsOf(failure);
    const nowMs = clock.now();
    await writeStatus(api, 'ReplicaSet', set, replicaSetStatus(set, active, terminating, trouble, nowMs));
    if (failure !== undefined) throw failure;
    const againInMs = nextAvailableInMs(active, set.spec?.minReadySeconds ?? 0, nowMs);
    return againInMs === undefined ? undefined : { againInMs };
  }

  /** Resolves to why it could not; the counts of this pass are those from before it, as in the real one. */
  async function manage(set: ReplicaSetObject, active: readonly PodObject[]): Promise<unknown> {
    const missing = Math.min(sizeOf(set) - active.length, mostAtOnce);
    if (missing > 0) {
      const body = podOf(set, set.spec?.template ?? {}, { generateName: `${set.metadata.name}-` });
      const failure = await inSlowStart(missing, () => pods.create(set, body));
      return isNamespaceGoing(failure) ? undefined : failure;
    }
    const surplus = surplusOf(active, Math.min(-missing, mostAtOnce));
    const results = await Promise.allSettled(surplus.map((pod) => pods.remove(set, pod)));
    return results.find((result) => result.status === 'rejected')?.reason;
  }
}
