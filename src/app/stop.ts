import { once } from 'node:events';
import { type Clock, inTime } from '../lib/clock.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

/** Whoever stops us should not wait long. What is cut off here is taken up again at the next start. */
export const graceMs = 3_000;

/** After that, the Lease is released: another replica goes on at once. */
export const releaseMs = 1_500;

/** Whether everything that is under way ended by itself, once we were asked to stop. */
export async function endInTime(
  loops: readonly Promise<void>[],
  clock: Clock,
  signal: AbortSignal,
  ms = graceMs,
): Promise<boolean> {
  const all = Promise.all(loops).then(() => true);
  const late = stopped(signal).then(() => inTime({ clock, ms, late: false }, () => all));
  return Promise.race([all, late]);
}

/** Resolves when we were asked to stop. */
export async function stopped(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Every minute until we are asked to stop: what a watch missed, such as an object deleted by hand just then, is put right. */
export async function everyMinute(
  { clock, log, signal }: { clock: Clock; log: Log; signal: AbortSignal },
  resync: () => Promise<unknown>,
): Promise<void> {
  for (;;) {
    await clock.sleep(60_000, signal);
    if (signal.aborted) return;
    await resync().catch((error: unknown) => log.debug({ err: messageOf(error) }, 'resync failed, trying again'));
  }
}
