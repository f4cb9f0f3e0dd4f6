import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inWords, needsApprover, saysWhatItWaitsFor, terminalOf } from '../../../src/cli/cluster-session.ts';
import { ApiError, noSuchPath, Unreachable } from '../../../src/kube/api.ts';
import { UserError } from '../../../src/lib/errors.ts';

describe('the terminal', () => {
  const tty = { stdin: { isTTY: true }, stdout: { isTTY: true, columns: 120 }, env: {} };
  const cases: [string, Parameters<typeof terminalOf>[0], object][] = [
    ['a window: its width, colour, and a person to ask', tty, { columns: 120, colour: true, asks: true }],
    ['NO_COLOR', { ...tty, env: { NO_COLOR: '1' } }, { columns: 120, colour: false, asks: true }],
    ['an empty NO_COLOR is none', { ...tty, env: { NO_COLOR: '' } }, { columns: 120, colour: true, asks: true }],
    ['a terminal that can do nothing', { ...tty, env: { TERM: 'dumb' } }, { columns: 120, colour: false, asks: true }],
    ['piped', { ...tty, stdout: {} }, { columns: undefined, colour: false, asks: false }],
    [
      'piped, with a width',
      { ...tty, stdout: {}, env: { COLUMNS: '60' } },
      { columns: 60, colour: false, asks: false },
    ],
    ['nobody at the keyboard', { ...tty, stdin: {} }, { columns: 120, colour: true, asks: false }],
    [
      'a window that does not say how wide it is',
      { ...tty, stdout: { isTTY: true, columns: 0 } },
      { columns: 80, colour: true, asks: true },
    ],
  ];
  for (const [name, given, want] of cases)
    test(name, () => {
      const { columns, colour, ask } = terminalOf(given);
      assert.deepEqual({ columns, colour, asks: ask !== undefined }, want);
    });
});

test('what the API server refuses is a sentence, and what nobody expected stays what it is', () => {
  const refusals: [unknown, RegExp][] = [
    [new ApiError('no', 401, 'Unauthorized'), /^the API server refused your credentials: no$/],
    [new ApiError('no', 403, 'Forbidden'), /^you may not do this: no$/],
    [new ApiError('not installed', 404, noSuchPath), /^not installed$/],
    [new Unreachable('cannot reach it'), /^cannot reach it$/],
  ];
  for (const [error, words] of refusals) {
    const said = inWords(error);
    assert.ok(said instanceof UserError && words.test(said.message), String(said));
  }
  const bug = new TypeError('x');
  assert.equal(inWords(bug), bug);
});

test('the right that somebody lacks: only where it is one', () => {
  const busy = new ApiError('busy', 503, 'ServiceUnavailable');
  assert.equal(needsApprover(busy, 'decide', 'shop', 'ada'), busy);
  const said = needsApprover(new ApiError('no', 403, 'Forbidden'), 'decide', 'shop', undefined) as Error;
  assert.match(said.message, /tapfix-approver-name --clusterrole=tapfix-approver --user=NAME$/);
});

test('an answer that comes in time is waited for in silence, a late one is announced once', async () => {
  const lines: string[] = [];
  const wakes: (() => void)[] = [];
  const clock = {
    now: () => 0,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        assert.equal(ms, 2_000);
        wakes.push(resolve);
        signal?.addEventListener('abort', () => resolve());
      }),
  };
  const patient = saysWhatItWaitsFor({ clock, server: 'https://x', complain: (text) => void lines.push(text) });
  assert.equal(await patient(Promise.resolve(1)), 1);
  assert.deepEqual(lines, []);
  const late = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const answers = late.map(({ promise }) => patient(promise));
  for (const wake of wakes) wake();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(lines, ['waiting for the API server https://x (Ctrl-C ends this)']);
  for (const { resolve } of late) resolve();
  await Promise.all(answers);
});
