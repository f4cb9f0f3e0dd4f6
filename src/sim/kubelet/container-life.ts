import { unreachable } from '../../lib/errors.ts';
import type { Behaviour, KubeletTiming } from './behaviour.ts';

export interface ContainerEnd {
  exitCode: number;
  reason: string;
  startedAtMs: number;
  finishedAtMs: number;
  run: number;
}

/** An event that kubelet records. */
export interface KubeletNote {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

type Step = 'start' | 'resume' | 'ready' | 'probe' | 'end' | 'decide' | 'remind';

/** One container of one pod, over all its restarts. */
export interface ContainerLife {
  name: string;
  image: string;
  restarts: number;
  /** How often it was started. To the runtime, each run is another container. */
  runs: number;
  state:
    | { is: 'waiting'; reason: string; message?: string }
    | { is: 'running'; sinceMs: number; ready: boolean }
    | { is: 'ended'; how: ContainerEnd };
  /** How the previous run ended. */
  last?: ContainerEnd;
  /** How long it will wait before the next restart or pull. */
  backoffMs: number;
  /** The next steps, and when they are due. */
  agenda: { what: Step; atMs: number }[];
}

/** The things outside a container that it depends on. */
export interface ContainerContext {
  behaviour: Behaviour;
  restartPolicy: string;
  timing: KubeletTiming;
  /** The pod as kubelet names it in messages: NAME_NAMESPACE(UID). */
  pod: string;
  /** Undefined without a readiness probe: then the container is ready as soon as it runs. */
  probe: { delayMs: number; periodMs: number } | undefined;
}

export const unborn = (name: string, image: string, reason: string): ContainerLife => ({
  name,
  image,
  restarts: 0,
  runs: 0,
  state: { is: 'waiting', reason },
  backoffMs: 0,
  agenda: [],
});

export const startAt = (life: ContainerLife, atMs: number): ContainerLife => ({
  ...life,
  agenda: [{ what: 'start', atMs }],
});

export const wakeAtMs = ({ agenda }: ContainerLife): number =>
  Math.min(Number.POSITIVE_INFINITY, ...agenda.map((it) => it.atMs));

/** Performs all steps that are due by now. Pure. */
export function live(
  life: ContainerLife,
  around: ContainerContext,
  nowMs: number,
): { life: ContainerLife; notes: KubeletNote[] } {
  const notes: KubeletNote[] = [];
  let now = life;
  for (;;) {
    const [next, ...later] = [...now.agenda].sort((a, b) => a.atMs - b.atMs);
    if (!next || next.atMs > nowMs) return { life: now, notes };
    now = steps[next.what]({ ...now, agenda: later }, around, nowMs, notes);
  }
}

type Do = (life: ContainerLife, around: ContainerContext, nowMs: number, notes: KubeletNote[]) => ContainerLife;

const then = (life: ContainerLife, what: Step, atMs: number): ContainerLife => ({
  ...life,
  agenda: [...life.agenda, { what, atMs }],
});
const waiting = (reason: string, message: string): ContainerLife['state'] => ({ is: 'waiting', reason, message });

const steps: Record<Step, Do> = {
  start(life, around, nowMs, notes) {
    const { behaviour, timing } = around;
    switch (behaviour.do) {
      case 'image-missing':
        return failPull(life, timing, nowMs, notes);
      case 'config-missing': {
        notes.push(pulled(life), { type: 'Warning', reason: 'Failed', message: `Error: ${behaviour.what}` });
        const state = waiting('CreateContainerConfigError', behaviour.what);
        return then({ ...life, state, agenda: [] }, 'start', nowMs + timing.resyncMs);
      }
      case 'unknown':
        return { ...life, state: waiting('UnknownBehaviour', `nobody knows how to "${behaviour.text}"`), agenda: [] };
      default:
        return run(life, around, nowMs, notes);
    }
  },
  resume: (life, around) => (life.state.is === 'running' ? course(life, around, life.state.sinceMs) : life),
  ready: (life) => (life.state.is === 'running' ? { ...life, state: { ...life.state, ready: true } } : life),
  probe(life, { behaviour, probe }, nowMs, notes) {
    const which = behaviour.do === 'liveness' ? 'Liveness' : 'Readiness';
    const message = `${which} probe failed: HTTP probe failed with statuscode: 500`;
    notes.push({ type: 'Warning', reason: 'Unhealthy', message });
    return behaviour.do === 'liveness' ? life : then(life, 'probe', nowMs + (probe?.periodMs ?? 10_000));
  },
  end(life, { behaviour, timing }, nowMs, notes) {
    const startedAtMs = life.state.is === 'running' ? life.state.sinceMs : nowMs;
    if (behaviour.do === 'liveness')
      notes.push({
        type: 'Normal',
        reason: 'Killing',
        message: `Container ${life.name} failed liveness probe, will be restarted`,
      });
    const exitCode = behaviour.do === 'exit' ? behaviour.code : 0;
    const reason = (behaviour.do === 'exit' ? behaviour.reason : undefined) ?? (exitCode === 0 ? 'Completed' : 'Error');
    const how = { exitCode, reason, startedAtMs, finishedAtMs: nowMs, run: life.runs };
    return then({ ...life, state: { is: 'ended', how }, agenda: [] }, 'decide', nowMs + timing.noticeMs);
  },
  decide(life, around, nowMs, notes) {
    if (life.state.is !== 'ended' || !isRestarted(life.state.how, around)) return life;
    const { how } = life.state;
    const { timing, pod } = around;
    const isForgiven = how.finishedAtMs - how.startedAtMs >= timing.forgiveAfterMs;
    if (life.backoffMs === 0 || isForgiven) return restart({ ...life, backoffMs: timing.backoffMs }, nowMs);
    const message = `back-off ${goDuration(life.backoffMs)} restarting failed container=${life.name} pod=${pod}`;
    const next = { ...life, last: how, state: waiting('CrashLoopBackOff', message), agenda: [] };
    const untilMs = Math.max(how.finishedAtMs + life.backoffMs, nowMs);
    return then(steps.remind(next, around, nowMs, notes), 'start', untilMs);
  },
  remind(life, { timing, pod }, nowMs, notes) {
    if (life.state.is !== 'waiting') return life;
    if (life.state.reason === 'CrashLoopBackOff') {
      const message = `Back-off restarting failed container ${life.name} in pod ${pod}`;
      notes.push({ type: 'Warning', reason: 'BackOff', message });
    } else {
      notes.push({ type: 'Normal', reason: 'BackOff', message: `Back-off pulling image "${life.image}"` });
      notes.push({ type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' });
    }
    const state = pullBackOff(life);
    return then({ ...life, state }, 'remind', nowMs + timing.resyncMs);
  },
};

export const isRestarted = (
  { exitCode }: ContainerEnd,
  { restartPolicy }: Pick<ContainerContext, 'restartPolicy'>,
): boolean => restartPolicy === 'Always' || (restartPolicy === 'OnFailure' && exitCode !== 0);

const restart = (life: ContainerLife, nowMs: number): ContainerLife => then({ ...life, agenda: [] }, 'start', nowMs);

const pulled = ({ image }: ContainerLife): KubeletNote => ({
  type: 'Normal',
  reason: 'Pulled',
  message: `Container image "${image}" already present on machine and can be accessed by the pod`,
});

function run(before: ContainerLife, around: ContainerContext, nowMs: number, notes: KubeletNote[]): ContainerLife {
  notes.push(pulled(before), { type: 'Normal', reason: 'Created', message: 'Container created' });
  notes.push({ type: 'Normal', reason: 'Started', message: 'Container started' });
  const last = before.state.is === 'ended' ? before.state.how : before.last;
  const wasInBackOff = before.state.is === 'waiting' && before.state.reason === 'CrashLoopBackOff';
  const backoffMs = wasInBackOff ? Math.min(before.backoffMs * 2, around.timing.longestBackoffMs) : before.backoffMs;
  const isAgain = before.runs > 0;
  const life: ContainerLife = {
    ...before,
    ...(last && { last }),
    backoffMs,
    runs: before.runs + 1,
    restarts: before.restarts + (isAgain ? 1 : 0),
    state: { is: 'running', sinceMs: nowMs, ready: false },
    agenda: [],
  };
  return course(life, around, nowMs);
}

/** Plans the steps of a run that began at `sinceMs`. */
function course(life: ContainerLife, { behaviour, probe }: ContainerContext, sinceMs: number): ContainerLife {
  const ready = (afterMs: number): ContainerLife =>
    afterMs === 0
      ? { ...life, state: { is: 'running', sinceMs, ready: true } }
      : then(life, 'ready', sinceMs + afterMs);
  const usualMs = probe?.delayMs ?? 0;
  switch (behaviour.do) {
    case 'run':
      return ready(behaviour.readyAfterMs ?? usualMs);
    case 'exit':
      return then(ready(usualMs), 'end', sinceMs + behaviour.afterMs);
    case 'liveness': {
      const probed = then(ready(usualMs), 'probe', sinceMs + behaviour.afterMs / 2);
      return then(then(probed, 'probe', sinceMs + behaviour.afterMs), 'end', sinceMs + behaviour.afterMs);
    }
    case 'unready':
      return then(life, 'probe', sinceMs + (probe?.periodMs ?? 10_000));
    case 'evicted':
    case 'sandbox':
    case 'volume':
    case 'hang': // pod-life.ts handles these
      return ready(usualMs);
    case 'image-missing':
    case 'config-missing':
    case 'unknown':
      return life; // never started
    default:
      return unreachable(behaviour);
  }
}

function failPull(life: ContainerLife, timing: KubeletTiming, nowMs: number, notes: KubeletNote[]): ContainerLife {
  const { image } = life;
  notes.push({ type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` });
  notes.push({ type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${pullError(image)}` });
  notes.push({ type: 'Warning', reason: 'Failed', message: 'Error: ErrImagePull' });
  const waitMs = life.backoffMs === 0 ? timing.backoffMs : Math.min(life.backoffMs * 2, timing.longestBackoffMs);
  const failed: ContainerLife = {
    ...life,
    state: waiting('ErrImagePull', pullError(image)),
    backoffMs: waitMs,
    agenda: [],
  };
  return then(then(failed, 'remind', nowMs + timing.noticeMs), 'start', nowMs + waitMs);
}

function pullBackOff({ state, image }: ContainerLife): ContainerLife['state'] {
  if (state.is !== 'waiting' || state.reason !== 'ErrImagePull') return state;
  return waiting('ImagePullBackOff', `Back-off pulling image "${image}": ErrImagePull: ${state.message}`);
}

const registryOf = (image: string): string =>
  /^[^/]*[.:][^/]*\//.test(image) ? image.split('/')[0]! : 'registry.example';

/** The message of containerd when the registry has no such tag. */
const pullError = (image: string): string => {
  const [, path = image, tag = 'latest'] = /^(.*?)(?::([^:/]+))?$/.exec(image) ?? [];
  const registry = registryOf(image);
  const name = path.startsWith(`${registry}/`) ? path.slice(registry.length + 1) : path;
  const asked = `Head "https://${registry}/v2/${name}/manifests/${tag}"`;
  return `failed to pull and unpack image "${image}": failed to resolve image: ${asked}: not found`;
};

/** Writes whole seconds as Go writes a duration: 10s, 1m20s, 5m0s. */
export function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}
