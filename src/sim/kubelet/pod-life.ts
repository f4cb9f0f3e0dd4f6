import { hashOf } from '../../lib/hash.ts';
import type { Container, ContainerStatus, PodObject, Terminated } from '../common/shapes.ts';
import { millis } from '../common/status-writing.ts';
import { annotatedBehaviour, type Behaviour, isPodTrouble, type KubeletTiming, type PodTrouble } from './behaviour.ts';
import {
  type ContainerContext,
  type ContainerEnd,
  type ContainerLife,
  isRestarted,
  type KubeletNote,
  live,
  startAt,
  unborn,
  wakeAtMs,
} from './container-life.ts';

/** Behaviour set in code, for instance by image. The pod's annotation takes precedence. Undefined means that the container just runs. */
export type Behaviours = (pod: PodObject, container: Container) => Behaviour | undefined;

/** One pod on a simulated node. */
export interface PodLife {
  arrivedMs: number;
  /** When it got its sandbox, and with it an address. */
  sandboxMs?: number;
  /** When the next attempt to create the sandbox is due. */
  sandboxAtMs?: number;
  tries: number;
  inits: ContainerLife[];
  containers: ContainerLife[];
  evictAtMs?: number;
  evicted?: { message: string };
  /** When a pod that is being deleted will have stopped. */
  stoppedAtMs?: number;
  isStopped: boolean;
}

export interface PodNote extends KubeletNote {
  /** The container that the event is about; undefined for the pod. */
  fieldPath?: string;
}

interface KubeletSettings {
  timing: KubeletTiming;
  behaviours?: Behaviours | undefined;
}

export function arrive({ spec }: PodObject, { timing }: KubeletSettings, nowMs: number): PodLife {
  const { containers = [], initContainers = [] } = spec ?? {};
  const first = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const all = (list: readonly Container[], reason: string): ContainerLife[] =>
    list.map(({ name, image = '' }) => unborn(name, image, reason));
  return {
    arrivedMs: nowMs,
    sandboxAtMs: nowMs + timing.startMs,
    tries: 0,
    inits: all(initContainers, 'PodInitializing'),
    containers: all(containers, first),
    isStopped: false,
  };
}

const behaviourOf = (pod: PodObject, container: Container, { behaviours }: KubeletSettings): Behaviour | undefined =>
  annotatedBehaviour(pod, container) ?? behaviours?.(pod, container);

function troubleOf(pod: PodObject, settings: KubeletSettings): PodTrouble | undefined {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  return [...containers, ...initContainers]
    .map((container) => behaviourOf(pod, container, settings) ?? { do: 'run' as const })
    .find(isPodTrouble);
}

const podName = ({ metadata: { name, namespace, uid } }: PodObject): string => `${name}_${namespace}(${uid})`;

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

const restartPolicyOf = ({ spec }: PodObject): string => spec?.restartPolicy ?? 'Always';

function surroundings(
  pod: PodObject,
  container: Container,
  isInit: boolean,
  settings: KubeletSettings,
): ContainerContext {
  const runsOn = !isInit || isSidecar(container);
  const { readinessProbe } = container;
  const policy = restartPolicyOf(pod);
  return {
    behaviour:
      behaviourOf(pod, container, settings) ?? (runsOn ? { do: 'run' } : { do: 'exit', code: 0, afterMs: 500 }),
    restartPolicy: runsOn ? (isInit ? 'Always' : policy) : policy === 'Never' ? 'Never' : 'OnFailure',
    timing: settings.timing,
    pod: podName(pod),
    probe: readinessProbe && {
      delayMs: Math.max(readinessProbe.initialDelaySeconds ?? 0, 1) * 1000,
      periodMs: (readinessProbe.periodSeconds ?? 10) * 1000,
    },
  };
}

/** An init container is done when it ended with 0, a sidecar when it runs. */
const isDone = ({ state }: ContainerLife, container: Container): boolean =>
  isSidecar(container) ? state.is === 'running' : state.is === 'ended' && state.how.exitCode === 0;

export const isInitialized = ({ inits }: PodLife, { spec }: PodObject): boolean =>
  inits.every((life, index) => isDone(life, spec!.initContainers![index]!));

/** Advances a pod until now. Returns its new state, the events to record and the time of the next step. Pure. */
export function livePod(before: PodLife, pod: PodObject, settings: KubeletSettings, nowMs: number) {
  const notes: PodNote[] = [];
  let life = pod.metadata.deletionTimestamp ? stop(before, pod, settings, nowMs, notes) : before;
  if (life.stoppedAtMs === undefined && !life.evicted) life = carryOn(life, pod, settings, nowMs, notes);
  return { life, notes, wakeAtMs: nextMs(life) };
}

