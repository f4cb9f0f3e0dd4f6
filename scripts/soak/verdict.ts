/** What was measured of one process. */
export interface Sample {
  /** Since the start. */
  atMs: number;
  role: string;
  rssMb: number;
  handles: number;
  /** The 99th percentile since the sample before. */
  delayMs: number;
}
/** What was measured of the whole. */
export interface Pulse {
  atMs: number;
  requestsPerMinute: number;
  incidents: number;
  closed: number;
  wrong: number;
}

export interface Finding {
  ok: boolean;
  text: string;
}

/** The slope that is allowed, and the time that it takes to tell it from noise. */
const mostMbPer10Minutes = 1;
const shortestMs = 10 * 60_000;
/** Connections come and go. */
const spareHandles = 5;
const longestWarmUpMs = 10 * 60_000;

/** The first third, and at most ten minutes, are for caches to fill. */
export const warmUpMs = (minutes: number): number => Math.min((minutes * 60_000) / 3, longestWarmUpMs);

/** The middle one of all slopes between two points: single peaks do not move it. */
export function slopePerMs(points: readonly { x: number; y: number }[]): number {
  const slopes: number[] = [];
  for (const [n, a] of points.entries())
    for (const b of points.slice(n + 1)) if (b.x > a.x) slopes.push((b.y - a.y) / (b.x - a.x));
  return slopes.length === 0 ? 0 : median(slopes);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function ofMemory(role: string, samples: readonly Sample[]): Finding {
  const spanMs = (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);
  const slope = slopePerMs(samples.map(({ atMs, rssMb }) => ({ x: atMs, y: rssMb }))) * 600_000;
  const peak = Math.max(0, ...samples.map(({ rssMb }) => rssMb));
  const text = `${role}: RSS ${slope >= 0 ? '+' : ''}${slope.toFixed(2)} MB per 10 minutes after warm-up, at most ${peak.toFixed(0)} MB`;
  if (spanMs < shortestMs) return { ok: true, text: `${text} (too short a time to judge the slope)` };
  return { ok: slope <= mostMbPer10Minutes, text: `${text} (allowed: +${mostMbPer10Minutes} MB)` };
}

function ofHandles(role: string, samples: readonly Sample[]): Finding {
  const quarter = Math.max(1, samples.length >> 2);
  const before = median(samples.slice(0, quarter).map(({ handles }) => handles));
  const after = median(samples.slice(-quarter).map(({ handles }) => handles));
  return { ok: after <= before + spareHandles, text: `${role}: ${before} handles after warm-up, ${after} at the end` };
}

/** Pure. */
export function verdictOf(samples: readonly Sample[], wrong: readonly string[], minutes: number): Finding[] {
  const later = samples.filter(({ atMs }) => atMs >= warmUpMs(minutes));
  const roles = [...new Set(samples.map(({ role }) => role))];
  return [
    ...roles.map((role) =>
      ofMemory(
        role,
        later.filter((sample) => sample.role === role),
      ),
    ),
    ...roles.map((role) =>
      ofHandles(
        role,
        later.filter((sample) => sample.role === role),
      ),
    ),
    wrong.length === 0
      ? { ok: true, text: 'the books balance' }
      : { ok: false, text: `the books do not balance: ${wrong.length} findings` },
  ];
}
