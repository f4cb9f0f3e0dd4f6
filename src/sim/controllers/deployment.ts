import { isNotFound } from '../../kube/api.ts';
import { controllerOf } from '../../kube/raw.ts';
import type { Outcome } from '../../lib/queue.ts';
import { createLoop, keyOf, type SimControllerDeps } from '../common/controller-runtime.ts';
import { createEventRecorder, refTo } from '../common/event-recorder.ts';
import { ownedBy, podSelector } from '../common/pod-facts.ts';
import type { DeploymentObject, ReplicaSetObject } from '../common/shapes.ts';
import { conditionOf, refOf, writeStatus } from '../common/status-writing.ts';
import {
  annotationsToAdd,
  newReplicaSet,
  outdated,
  revisionAnnotation,
  sizeAnnotations,
  sorted,
} from './deployment-revisions.ts';
import {
  countedStatus,
  deadlineMsOf,
  isComplete,
  rolloutStatus,
  setUpdated,
  timesOutAtMs,
} from './deployment-status.ts';
import {
  isRolling,
  recreateStep,
  type ReplicaSizes,
  rollingStep,
  scaleStep,
  sizeOf,
  sum,
  wasScaled,
} from './replica-sizes.ts';

/** The controller of Deployments keeps one ReplicaSet per template and moves pods from the old ones to the newest. */
export function runDeployments(deps: SimControllerDeps): void {
  const { api, clock, informers } = deps;
  const recorder = createEventRecorder({ ...deps, component: 'deployment-controller' });
  const loop = createLoop(deps, 'deployment-controller', sync);
  informers.on('Deployment', (deployment) => loop.add(keyOf(deployment)));
  informers.on('ReplicaSet', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'Deployment') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const read = await api.get<DeploymentObject>({ kind: 'Deployment', namespace, name });
    if (!read) return undefined;
    const all = await api.list<ReplicaSetObject>('ReplicaSet', namespace, podSelector(read.spec?.selector));
    const { fresh, old } = sorted(read, all.filter(ownedBy(read.metadata.uid)));
    if (read.metadata.deletionTimestamp) {
      await writeStatus(api, 'Deployment', read, countedStatus(read, fresh, old, clock.now()));
      return undefined;
    }
    const deployment = withPauseNoted(read, clock.now());
    if (fresh) await keepRevision(deployment, fresh, old);
    const isScaling = deployment.spec?.paused === true || wasScaled(deployment, fresh ? [...old, fresh] : old);
    const after = await (isScaling ? scale : rollOut)(deployment, fresh, old);
    const statusOf = isScaling ? countedStatus : rolloutStatus;
    const status = statusOf(after.deployment, after.fresh, after.old, clock.now());
    await writeStatus(api, 'Deployment', read, status);
    const timesOutMs = timesOutAtMs(deployment, status);
    return timesOutMs === undefined ? undefined : { againInMs: Math.max(timesOutMs - clock.now(), 0) + 1000 };
  }

  interface Step {
    deployment: DeploymentObject;
    fresh: ReplicaSetObject | undefined;
    old: ReplicaSetObject[];
  }

  async function scale(deployment: DeploymentObject, fresh: Step['fresh'], old: Step['old']): Promise<Step> {
    return { deployment, ...(await resize(deployment, fresh, old, scaleStep(deployment, fresh, old))) };
  }

  async function rollOut(deployment: DeploymentObject, fresh: Step['fresh'], old: Step['old']): Promise<Step> {
    if (isRolling(deployment)) {
      if (!fresh) return create(deployment, old);
      return { deployment, ...(await resize(deployment, fresh, old, rollingStep(deployment, fresh, old), true)) };
    }
    const oldPods = sum(old, ({ status }) => (status?.replicas ?? 0) + (status?.terminatingReplicas ?? 0));
    const isClear = oldPods === 0 && old.every((set) => sizeOf(set) === 0);
    if (!fresh && isClear) return create(deployment, old);
    const sizes = recreateStep(deployment, fresh, old, oldPods > 0);
    return { deployment, ...(await resize(deployment, fresh, old, sizes, true)) };
  }

  async function create(deployment: DeploymentObject, old: ReplicaSetObject[]): Promise<Step> {
    const { namespace } = deployment.metadata;
    const body = newReplicaSet(deployment, old);
    const fresh = await api.create<ReplicaSetObject>({ kind: 'ReplicaSet', namespace }, body);
    const { name } = fresh.metadata;
    if (sizeOf(fresh) > 0) recordScaling(deployment, `Scaled up replica set ${name} from 0 to ${sizeOf(fresh)}`);
    await noteRevision(deployment, fresh);
    if (deadlineMsOf(deployment) === undefined) return { deployment, fresh, old };
    const message = `Created new replica set "${name}"`;
    const created = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetCreated', message } as const;
    const conditions = setUpdated(deployment.status?.conditions, created, clock.now());
    return { deployment: { ...deployment, status: { ...deployment.status, conditions } }, fresh, old };
  }

  /** Writes the new sizes. Deletes old revisions when the rollout is complete and no size changes. */
  async function resize(
    deployment: DeploymentObject,
    fresh: Step['fresh'],
    old: Step['old'],
    sizes: ReplicaSizes,
    mayCleanUp = false,
  ): Promise<Pick<Step, 'fresh' | 'old'>> {
    const isDone = mayCleanUp && Object.keys(sizes).length === 0 && isComplete(deployment, deployment.status ?? {});
    if (isDone) for (const set of outdated(deployment, old)) await remove(set);
    const sized = (set: ReplicaSetObject): Promise<ReplicaSetObject> => resizeOne(deployment, set, sizes);
    return { fresh: fresh && (await sized(fresh)), old: await Promise.all(old.map(sized)) };
  }

  async function resizeOne(deployment: DeploymentObject, set: ReplicaSetObject, sizes: ReplicaSizes) {
    const { name, annotations = {} } = set.metadata;
    const to = sizes[name];
    if (to === undefined) return set;
    const wanted = sizeAnnotations(deployment);
    if (to === sizeOf(set) && Object.entries(wanted).every(([key, value]) => annotations[key] === value)) return set;
    await api.patch(refOf('ReplicaSet', set), 'merge', { metadata: { annotations: wanted }, spec: { replicas: to } });
    const direction = to > sizeOf(set) ? 'up' : 'down';
    if (to !== sizeOf(set))
      recordScaling(deployment, `Scaled ${direction} replica set ${name} from ${sizeOf(set)} to ${to}`);
    return { ...set, spec: { ...set.spec, replicas: to } };
  }

  async function remove(set: ReplicaSetObject): Promise<void> {
    try {
      await api.delete(refOf('ReplicaSet', set), { uid: set.metadata.uid });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  async function keepRevision(deployment: DeploymentObject, fresh: ReplicaSetObject, old: Step['old']): Promise<void> {
    const annotations = annotationsToAdd(deployment, fresh, old);
    if (Object.keys(annotations).length > 0) {
      await api.patch(refOf('ReplicaSet', fresh), 'merge', { metadata: { annotations } });
      fresh.metadata.annotations = { ...fresh.metadata.annotations, ...annotations };
    }
    await noteRevision(deployment, fresh);
  }

  async function noteRevision(deployment: DeploymentObject, fresh: ReplicaSetObject): Promise<void> {
    const revision = fresh.metadata.annotations?.[revisionAnnotation] ?? '';
    if (deployment.metadata.annotations?.[revisionAnnotation] === revision) return;
    // The real controller also writes it with the status, because an annotation alone would be a new generation.
    const annotations = { [revisionAnnotation]: revision };
    await api.patch(refOf('Deployment', deployment, 'status'), 'merge', { metadata: { annotations } });
  }

  const recordScaling = (deployment: DeploymentObject, message: string): void =>
    recorder.event(refTo(deployment), 'Normal', 'ScalingReplicaSet', message);
}

/** A paused Deployment has no progress deadline; the deadline counts from the time it is resumed. */
function withPauseNoted(deployment: DeploymentObject, nowMs: number): DeploymentObject {
  const { status } = deployment;
  const reason = conditionOf(status?.conditions, 'Progressing')?.reason;
  const [isPaused, wasPaused] = [deployment.spec?.paused === true, reason === 'DeploymentPaused'];
  if (deadlineMsOf(deployment) === undefined || reason === 'ProgressDeadlineExceeded' || isPaused === wasPaused)
    return deployment;
  const note = isPaused ? ['DeploymentPaused', 'Deployment is paused'] : ['DeploymentResumed', 'Deployment is resumed'];
  const condition = { type: 'Progressing', status: 'Unknown', reason: note[0]!, message: note[1]! } as const;
  return { ...deployment, status: { ...status, conditions: setUpdated(status?.conditions, condition, nowMs) } };
}
