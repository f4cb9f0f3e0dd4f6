import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prepared } from '../../../src/actions/action.ts';
import type { Hand } from '../../../src/actions/perform.ts';
import { hasMoved, isUnclear, send } from '../../../src/controller/send.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const coded = (code: number) => new ApiError(`HTTP ${code}`, code, 'X');
const target = { kind: 'Deployment', namespace: 'shop', name: 'checkout' } as const;

const answers: [string, unknown, { unclear?: true; moved?: true }][] = [
  ['no answer', new Unreachable('reset'), { unclear: true }],
  ['something else', new TypeError('bug'), { unclear: true }],
  ...[401, 408, 429, 500, 503, 504].map(
    (code) => [`${code}`, coded(code), { unclear: true }] as [string, unknown, { unclear: true }],
  ),
  ...[404, 409, 422].map((code) => [`${code}`, coded(code), { moved: true }] as [string, unknown, { moved: true }]),
  ['400', coded(400), {}],
  ['403', coded(403), {}],
];
for (const [name, error, { unclear = false, moved = false }] of answers)
  test(`${name} is ${unclear ? 'unclear' : moved ? 'time to read again' : 'a no'}`, () =>
    assert.deepEqual([isUnclear(error), hasMoved(error)], [unclear, moved]));

/** Sends what is planned anew for each try; `answer` is the server's. */
async function sent(answer: (nth: number, nowMs: number) => void, planned: (nth: number) => string) {
  const clock = fakeClock();
  let tries = 0;
  const hand = {
    delete: async () => answer(tries, clock.now()),
    patch: async () => assert.fail('no patch'),
  } as unknown as Hand;
  const prepare = async (): Promise<Prepared> => {
    const write = { do: 'delete', ref: target, preconditions: { resourceVersion: planned(++tries) } } as const;
    return { ok: true, targetHash: 'h', before: '', diff: '', undo: '', blocked: [], write };
  };
  const done = send({ hand, clock, dryRun: false, prepare, object: () => undefined });
  void done.catch(() => undefined);
  await clock.advance(60_000);
  return { result: await done, tries };
}
const conflict = (): never => {
  throw coded(409);
};
const reasonOf = (result: Prepared) => (result.ok ? 'ok' : result.reason);

test('the very same request refused twice is a no, and not asked a third time', async () => {
  const { result, tries } = await sent(conflict, () => '1');
  assert.deepEqual([reasonOf(result), tries], ['Refused', 2]);
});

test('a target that keeps moving is left alone for a while after five tries, a pause between each two', async () => {
  const atMs: number[] = [];
  const moving = sent((_nth, nowMs) => (atMs.push(nowMs), conflict()), String);
  await assert.rejects(moving, (error) => error instanceof RetryLater && error.afterMs === 2_000);
  assert.deepEqual(
    atMs.map((ms) => ms - atMs[0]!),
    [0, 200, 400, 600, 800],
  );
});
