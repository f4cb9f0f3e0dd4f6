import type { KubeObject, OwnerReference } from './api.ts';
import {
  arr,
  beginning,
  conditionIn,
  type ConditionView,
  controllerOf,
  identityIn,
  num,
  obj,
  type Raw,
  specIn,
  statusIn,
  str,
  timeMs,
} from './raw.ts';

export interface ContainerView {
  name: string;
  ready: boolean;
  restarts: number;
  waiting?: string; // reason
  waitingMessage?: string;
  runningSinceMs?: number;
  /** It has ended and is not (yet) started again. */
  isDown: boolean;
  /** It runs once, before the others; a sidecar does not. */
  isInit?: boolean;
  /** Its startup probe has not succeeded yet. */
  isStarting?: boolean;
  /** The last time it ended. */
  ended?: { reason: string; exitCode: number; uptimeMs: number; finishedAtMs: number };
  /** Why it ended the time before; known only while it is down. */
  endedBefore?: string;
}

export interface PodView {
  namespace: string;
  name: string;
  uid: string;
  phase: string;
  deleting: boolean;
  ready: boolean;
  readySinceMs?: number;
  unreadySinceMs?: number;
  owner?: OwnerReference;
  containers: ContainerView[];
  node?: string;
  /** Why the whole pod is as it is: Evicted... */
  reason?: string;
  message?: string;
  /** The scheduler has found no place for it. */
  unscheduled?: ConditionView;
  /** Its network and volumes are there: what it waits for now is an image or a container. */
  hasSandbox?: boolean;
  /** PersistentVolumeClaims that it mounts. */
  claims?: string[];
}

function viewContainer(raw: Raw, isInit: boolean): ContainerView {
  const state = obj(raw['state']);
  const waiting = obj(state['waiting']);
  const running = obj(state['running']);
  const before = obj(obj(raw['lastState'])['terminated']);
  const ended = state['terminated'] ? obj(state['terminated']) : before;
  const view: ContainerView = {
    name: str(raw['name']),
    ready: raw['ready'] === true,
    restarts: num(raw['restartCount']),
    isDown: Boolean(state['terminated']),
  };
  if (isInit) view.isInit = true;
  if (raw['started'] === false) view.isStarting = true;
  if (state['waiting']) view.waiting = beginning(waiting['reason'], 128);
  if (str(waiting['message'])) view.waitingMessage = beginning(waiting['message'], 1024);
  if (state['running']) view.runningSinceMs = timeMs(running['startedAt']);
  if (ended['finishedAt']) {
    const finishedAtMs = timeMs(ended['finishedAt']);
    const uptimeMs = Math.max(finishedAtMs - timeMs(ended['startedAt']), 0);
    view.ended = { reason: beginning(ended['reason'], 128), exitCode: num(ended['exitCode']), uptimeMs, finishedAtMs };
  }
  if (view.isDown && before['finishedAt']) view.endedBefore = beginning(before['reason'], 128);
  return view;
}

/** Sidecars stand among the init containers, and are restarted like any other: they run as long as the pod does. */
function viewContainers(spec: Raw, status: Raw): ContainerView[] {
  const sidecars = new Set(
    arr(spec['initContainers'])
      .filter((container) => container['restartPolicy'] === 'Always')
      .map((container) => container['name']),
  );
  return [
    ...arr(status['initContainerStatuses']).map((raw) => viewContainer(raw, !sidecars.has(raw['name']))),
    ...arr(status['containerStatuses']).map((raw) => viewContainer(raw, false)),
  ];
}

/** An ephemeral volume's claim is named after the pod and the volume. */
const claimsIn = (pod: string, spec: Raw): string[] =>
  arr(spec['volumes']).flatMap((volume) => {
    const own = volume['ephemeral'] ? `${pod}-${str(volume['name'])}` : '';
    return str(obj(volume['persistentVolumeClaim'])['claimName']) || own || [];
  });

export function viewPod(object: KubeObject): PodView | undefined {
  const who = identityIn(object);
  if (!who) return undefined;
  const [spec, status] = [specIn(object), statusIn(object)];
  const ready = conditionIn(object, 'Ready');
  const scheduled = conditionIn(object, 'PodScheduled');
  const sandbox = conditionIn(object, 'PodReadyToStartContainers');
  const view: PodView = {
    ...who,
    phase: str(status['phase']),
    ready: ready?.status === 'True',
    containers: viewContainers(spec, status),
  };
  const owner = controllerOf(object.metadata);
  const claims = claimsIn(who.name, spec);
  if (owner) view.owner = owner;
  if (view.ready) view.readySinceMs = ready!.sinceMs;
  else if (ready) view.unreadySinceMs = ready.sinceMs;
  if (str(spec['nodeName'])) view.node = str(spec['nodeName']);
  if (str(status['reason'])) view.reason = beginning(status['reason'], 128);
  if (str(status['message'])) view.message = beginning(status['message'], 1024);
  if (scheduled?.status === 'False') view.unscheduled = scheduled;
  if (sandbox) view.hasSandbox = sandbox.status === 'True';
  if (claims.length > 0) view.claims = claims;
  return view;
}
