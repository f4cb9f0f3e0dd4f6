import { hashOf } from '../../lib/hash.ts';
import type {
  Container,
  ContainerState,
  ContainerStatus,
  PodObject,
  PodStatus,
  StatusCondition,
} from '../common/shapes.ts';
import { conditionOf, stamp } from '../common/status-writing.ts';
import type { ContainerEnd, ContainerLife } from './container-life.ts';
import { isInitialized, phaseOf, type PodLife } from './pod-life.ts';

interface PodAddresses {
  hostIP: string;
  podIP: string;
}

const idOf = ({ metadata }: PodObject, { name }: ContainerLife, run: number): string =>
  `containerd://${hashOf([metadata.uid, name, run])}`;

const terminated = (pod: PodObject, life: ContainerLife, how: ContainerEnd): ContainerState => ({
  terminated: {
    exitCode: how.exitCode,
    reason: how.reason,
    startedAt: stamp(how.startedAtMs),
    finishedAt: stamp(how.finishedAtMs),
    containerID: idOf(pod, life, how.run),
  },
});

function stateOf(pod: PodObject, life: ContainerLife): ContainerState {
  const { state } = life;
  switch (state.is) {
    case 'waiting':
      return { waiting: { reason: state.reason, ...(state.message !== undefined && { message: state.message }) } };
    case 'running':
      return { running: { startedAt: stamp(state.sinceMs) } };
    case 'ended':
      return terminated(pod, life, state.how);
  }
}

/** The fields that exist only for a container that was started. */
function known(pod: PodObject, life: ContainerLife, { resources = {} }: Container): object {
  if (life.runs === 0) return {};
  return {
    ...(resources.requests && { allocatedResources: resources.requests }),
    containerID: idOf(pod, life, life.runs),
    resources,
    user: { linux: { gid: 0, supplementalGroups: [0], uid: 0 } },
  };
}

function containerStatus(pod: PodObject, life: ContainerLife, container: Container, isInit: boolean): ContainerStatus {
  const { state } = life;
  const isReady = state.is === 'running' && state.ready;
  const isDone = isInit && state.is === 'ended' && state.how.exitCode === 0;
  return {
    ...known(pod, life, container),
    image: life.image,
    imageID: life.runs > 0 ? `sha256:${hashOf(life.image)}` : '',
    lastState: life.last ? terminated(pod, life, life.last) : {},
    name: life.name,
    ready: isReady || isDone,
    restartCount: life.restarts,
    started: state.is === 'running',
    state: stateOf(pod, life),
  };
}

/** The whole status that kubelet writes. `before` is the previous status: a condition that does not change keeps its time. */
export function statusOf(
  life: PodLife,
  pod: PodObject,
  place: PodAddresses,
  before: PodStatus,
  nowMs: number,
): PodStatus {
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const phase = phaseOf(life, pod);
  const statuses = life.containers.map((one, index) => containerStatus(pod, one, containers[index]!, false));
  const inits = life.inits.map((one, index) => containerStatus(pod, one, initContainers[index]!, true));
  const hasAddress = life.sandboxMs !== undefined;
  const only = containers.length === 1 ? containers[0]!.resources : undefined;
  return {
    ...(only?.requests && hasAddress && { allocatedResources: only.requests }),
    conditions: conditionsOf(life, pod, phase, statuses, before.conditions, nowMs),
    containerStatuses: statuses,
    ...(inits.length > 0 && { initContainerStatuses: inits }),
    hostIP: place.hostIP,
    hostIPs: [{ ip: place.hostIP }],
    ...(life.evicted && { reason: 'Evicted', message: life.evicted.message }),
    observedGeneration: pod.metadata.generation ?? 1,
    phase,
    ...(hasAddress && { podIP: place.podIP, podIPs: [{ ip: place.podIP }] }),
    resources: only ?? {},
    startTime: stamp(life.arrivedMs),
  };
}

type ConditionState = Pick<StatusCondition, 'status' | 'reason' | 'message'>;

const yes: ConditionState = { status: 'True' };
const no = (reason?: string, message?: string): ConditionState => ({
  status: 'False',
  ...(reason && { reason }),
  ...(message && { message }),
});

function conditionsOf(
  life: PodLife,
  pod: PodObject,
  phase: string,
  statuses: readonly ContainerStatus[],
  before: readonly StatusCondition[] | undefined,
  nowMs: number,
): StatusCondition[] {
  const unready = statuses.filter(({ ready }) => !ready).map(({ name }) => name);
  const isOver = phase === 'Failed' || phase === 'Succeeded';
  const ended = no(phase === 'Failed' ? 'PodFailed' : 'PodCompleted');
  const notAll = no('ContainersNotReady', `containers with unready status: [${unready.join(' ')}]`);
  const ready = isOver ? ended : unready.length > 0 ? notAll : yes;
  const waiting = life.inits.filter(({ state }) => !(state.is === 'ended' && state.how.exitCode === 0));
  const missing = `containers with incomplete status: [${waiting.map(({ name }) => name).join(' ')}]`;
  const initialized = isInitialized(life, pod) ? yes : no('ContainersNotInitialized', missing);
  const own: Record<string, ConditionState> = {
    PodReadyToStartContainers: life.sandboxMs !== undefined && !isOver && !life.isStopped ? yes : no(),
    Initialized: phase === 'Succeeded' ? { ...yes, reason: 'PodCompleted' } : initialized,
    Ready: ready,
    ContainersReady: ready,
    PodScheduled: yes,
  };
  const conditions = Object.entries(own).map(([type, next]) => {
    const was = conditionOf(before, type);
    const since = was?.status === next.status ? was.lastTransitionTime : undefined;
    return {
      type,
      ...next,
      lastProbeTime: null,
      lastTransitionTime: since ?? stamp(nowMs),
      observedGeneration: pod.metadata.generation ?? 1,
    };
  });
  const others = (pod.status?.conditions ?? []).filter(({ type }) => !Object.hasOwn(own, type));
  return [...conditions, ...others];
}
