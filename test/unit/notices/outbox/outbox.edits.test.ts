import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { RetryLater } from '../../../../src/lib/errors.ts';
import {
  aFix,
  aNotice,
  approvedByAda,
  aQuotaFix,
  at,
  condition,
  executed,
  type FixOptions,
} from '../../../support/fixes.ts';
import { aDesk, gone, upsert } from '../desk.ts';

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
const says = (workloads: string) => [`Quota platform-hardening blocks ${workloads} in shop`];

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

const deleted: [string, Remediation, string][] = [
  ['a proposal', aFix(), 'checkout: its record was deleted, nothing was changed by tapfix'],
  ['a card without a fix', aNotice({ n: 1 }), 'reports: its record was deleted, nothing was changed by tapfix'],
  [
    'a fix that is watched',
    aFix({ phase: 'Applied', approval: approvedByAda, status: { execution: executed } }),
    'checkout: the record of its fix was deleted, tapfix no longer watches it',
  ],
];
for (const [name, fix, headline] of deleted)
  test(`${name} whose Remediation is deleted: one last edit, and its Notice goes`, async () => {
    const desk = aDesk();
    const { outbox } = desk.startWith([fix]);
    await desk.clock.advance(5_100);
    outbox.onFix(gone(fix));
    await desk.clock.advance(60_000);
    assert.deepEqual(desk.edits(), [[headline]]);
    assert.deepEqual(desk.server.all(), []);
  });

test('deleted while nobody watched: the next list tells, and the last edit waits for the vendor', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  desk.vendor.down = new RetryLater('down', 5_000);
  outbox.onFixes([]);
  await desk.clock.advance(20_000);
  assert.equal(desk.server.all().length, 1);
  desk.vendor.down = undefined;
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.edits().length, 1);
  assert.deepEqual(desk.server.all(), []);
});

test('a chat that refuses the last edit does not keep the Notice', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  desk.vendor.down = new Error('the bot was kicked');
  outbox.onFix(gone(aFix()));
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.server.all(), []);
});

test('many at once keep to the budget of edits', async () => {
  const desk = aDesk();
  const fixes = Array.from({ length: 20 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}`, spec: { ttlMinutes: 60 } }));
  const { outbox } = desk.startWith([]);
  for (const fix of fixes) {
    outbox.onFix(upsert(fix));
    await desk.clock.advance(20_000);
  }
  for (const fix of fixes) outbox.onFix(gone(fix));
  await desk.clock.advance(1_000);
  assert.equal(desk.edits().length, 12);
  await desk.clock.advance(120_000);
  assert.equal(desk.edits().length, 20);
  assert.deepEqual(desk.server.all(), []);
});

test('of a namespace that may not be read nobody knows what is gone: its Notice stays', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()], { isHeard: (namespace) => namespace !== 'shop' });
  await desk.clock.advance(5_100);
  outbox.onFixes([]);
  await desk.clock.advance(60_000);
  assert.deepEqual([desk.edits().length, desk.server.all().length], [0, 1]);
});

test('what was over keeps its last word when its record goes', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  const over = aFix({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] });
  outbox.onFix(upsert(over));
  await desk.clock.advance(1_000);
  outbox.onFix(gone(over));
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.edits(), [['checkout is healthy again. Nothing was changed']]);
  assert.deepEqual(desk.server.all(), []);
});

test('that edit comes by itself, once', async () => {
  const desk = aDesk();
  desk.startWith([aFix()]);
  await desk.clock.advance(29 * 60_000);
  assert.deepEqual(desk.edits(), []);
  await desk.clock.advance(3 * 3_600_000);
  assert.equal(desk.edits().length, 1);
});