function nextMs({ stoppedAtMs, isStopped, evicted, sandboxAtMs, evictAtMs, inits, containers }: PodLife): number {
  if (isStopped || (evicted && stoppedAtMs === undefined)) return Number.POSITIVE_INFINITY;
  if (stoppedAtMs !== undefined) return stoppedAtMs;
  const others = [sandboxAtMs, evictAtMs].filter((ms) => ms !== undefined);
  return Math.min(Number.POSITIVE_INFINITY, ...others, ...[...inits, ...containers].map(wakeAtMs));
}

function carryOn(before: PodLife, pod: PodObject, settings: KubeletSettings, nowMs: number, notes: PodNote[]): PodLife {
  let life = trySandbox(before, pod, settings, nowMs, notes);
  if (life.evictAtMs !== undefined && life.evictAtMs <= nowMs) return evict(life, pod, nowMs, notes);
  if (life.sandboxMs === undefined) return life;
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const inits = liveAll(life.inits, initContainers, true);
  life = { ...life, inits };
  const next = inits.findIndex((init, index) => !isDone(init, initContainers[index]!));
  if (next >= 0 && isUnstarted(inits[next]!)) return carryOn(started('inits', next), pod, settings, nowMs, notes);
  if (next < 0 && life.containers.every(isUnstarted)) life = started('containers');
  return { ...life, containers: liveAll(life.containers, containers, false) };

  function liveAll(lives: readonly ContainerLife[], specs: readonly Container[], isInit: boolean): ContainerLife[] {
    return lives.map((one, index) => {
      const around = surroundings(pod, specs[index]!, isInit, settings);
      const lived = live(one, around, nowMs);
      const fieldPath = `spec.${isInit ? 'initContainers' : 'containers'}{${one.name}}`;
      notes.push(...lived.notes.map((note) => ({ ...note, fieldPath })));
      return lived.life;
    });
  }
  function started(which: 'inits' | 'containers', only?: number): PodLife {
    const begun = life[which].map((one, index) => (only === undefined || only === index ? startAt(one, nowMs) : one));
    return { ...life, [which]: begun };
  }
}

const isUnstarted = ({ runs, agenda, state }: ContainerLife): boolean =>
  runs === 0 &&
  agenda.length === 0 &&
  state.is === 'waiting' &&
  /^(PodInitializing|ContainerCreating)$/.test(state.reason);

function trySandbox(
  life: PodLife,
  pod: PodObject,
  settings: KubeletSettings,
  nowMs: number,
  notes: PodNote[],
): PodLife {
  if (life.sandboxAtMs === undefined || life.sandboxAtMs > nowMs) return life;
  const trouble = troubleOf(pod, settings);
  const { sandboxAtMs: _, ...rest } = life;
  const again = (afterMs: number): PodLife => ({ ...rest, sandboxAtMs: nowMs + afterMs, tries: life.tries + 1 });
  switch (trouble?.do) {
    case 'hang':
      return rest;
    case 'sandbox':
      notes.push(sandboxNote(pod, life.tries));
      return again(settings.timing.resyncMs);
    case 'volume':
      notes.push(volumeNote(pod, trouble.secret));
      return again(Math.min(500 * 2 ** life.tries, 122_000));
    case 'evicted':
      return { ...rest, sandboxMs: nowMs, evictAtMs: nowMs + trouble.afterMs };
    default:
      return { ...rest, sandboxMs: nowMs };
  }
}

function evict(life: PodLife, pod: PodObject, nowMs: number, notes: PodNote[]): PodLife {
  const note = evictionNote(pod);
  notes.push(note);
  return {
    ...life,
    evicted: { message: note.message },
    containers: life.containers.map((one) => kill(one, nowMs, 137)),
  };
}

/** Ends a container from outside. */
function kill(life: ContainerLife, nowMs: number, exitCode: number): ContainerLife {
  if (life.state.is !== 'running') return { ...life, agenda: [] };
  const how = { exitCode, startedAtMs: life.state.sinceMs, finishedAtMs: nowMs, run: life.runs };
  return {
    ...life,
    agenda: [],
    state: { is: 'ended', how: { ...how, reason: exitCode === 0 ? 'Completed' : 'Error' } },
  };
}

function stop(
  life: PodLife,
  { metadata }: PodObject,
  { timing }: KubeletSettings,
  nowMs: number,
  notes: PodNote[],
): PodLife {
  const running = [...life.inits, ...life.containers].filter(({ state }) => state.is === 'running');
  if (life.stoppedAtMs === undefined) {
    const graceMs = ((metadata as { deletionGracePeriodSeconds?: number }).deletionGracePeriodSeconds ?? 30) * 1000;
    for (const { name } of running)
      notes.push({
        type: 'Normal',
        reason: 'Killing',
        message: `Stopping container ${name}`,
        fieldPath: `spec.containers{${name}}`,
      });
    return stopped({ ...life, stoppedAtMs: nowMs + (running.length > 0 ? Math.min(timing.stopMs, graceMs) : 0) });
  }
  return stopped(life);

  function stopped(stopping: PodLife): PodLife {
    if (stopping.stoppedAtMs! > nowMs) return stopping;
    const all = (lives: readonly ContainerLife[]): ContainerLife[] => lives.map((one) => kill(one, nowMs, 0));
    return { ...stopping, inits: all(stopping.inits), containers: all(stopping.containers), isStopped: true };
  }
}

