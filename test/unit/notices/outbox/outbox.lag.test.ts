import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { aFix, aNotice, approvedByAda } from '../../../support/fixes.ts';
import { aDesk, upsert } from '../desk.ts';

/** The watch tells the past: what it has not told yet, or tells again, must not make us speak twice. */
const crash = 'checkout is down, 0/3 ready';
const unscheduled = 'reports is down, 0/2 ready';

test('a list that was read before our Notice existed, and a worse incident: each is told once', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aNotice()]);
  await desk.clock.advance(5_100);
  outbox.onNotices([]);
  outbox.onFix(upsert(aFix()));
  await desk.clock.advance(20_000);
  assert.deepEqual(desk.posts(), [[unscheduled], [crash]]);
});

test('a creation whose answer is lost while the watch is silent, and a worse incident: each is told once', async () => {
  const desk = aDesk();
  desk.server.fail('create', 'lost after');
  const { outbox } = desk.startWith([aNotice()]);
  desk.server.watch(() => {});
  await desk.clock.advance(5_050);
  outbox.onFix(upsert(aFix()));
  await desk.clock.advance(10_000);
  assert.deepEqual(desk.posts(), []);
  desk.server.watch((change) => outbox.onNotice(change));
  outbox.onNotices(desk.server.all());
  await desk.clock.advance(10_000);
  assert.deepEqual(desk.posts(), [[unscheduled], [crash]]);
});

test('an old view of a Notice that arrives late causes neither a post nor an edit', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  const views = [];
  await desk.clock.advance(5_100);
  views.push(...desk.server.all());
  outbox.onFix(upsert(aFix({ approval: approvedByAda })));
  await desk.clock.advance(1_000);
  assert.equal(desk.said.length, 2);
  for (const view of views) {
    outbox.onNotice({ type: 'upsert', view: { ...view, status: {} } });
    outbox.onNotice({ type: 'upsert', view });
  }
  await desk.clock.advance(10_000);
  assert.equal(desk.said.length, 2);
});

test('a Notice that another process posted meanwhile is adopted', async () => {
  const desk = aDesk();
  const first = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  first.kill();
  const second = desk.start();
  second.outbox.onNotices([]); // its list is older
  second.outbox.onFixes([aFix()]);
  await desk.clock.advance(10_000);
  assert.equal(desk.said.length, 1);
  second.outbox.onNotices(desk.server.all());
  await desk.clock.advance(10_000);
  assert.equal(desk.said.length, 1);
});

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
