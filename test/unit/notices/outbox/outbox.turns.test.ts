import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFix, aQuotaFix, approvedByAda, uidOf } from '../../../support/fixes.ts';
import { aDesk, upsert } from '../desk.ts';

/* Calls wait for their turn in the channel (channels/pacing.ts): which ones go first, and which are given up. */

test('a post that waits for its turn when the process stops is not sent, and the next process sends it once', async () => {
  const desk = aDesk();
  desk.vendor.isBusy = true;
  const first = desk.startWith([aFix()]);
  await desk.clock.advance(30_000);
  assert.equal(desk.vendor.turns.length, 1, 'it waits, and is not repeated');
  first.kill();
  await desk.clock.advance(5_000);
  const [notice] = desk.server.all();
  assert.deepEqual(
    [notice!.status?.attempts, notice!.status?.lastError],
    [undefined, undefined],
    'no attempt was made',
  );
  desk.vendor.isBusy = false;
  desk.startWith([aFix()]);
  await desk.clock.advance(60_000);
  assert.equal(desk.posts().length, 1);
});

test('critical incidents go first, and the question to a presser before all', async () => {
  const desk = aDesk();
  const warning = { incident: { severity: 'warning' as const } };
  const { outbox, confirms } = desk.startWith([aFix(warning)]);
  await desk.clock.advance(10_000);
  outbox.onFix(upsert(aFix({ ...warning, approval: approvedByAda })));
  await desk.clock.advance(10_000);
  assert.deepEqual(desk.vendor.turns.splice(0), ['usual', 'usual']);
  const quota = aQuotaFix({ n: 2 });
  outbox.onFix(upsert(quota));
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.vendor.turns.splice(0), ['critical']);
  const { name } = desk.server.all().find(({ spec }) => spec.members.some(({ uid }) => uid === uidOf(2)))!.metadata;
  confirms.arm(uidOf(2), {
    by: 'telegram:123456789',
    name: 'Ada',
    channel: 'telegram',
    untilMs: desk.clock.now() + 30_000,
    notice: name,
    shown: '',
  });
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.vendor.turns.splice(0), ['press']);
});