/** A pod is Succeeded or Failed when none of its containers will run again. */
export function phaseOf(life: PodLife, pod: PodObject): 'Pending' | 'Running' | 'Succeeded' | 'Failed' {
  if (life.evicted) return 'Failed';
  const policy = restartPolicyOf(pod);
  const failedInit = life.inits.some(
    ({ state }) => state.is === 'ended' && state.how.exitCode !== 0 && policy === 'Never',
  );
  if (failedInit) return 'Failed';
  if (!isInitialized(life, pod) && !life.isStopped) return 'Pending';
  if (life.containers.some(({ state, runs }) => state.is === 'waiting' && runs === 0)) return 'Pending';
  const ends = life.containers.flatMap(({ state }) => (state.is === 'ended' ? [state.how] : []));
  const isOver =
    ends.length === life.containers.length && !ends.some((how) => isRestarted(how, { restartPolicy: policy }));
  if (!isOver) return 'Running';
  return ends.every(({ exitCode }) => exitCode === 0) ? 'Succeeded' : 'Failed';
}

/** Each attempt has its own sandbox id, so the messages differ. */
const sandboxNote = ({ metadata }: PodObject, tries: number): PodNote => {
  const id = hashOf([metadata.uid, 'sandbox', tries]);
  const why = 'failed to find plugin "ptp" in path [/opt/cni/bin]';
  const error = `failed to setup network for sandbox "${id}": plugin type="ptp" failed (add): ${why}`;
  return {
    type: 'Warning',
    reason: 'FailedCreatePodSandBox',
    message: `Failed to create pod sandbox: rpc error: code = Unknown desc = ${error}`,
  };
};

const volumeNote = ({ spec }: PodObject, secret: string): PodNote => {
  const volume = spec?.volumes?.[0]?.name ?? 'data';
  return {
    type: 'Warning',
    reason: 'FailedMount',
    message: `MountVolume.SetUp failed for volume "${volume}" : secret "${secret}" not found`,
  };
};

const evictionNote = ({ spec }: PodObject): PodNote => {
  const { name = 'app', resources } = spec?.containers?.[0] ?? {};
  const request = resources?.requests?.['memory'] ?? '0';
  const low = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 52784Ki. ';
  const who = `Container ${name} was using 412344Ki, request is ${request}, has larger consumption of memory. `;
  return { type: 'Warning', reason: 'Evicted', message: low + who };
};

/** Takes over a pod that existed before this kubelet started: running containers go on, the others are tried again, and restart counts are kept. */
export function adopt(pod: PodObject, settings: KubeletSettings, nowMs: number): PodLife {
  const fresh = arrive(pod, settings, nowMs);
  const { startTime, containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  if (!startTime || !containerStatuses.some(({ containerID }) => containerID)) return fresh;
  const { sandboxAtMs: _, ...settled } = fresh;
  const resumed = (lives: readonly ContainerLife[], statuses: readonly ContainerStatus[]): ContainerLife[] =>
    lives.map((life) =>
      resume(
        life,
        statuses.find(({ name }) => name === life.name),
        nowMs,
      ),
    );
  return {
    ...settled,
    arrivedMs: millis(startTime),
    sandboxMs: nowMs,
    inits: resumed(fresh.inits, initContainerStatuses),
    containers: resumed(fresh.containers, containerStatuses),
  };
}

function resume(life: ContainerLife, status: ContainerStatus | undefined, nowMs: number): ContainerLife {
  if (!status?.containerID) return life;
  const { state, lastState, restartCount, ready } = status;
  const runs = restartCount + 1;
  const last = lastState.terminated && endOf(lastState.terminated, runs - 1);
  const before: ContainerLife = { ...life, restarts: restartCount, runs, ...(last && { last }) };
  if (state.running) {
    const running = { is: 'running', sinceMs: millis(state.running.startedAt), ready } as const;
    return { ...before, state: running, agenda: [{ what: 'resume', atMs: nowMs }] };
  }
  if (!state.terminated) return startAt(before, nowMs);
  const ended: ContainerLife = { ...before, state: { is: 'ended', how: endOf(state.terminated, runs) } };
  return { ...ended, agenda: [{ what: 'decide', atMs: nowMs }] };
}

const endOf = ({ exitCode, reason, startedAt, finishedAt }: Terminated, run: number): ContainerEnd => ({
  exitCode,
  reason,
  startedAtMs: millis(startedAt),
  finishedAtMs: millis(finishedAt),
  run,
});
