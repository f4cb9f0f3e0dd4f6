const firstRetryMs = 500;
const longestRetryMs = 30_000;

/** How long to wait after so many failures in a row: doubling from half a second to half a minute, with jitter. */
export function backoffMs(failures: number, random: () => number): number {
  const ceiling = Math.min(firstRetryMs * 2 ** (Math.max(failures, 1) - 1), longestRetryMs);
  return ceiling * (0.5 + random() / 2);
}
