import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 250;
/** A probe that takes long is asked less often, or a busy machine would be busy with being asked. */
const longestPollMs = 2_000;

/** Asks again and again until the answer is something; the error says what was awaited and what came last. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs: number,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last = 'nothing seen';
  for (;;) {
    const askedAt = Date.now();
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      last = `the last probe gave ${answer}`;
    } catch (error) {
      last = `the last probe failed: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (Date.now() >= deadline) throw new Error(`waited ${timeoutMs / 1000} s for ${what}; ${last}`);
    await sleep(Math.min(Math.max(pollMs, 2 * (Date.now() - askedAt)), longestPollMs));
  }
}
