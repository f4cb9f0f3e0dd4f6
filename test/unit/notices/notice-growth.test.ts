import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../src/lib/errors.ts';
import { aFix } from '../../support/fixes.ts';
import { aDesk, upsert } from './desk.ts';

for (const how of ['event', 'list'] as const)
  test(`an older ${how} of a Notice that has grown since tells its new member nowhere else`, async () => {
    const desk = aDesk();
    desk.vendor.down = new RetryLater('down', 5_000);
    const { outbox } = desk.startWith([aFix()]);
    await desk.clock.advance(6_000);
    const old = desk.server.all();
    desk.server.watch(() => {});
    outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
    await desk.clock.advance(6_000);
    assert.equal(desk.server.all()[0]!.spec.members.length, 2);
    desk.vendor.down = undefined;
    await desk.clock.advance(6_000);
    if (how === 'event') for (const view of old) outbox.onNotice({ type: 'upsert', view });
    else outbox.onNotices(old);
    await desk.clock.advance(20_000);
    assert.equal(desk.posts().length, 1);
    assert.equal(desk.server.all().length, 1);
  });

test('members whose joining was done, but its answer lost, are told nowhere else', async () => {
  const desk = aDesk();
  desk.vendor.down = new RetryLater('down', 5_000);
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(9_900);
  desk.server.watch(() => {}); // the watch is silent for a while
  desk.server.fail('patch', 'lost after');
  outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(4_500);
  desk.vendor.down = undefined; // it is posted between the joining, at 14.9 s, and the next look at the plan
  await desk.clock.advance(30_000);
  assert.deepEqual(
    desk.server.all().map(({ spec }) => spec.members.length),
    [2],
  );
  assert.equal(desk.posts().length, 1);
});
