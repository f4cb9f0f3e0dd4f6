import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FixOptions } from '../../support/fixes.ts';
import { aFix, aQuotaFix, approvedByAda, at, condition } from '../../support/fixes.ts';
import { aDesk, upsert } from './desk.ts';

const minuteMs = 60_000;
const blocking = (workloads: number, over: FixOptions = {}) =>
  aQuotaFix({
    ...over,
    status: {
      sightings: {
        count: workloads,
        lastSeen: at('02:13:00'),
        affected: Array.from({ length: workloads }, (_, n) => `Deployment/svc-${n}`),
      },
    },
  });
const says = (workloads: string) => [`quota platform-hardening blocks ${workloads} in shop`];

async function postedDesk() {
  const desk = aDesk();
  const process = desk.startWith([blocking(1)]);
  await desk.clock.advance(5_100); // posted at 5 s
  return { desk, ...process };
}

test('counts that grow are shown 5 minutes after the message was, by one edit of it', async () => {
  const { desk, outbox } = await postedDesk();
  for (let workloads = 2; workloads <= 40; workloads++) {
    outbox.onFix(upsert(blocking(workloads)));
    await desk.clock.advance(5_000);
  }
  assert.deepEqual(desk.edits(), []);
  await desk.clock.advance(5 * minuteMs - 39 * 5_000 - 200);
  assert.deepEqual(desk.edits(), []);
  await desk.clock.advance(200);
  assert.deepEqual(desk.edits(), [says('40 workloads')]);
  await desk.clock.advance(10 * minuteMs);
  assert.equal(desk.said.length, 2);
});

test('counts that never stop growing are shown every 5 minutes', async () => {
  const { desk, outbox } = await postedDesk();
  for (let minute = 1; minute <= 21; minute++) {
    outbox.onFix(upsert(blocking(1 + minute)));
    await desk.clock.advance(minuteMs);
  }
  assert.deepEqual(
    desk.edits(),
    [6, 11, 16, 21].map((n) => says(`${n} workloads`)),
  );
  assert.equal(desk.posts().length, 1);
});

test('a new state takes the counts along, and the 5 minutes begin again', async () => {
  const { desk, outbox } = await postedDesk();
  await desk.clock.advance(4 * minuteMs);
  outbox.onFix(upsert(blocking(2, { approval: approvedByAda })));
  await desk.clock.advance(4 * minuteMs);
  assert.equal(desk.edits().length, 1);
  outbox.onFix(upsert(blocking(3, { approval: approvedByAda })));
  await desk.clock.advance(59_000);
  assert.equal(desk.edits().length, 1);
  await desk.clock.advance(1_000);
  assert.equal(desk.edits().length, 2);
});

test('counts that are what they were after all cause no edit', async () => {
  const { desk, outbox } = await postedDesk();
  outbox.onFix(upsert(blocking(9)));
  await desk.clock.advance(minuteMs);
  outbox.onFix(upsert(blocking(1)));
  await desk.clock.advance(10 * minuteMs);
  assert.equal(desk.said.length, 1);
});

test('a settled message is left alone, whatever is counted', async () => {
  const { desk, outbox } = await postedDesk();
  const over: FixOptions = { phase: 'Resolved', conditions: [condition('Resolved', '02:14:00')] };
  outbox.onFix(upsert(blocking(1, over)));
  await desk.clock.advance(minuteMs);
  outbox.onFix(upsert(blocking(9, over)));
  await desk.clock.advance(10 * minuteMs);
  assert.equal(desk.edits().length, 1);
});

test('after a restart nobody knows which counts were shown: one edit after 5 minutes, then none', async () => {
  const { desk, kill } = await postedDesk();
  await desk.clock.advance(10 * minuteMs);
  kill();
  desk.startWith([blocking(7)]);
  await desk.clock.advance(5 * minuteMs - 100);
  assert.deepEqual(desk.edits(), []);
  await desk.clock.advance(100);
  assert.deepEqual(desk.edits(), [says('7 workloads')]);
  await desk.clock.advance(10 * minuteMs);
  assert.equal(desk.said.length, 2);
});

test('after a restart a settled message is not touched', async () => {
  const { desk, outbox, kill } = await postedDesk();
  const over = blocking(1, { phase: 'Resolved', conditions: [condition('Resolved', '02:14:00')] });
  outbox.onFix(upsert(over));
  await desk.clock.advance(minuteMs);
  kill();
  desk.startWith([over]);
  await desk.clock.advance(10 * minuteMs);
  assert.equal(desk.edits().length, 1);
});

test('counts of many messages wait for each other, and leave room for a new state', async () => {
  const desk = aDesk();
  const counted = (n: number, count: number, over: FixOptions = {}) =>
    aFix({ ...over, n, name: `svc-${n}`, status: { sightings: { count, lastSeen: at('02:13:00') } } });
  const process = desk.startWith([]);
  for (let n = 1; n <= 20; n++) {
    process.outbox.onFix(upsert(counted(n, 1)));
    await desk.clock.advance(20_000);
  }
  assert.equal(desk.posts().length, 20);
  process.kill();
  const { outbox } = desk.startWith(Array.from({ length: 20 }, (_, n) => counted(n + 1, 2)));
  await desk.clock.advance(5 * minuteMs);
  assert.equal(desk.edits().length, 6);
  outbox.onFix(upsert(counted(20, 2, { approval: approvedByAda })));
  await desk.clock.advance(0);
  assert.match(desk.edits().at(-1)![0]!, /approved by Ada/);
  await desk.clock.advance(5 * minuteMs);
  const edited = desk.said.filter(({ what }) => what === 'edit').map(({ id }) => id);
  assert.equal(new Set(edited).size, 20);
});
