import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCorrelator, type Happening } from '../../../../src/sim/common/event-recorder.ts';

const about = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-1', namespace: 'shop', uid: 'u' };
const refused = (pod: string): Happening => ({
  about,
  type: 'Warning',
  reason: 'FailedCreate',
  message: `Error creating: pods "${pod}" is forbidden`,
});

function correlator() {
  let n = 0;
  return createCorrelator(({ name }) => `${name}.${++n}`);
}

test('the same again is counted in the same Event', () => {
  const { judge } = correlator();
  assert.deepEqual(judge(refused('a'), 0), {
    do: 'create',
    name: 'web-1.1',
    message: refused('a').message,
    combined: false,
  });
  assert.deepEqual(judge(refused('a'), 5000), {
    do: 'count',
    name: 'web-1.1',
    message: refused('a').message,
    count: 2,
    firstMs: 0,
    combined: false,
  });
});

test('nine that differ only in their words stand for themselves, the tenth and later are combined', () => {
  const { judge } = correlator();
  const verdicts = Array.from({ length: 12 }, (_, n) => judge(refused(`p${n}`), n * 1000));
  assert.deepEqual(
    verdicts.map(({ do: what }) => what),
    [...Array<string>(10).fill('create'), 'count', 'count'],
  );
  const messages = verdicts.map((verdict) => (verdict.do === 'drop' ? '' : verdict.message));
  assert.ok(messages.slice(0, 9).every((message) => message.startsWith('Error creating')));
  assert.ok(messages.slice(9).every((message) => message.startsWith('(combined from similar events): Error creating')));
  assert.equal((verdicts[11] as { count: number }).count, 3);
});

test('after ten minutes of silence they stand for themselves again', () => {
  const { judge } = correlator();
  for (let n = 0; n < 12; n++) judge(refused(`p${n}`), 0);
  const verdict = judge(refused('late'), 655_360);
  assert.equal(verdict.do, 'create');
  assert.equal((verdict as { combined: boolean }).combined, false);
});

test('25 at once about one object, then one in five minutes; what is dropped is counted all the same', () => {
  const { judge } = correlator();
  const done = (n: number, ms: number): string[] => Array.from({ length: n }, () => judge(refused('a'), ms).do);
  assert.deepEqual(new Set(done(25, 0)), new Set(['create', 'count']));
  assert.deepEqual(done(3, 1000), ['drop', 'drop', 'drop']);
  assert.deepEqual(done(2, 301_000), ['count', 'drop']);
  const later = judge(refused('a'), 602_000);
  assert.equal((later as { count: number }).count, 31);
});

test('Normal events have a budget of their own, and so has every object', () => {
  const { judge } = correlator();
  for (let n = 0; n < 30; n++) judge(refused('a'), 0);
  assert.equal(judge({ ...refused('a'), type: 'Normal', reason: 'SuccessfulCreate' }, 0).do, 'create');
  assert.equal(judge({ ...refused('a'), about: { ...about, uid: 'v' } }, 0).do, 'create');
});
