import type { ContainerStatus, PodObject, Terminated } from '../common/shapes.ts';
import { millis } from '../common/stamp.ts';
import { type Ended, type Life, startAt } from './container.ts';
import { arrive, type PodLife, type World } from './pod.ts';

/** A pod that was here before this kubelet was: what ran goes on running, the rest is tried again, its restarts remembered. */
export function adopt(pod: PodObject, world: World, nowMs: number): PodLife {
  const fresh = arrive(pod, world, nowMs);
  const { startTime, containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  if (!startTime || !containerStatuses.some(({ containerID }) => containerID)) return fresh;
  const { sandboxAtMs: _, ...settled } = fresh;
  const resumed = (lives: readonly Life[], statuses: readonly ContainerStatus[]): Life[] =>
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

function resume(life: Life, status: ContainerStatus | undefined, nowMs: number): Life {
  if (!status?.containerID) return life;
  const { state, lastState, restartCount, ready } = status;
  const runs = restartCount + 1;
  const last = lastState.terminated && endOf(lastState.terminated, runs - 1);
  const before: Life = { ...life, restarts: restartCount, runs, ...(last && { last }) };
  if (state.running) {
    const running = { is: 'running', sinceMs: millis(state.running.startedAt), ready } as const;
    return { ...before, state: running, agenda: [{ what: 'resume', atMs: nowMs }] };
  }
  if (!state.terminated) return startAt(before, nowMs);
  const ended: Life = { ...before, state: { is: 'ended', how: endOf(state.terminated, runs) } };
  return { ...ended, agenda: [{ what: 'decide', atMs: nowMs }] };
}

const endOf = ({ exitCode, reason, startedAt, finishedAt }: Terminated, run: number): Ended => ({
  exitCode,
  reason,
  startedAtMs: millis(startedAt),
  finishedAtMs: millis(finishedAt),
  run,
});
