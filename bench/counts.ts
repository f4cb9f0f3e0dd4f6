import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a measured process tells of itself. Times are comparable between processes of one machine. */
export interface Counts {
  done: number;
  lastMs: number;
  /** What it has taken of a CPU so far: on a busy machine this is what counts. */
  cpuMs: number;
  rssMb: number;
  peakMb: number;
  stallMs: number;
}

export const now = (): number => performance.timeOrigin + performance.now();
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const mb = (bytes: number): number => bytes / 1024 / 1024;

/** Answers every question of the parent, and says each new count as it happens while somebody listens for single ones. */
export function serveCounts() {
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  let done = 0;
  let lastMs = 0;
  let isFollowed = false;
  const counts = (): Counts => ({
    done,
    lastMs,
    cpuMs: cpuMs(),
    rssMb: mb(process.memoryUsage.rss()),
    peakMb: mb(process.resourceUsage().maxRSS * 1024),
    stallMs: loop.max / 1e6,
  });
  process.on('message', (question: 'counts' | 'follow' | 'reset') => {
    if (question === 'follow') isFollowed = true;
    else if (question === 'reset') loop.reset();
    else process.send?.(counts());
  });
  process.on('disconnect', () => process.exit(0));
  return {
    add(times: number): void {
      done += times;
      lastMs = now();
      if (isFollowed) process.send?.(counts());
    },
  };
}
