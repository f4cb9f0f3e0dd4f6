import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { messageOf, UserError } from '../lib/errors.ts';

export interface Patience {
  clock: Clock;
  signal: AbortSignal;
  /** After this it counts as not having happened. */
  forMs: number;
}

const everyMs = 200;

/**
 * Whether it came true in time. An API server that is away for a while is waited for as well: only what it said last is
 * remembered, for whoever wants to know why nothing happened.
 */
export async function waitUntil(
  isTrue: () => Promise<boolean> | boolean,
  { clock, signal, forMs }: Patience,
): Promise<{ ok: boolean; lastError: string }> {
  const untilMs = clock.now() + forMs;
  let lastError = '';
  while (!signal.aborted && clock.now() < untilMs) {
    try {
      if (await isTrue()) return { ok: true, lastError };
      lastError = '';
    } catch (error) {
      lastError = messageOf(error);
    }
    await clock.sleep(everyMs, signal);
  }
  return { ok: false, lastError };
}

/** What the rest depends on. `else`: "the quota is not in force". */
export async function mustBecomeTrue(
  isTrue: () => Promise<boolean> | boolean,
  { else: words, ...patience }: Patience & { else: string },
): Promise<void> {
  const { ok, lastError } = await waitUntil(isTrue, patience);
  if (ok || patience.signal.aborted) return;
  throw new UserError(`${words} after ${spokenDuration(patience.forMs)}${lastError ? `: ${lastError}` : ''}`);
}
