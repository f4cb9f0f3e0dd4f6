import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const by = 'telegram:123456789';

const asked = (untilMs: number) => ({
  by,
  name: 'Ada',
  untilMs,
  channel: 'telegram' as const,
  notice: 'one',
  shown: '',
});

function questions() {
  const clock = fakeClock(0);
  const stop = new AbortController();
  const confirms = createConfirms({ clock, signal: stop.signal });
  const changes: number[] = [];
  confirms.onChange(() => void changes.push(clock.now()));
  return { clock, confirms, changes, stop };
}

test('a question is over at its last moment, even before anybody noticed', () => {
  const { confirms } = questions();
  confirms.arm('u', asked(30_000));
  assert.equal(confirms.armedFor('u', 29_999)?.name, 'Ada');
  assert.equal(confirms.armedFor('u', 30_000), undefined);
});

test('the end of a question is told, that of an older one is not', async () => {
  const { clock, confirms, changes } = questions();
  confirms.arm('u', asked(30_000));
  await clock.advance(20_000);
  confirms.arm('u', asked(50_000));
  await clock.advance(29_999);
  assert.deepEqual(changes, [0, 20_000]);
  assert.ok(confirms.armedFor('u', clock.now()), 'the first one has not taken the second along');
  await clock.advance(1);
  assert.deepEqual(changes, [0, 20_000, 50_000]);
});

test('what was taken back is told once, and not again when it would have run out', async () => {
  const { clock, confirms, changes } = questions();
  confirms.arm('u', asked(30_000));
  confirms.disarm('u');
  confirms.disarm('u');
  await clock.advance(60_000);
  assert.deepEqual(changes, [0, 0]);
});

test('when the program stops no message is edited for it', async () => {
  const { clock, confirms, changes, stop } = questions();
  confirms.arm('u', asked(30_000));
  stop.abort();
  await clock.advance(60_000);
  assert.deepEqual(changes, [0]);
});
