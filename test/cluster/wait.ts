import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 250;

/** Asks again and again until the answer is something; the error says what was awaited and what came last. */
export async function waitFor<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  timeoutMs: number,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let last = 'nothing seen';
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
      last = `the last probe gave ${answer}`;
    } catch (error) {
      last = `the last probe failed: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (Date.now() >= deadline) throw new Error(`waited ${timeoutMs / 1000} s for ${what}; ${last}`);
    await sleep(pollMs);
  }
}
