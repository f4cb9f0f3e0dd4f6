import type { Container, PodObject } from '../common/shapes.ts';
import { annotatedBehaviour, type Behaviour, isPodTrouble, type PodTrouble } from './behaviour.ts';
import { isRestarted, type Life, live, type Note, startAt, type Surroundings, unborn, wakeAtMs } from './container.ts';
import { evictionNote, sandboxNote, volumeNote } from './trouble.ts';
import type { Timing } from './timing.ts';

/** In code, for instance by image; what a pod's annotation says goes first. undefined: it just runs. */
export type Behaviours = (pod: PodObject, container: Container) => Behaviour | undefined;

/** One pod on a pretended node. */
export interface PodLife {
  arrivedMs: number;
  /** Since it has a sandbox, and with it an address. */
  sandboxMs?: number;
  /** When that is tried (again). */
  sandboxAtMs?: number;
  tries: number;
  inits: Life[];
  containers: Life[];
  evictAtMs?: number;
  evicted?: { message: string };
  /** It was told to stop, and will have by then. */
  stoppedAtMs?: number;
  isStopped: boolean;
}

export interface PodNote extends Note {
  /** The container it is about; none: the pod. */
  fieldPath?: string;
}

export interface World {
  timing: Timing;
  behaviours?: Behaviours | undefined;
}

export function arrive({ spec }: PodObject, { timing }: World, nowMs: number): PodLife {
  const { containers = [], initContainers = [] } = spec ?? {};
  const first = initContainers.length > 0 ? 'PodInitializing' : 'ContainerCreating';
  const all = (list: readonly Container[], reason: string): Life[] =>
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

const behaviourOf = (pod: PodObject, container: Container, { behaviours }: World): Behaviour | undefined =>
  annotatedBehaviour(pod, container) ?? behaviours?.(pod, container);

function troubleOf(pod: PodObject, world: World): PodTrouble | undefined {
  const { containers = [], initContainers = [] } = pod.spec ?? {};
  return [...containers, ...initContainers]
    .map((container) => behaviourOf(pod, container, world) ?? { do: 'run' as const })
    .find(isPodTrouble);
}

const podName = ({ metadata: { name, namespace, uid } }: PodObject): string => `${name}_${namespace}(${uid})`;

const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

export const restartPolicyOf = ({ spec }: PodObject): string => spec?.restartPolicy ?? 'Always';

function surroundings(pod: PodObject, container: Container, isInit: boolean, world: World): Surroundings {
  const runsOn = !isInit || isSidecar(container);
  const { readinessProbe } = container;
  const policy = restartPolicyOf(pod);
  return {
    behaviour: behaviourOf(pod, container, world) ?? (runsOn ? { do: 'run' } : { do: 'exit', code: 0, afterMs: 500 }),
    restartPolicy: runsOn ? (isInit ? 'Always' : policy) : policy === 'Never' ? 'Never' : 'OnFailure',
    timing: world.timing,
    pod: podName(pod),
    probe: readinessProbe && {
      delayMs: Math.max(readinessProbe.initialDelaySeconds ?? 0, 1) * 1000,
      periodMs: (readinessProbe.periodSeconds ?? 10) * 1000,
    },
  };
}

/** An init container is done when it ended well; a sidecar when it runs. */
const isDone = ({ state }: Life, container: Container): boolean =>
  isSidecar(container) ? state.is === 'running' : state.is === 'ended' && state.how.exitCode === 0;

export const isInitialized = ({ inits }: PodLife, { spec }: PodObject): boolean =>
  inits.every((life, index) => isDone(life, spec!.initContainers![index]!));

/** Pure: what has become of the pod by now, what is to be said about it, and when to look again. */
export function livePod(before: PodLife, pod: PodObject, world: World, nowMs: number) {
  const notes: PodNote[] = [];
  let life = pod.metadata.deletionTimestamp ? stop(before, pod, world, nowMs, notes) : before;
  if (life.stoppedAtMs === undefined && !life.evicted) life = carryOn(life, pod, world, nowMs, notes);
  return { life, notes, wakeAtMs: nextMs(life) };
}

function nextMs({ stoppedAtMs, isStopped, evicted, sandboxAtMs, evictAtMs, inits, containers }: PodLife): number {
  if (isStopped || (evicted && stoppedAtMs === undefined)) return Number.POSITIVE_INFINITY;
  if (stoppedAtMs !== undefined) return stoppedAtMs;
  const others = [sandboxAtMs, evictAtMs].filter((ms) => ms !== undefined);
  return Math.min(Number.POSITIVE_INFINITY, ...others, ...[...inits, ...containers].map(wakeAtMs));
}

function carryOn(before: PodLife, pod: PodObject, world: World, nowMs: number, notes: PodNote[]): PodLife {
  let life = trySandbox(before, pod, world, nowMs, notes);
  if (life.evictAtMs !== undefined && life.evictAtMs <= nowMs) return evict(life, pod, nowMs, notes);
  if (life.sandboxMs === undefined) return life;
  const { initContainers = [], containers = [] } = pod.spec ?? {};
  const inits = liveAll(life.inits, initContainers, true);
  life = { ...life, inits };
  const next = inits.findIndex((init, index) => !isDone(init, initContainers[index]!));
  if (next >= 0 && isUnstarted(inits[next]!)) return carryOn(started('inits', next), pod, world, nowMs, notes);
  if (next < 0 && life.containers.every(isUnstarted)) life = started('containers');
  return { ...life, containers: liveAll(life.containers, containers, false) };

  function liveAll(lives: readonly Life[], specs: readonly Container[], isInit: boolean): Life[] {
    return lives.map((one, index) => {
      const around = surroundings(pod, specs[index]!, isInit, world);
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

const isUnstarted = ({ runs, agenda, state }: Life): boolean =>
  runs === 0 &&
  agenda.length === 0 &&
  state.is === 'waiting' &&
  /^(PodInitializing|ContainerCreating)$/.test(state.reason);

function trySandbox(life: PodLife, pod: PodObject, world: World, nowMs: number, notes: PodNote[]): PodLife {
  if (life.sandboxAtMs === undefined || life.sandboxAtMs > nowMs) return life;
  const trouble = troubleOf(pod, world);
  const { sandboxAtMs: _, ...rest } = life;
  const again = (afterMs: number): PodLife => ({ ...rest, sandboxAtMs: nowMs + afterMs, tries: life.tries + 1 });
  switch (trouble?.do) {
    case 'hang':
      return rest;
    case 'sandbox':
      notes.push(sandboxNote(pod, life.tries));
      return again(world.timing.resyncMs);
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

/** Ended from outside. */
function kill(life: Life, nowMs: number, exitCode: number): Life {
  if (life.state.is !== 'running') return { ...life, agenda: [] };
  const how = { exitCode, startedAtMs: life.state.sinceMs, finishedAtMs: nowMs, run: life.runs };
  return {
    ...life,
    agenda: [],
    state: { is: 'ended', how: { ...how, reason: exitCode === 0 ? 'Completed' : 'Error' } },
  };
}

function stop(life: PodLife, { metadata }: PodObject, { timing }: World, nowMs: number, notes: PodNote[]): PodLife {
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
    const all = (lives: readonly Life[]): Life[] => lives.map((one) => kill(one, nowMs, 0));
    return { ...stopping, inits: all(stopping.inits), containers: all(stopping.containers), isStopped: true };
  }
}

/** Nothing of it will ever run again. */
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
