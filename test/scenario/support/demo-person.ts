import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Emulator, type Frame, startEmulator } from '../../support/emulator.ts';
import { root } from './tapfix.ts';

export interface WindowSize {
  columns: number;
  rows: number;
}

/** The built demo in a window of that size. */
export function openDemo(t: TestContext, size: WindowSize, ...words: string[]): Emulator {
  const command = [process.execPath, join(root, 'bin/tapfix.js'), 'demo', ...words];
  return startEmulator(t, { ...size, command, cwd: root });
}

/** What stands on the screen while a key is waited for. */
export const prompts = {
  rollback: [/🔴 checkout is down, 0\/3 ready/u, '[a] Roll back to 1.41   [r] Reject'],
  quota: [/🔴 Quota platform-hardening blocks 2\s+workloads in shop/u, '[a] Delete quota   [r] Reject'],
  confirm: [/🔴 Quota platform-hardening/u, '[y] Yes, delete platform-hardening', '[n] Back'],
} as const;
export const hints = {
  decide: 'Press a to approve, r to reject, q to leave.',
  confirm: 'Press y to confirm, n to go back, q to leave.',
} as const;

/** Long enough for a person to look, and for anything that would erase the card. */
const lookMs = 1_000;

/** Plays the whole demo as a person does: looks at each step, then presses the key that the screen names. */
export async function playAsPerson(t: TestContext, size: WindowSize): Promise<Emulator> {
  const demo = openDemo(t, size);
  const staysOn = async (...what: readonly (string | RegExp)[]): Promise<void> => {
    await demo.sees(...what);
    await sleep(lookMs);
    const screen = demo.screen();
    for (const one of what) assert.ok(isIn(screen, one), `${one} is no longer on the screen:\n${screen}`);
  };
  await demo.sees(
    /You\s+answer\s+with\s+one\s+key:.*\by\s+confirms/s,
    /The shop is well: api 3\/3, checkout 3\/3, web 2\/2\./,
  );

  await demo.sees('Act 1 of 2.');
  await staysOn(...prompts.rollback, hints.decide);
  demo.press('a');
  await demo.sees(/🟡 checkout: .*approved by/u);
  await demo.sees(/🔵 checkout: rolled back/u);
  await demo.sees(/🟢 checkout is healthy again after/u);

  await demo.sees('Act 2 of 2.');
  await staysOn(...prompts.quota, hints.decide);
  demo.press('a');
  await staysOn(...prompts.confirm, hints.confirm);
  demo.press('y');
  await demo.sees(/🟡 Quota platform-hardening: .*approved/u);
  await demo.sees(/🔵 Quota platform-hardening: deleted/u);
  await demo.sees(/🟢 2 workloads behind quota platform-hardening/u);

  assert.equal(await demo.ended(), 0);
  const end = demo.screen();
  assert.match(
    end,
    /🟢 2 workloads behind quota platform-hardening[^]*What happened\n(  \d\d:\d\d:\d\d  \S.*\n( {12}\S.*\n)*){5}/u,
  );
  assert.match(end, /\nWhat to try next\n {2}npm run demo -- --scenario image[^]*your phone$/);
  return demo;
}

const isIn = (screen: string, what: string | RegExp): boolean =>
  typeof what === 'string' ? screen.includes(what) : what.test(screen);

/** For how long at a stretch the screen showed this; the longest time counts. */
export function stoodMs(frames: readonly Frame[], what: string | RegExp): number {
  let longest = 0;
  let sinceMs: number | undefined;
  for (const { atMs, text } of frames) {
    if (sinceMs !== undefined) longest = Math.max(longest, atMs - sinceMs);
    if (!isIn(text, what)) sinceMs = undefined;
    else sinceMs ??= atMs;
  }
  return longest;
}

/** States that end by themselves must stand long enough to be seen. */
export function assertStatesAreSeen(frames: readonly Frame[]): void {
  const states = [/🟡 checkout/u, /🔵 checkout/u, /🟡 Quota/u, /🔵 Quota/u];
  for (const state of states) assert.ok(stoodMs(frames, state) >= 1_000, `${state} stood ${stoodMs(frames, state)} ms`);
}

/** The terminal itself never had to break a row, which it would do in the middle of a word. */
export function assertNothingIsBroken(frames: readonly Frame[]): void {
  assert.deepEqual([...new Set(frames.flatMap(({ brokenRows }) => brokenRows))], []);
}
