import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Frame } from '../support/emulator.ts';
import {
  assertNothingIsBroken,
  assertStatesAreSeen,
  openDemo,
  playAsPerson,
  prompts,
  stoodMs,
} from '../scenario/support/demo-person.ts';

/** Numbers and the names of pods differ from run to run. A line of JSON may be broken between two fields. */
const wordsOf = (line: string): string[] =>
  line
    .split(/\s+|(?<=["}\]],)(?=")/)
    .filter(Boolean)
    .map((word) => word.replace(/-[0-9a-z]{8,10}\b/g, '-x').replace(/\d+/g, '0'));

/** The end of a row and the beginning of the next that are one word in a wider window. */
function brokenWords(frames: readonly Frame[], whole: ReadonlySet<string>): string[] {
  const rows = frames.flatMap(({ text }) => text.split('\n').map(wordsOf));
  const joints = rows.map((row, index) => [row.at(-1) ?? '', rows[index + 1]?.[0] ?? ''] as const);
  return joints.filter(([end, start]) => end && start && whole.has(end + start)).map((joint) => joint.join('|'));
}

describe('what a person sees of the demo', { concurrency: 4, timeout: 240_000 }, () => {
  const everyWord = Promise.withResolvers<Set<string>>();

  test('in a window wide enough for every line', async (t) => {
    try {
      const frames = (await playAsPerson(t, { columns: 250, rows: 60 })).frames();
      everyWord.resolve(new Set(frames.flatMap(({ text }) => wordsOf(text))));
    } catch (error) {
      everyWord.reject(error);
      throw error;
    }
  });

  for (const columns of [60, 80, 120])
    test(`in ${columns} columns each step is there, and no word is broken`, async (t) => {
      const frames = (await playAsPerson(t, { columns, rows: 40 })).frames();
      assertStatesAreSeen(frames);
      assertNothingIsBroken(frames);
      assert.deepEqual(brokenWords(frames, await everyWord.promise), []);
    });
});

test('a broken word is found', () => {
  const frame = (text: string): Frame => ({ atMs: 0, text, brokenRows: [] });
  const whole = new Set(wordsOf('keeps crashing, 0/3 ready {"a":"b","c":1}'));
  assert.deepEqual(brokenWords([frame('keeps crash\ning, 0/3\nready\n{"a":"b",\n"c":1}')], whole), ['crash|ing,']);
});

describe('with --yes', { timeout: 120_000 }, () => {
  test('every card and every question stands for 6 s, each state can be seen, and it takes a minute', async (t) => {
    const startedMs = performance.now();
    const demo = openDemo(t, { columns: 80, rows: 24 }, '--yes');
    assert.equal(await demo.ended(), 0);
    const seconds = (performance.now() - startedMs) / 1000;
    console.log(`    the tour took ${seconds.toFixed(1)} s`);
    const frames = demo.frames();
    for (const what of Object.values(prompts).flat()) {
      const ms = stoodMs(frames, what);
      assert.ok(ms >= 6_000, `${what} stood ${ms.toFixed(0)} ms`);
    }
    for (const key of ['a', 'y']) assert.ok(stoodMs(frames, `demo presses ${key} by itself after 6 s.`) >= 6_000);
    assertStatesAreSeen(frames);
    assertNothingIsBroken(frames);
    assert.match(demo.screen(), /What happened\n/);
    assert.ok(seconds < 90, `the tour took ${seconds} s`);
  });
});
