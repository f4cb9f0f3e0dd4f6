import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFix } from '../../../support/fixes.ts';
import { aDesk, aDeskWithReminders, upsert } from '../desk.ts';

const heard = ({ said }: Pick<ReturnType<typeof aDesk>, 'said'>): string[] =>
  said.map(({ what, chat }) => `${what} ${chat}`);

test('a group that became a supergroup: the Notice follows before it is sent, so a press is known there after a restart as well', async () => {
  const desk = aDesk();
  desk.vendor.moved.set('-100500', '-1007');
  const { kill } = desk.startWith([aFix()]);
  await desk.clock.advance(6_000);
  assert.deepEqual(heard(desk), ['post -1007']);
  assert.deepEqual(desk.server.calls, ['create', 'patch', 'patch status']);
  const [{ spec, status }] = desk.server.all() as [ReturnType<typeof desk.server.all>[number]];
  assert.deepEqual([spec.chat, status?.message, status?.attempts], ['-1007', '4711', 1]);
  kill();
  desk.vendor.known.clear();
  const { outbox } = desk.startWith([aFix()]);
  assert.ok(outbox.noticeAt('telegram', { chat: '-1007' }, '4711'));
  await desk.clock.advance(120_000);
  outbox.onFix(upsert(aFix({ phase: 'Resolved' })));
  await desk.clock.advance(6_000);
  assert.deepEqual(heard(desk), ['post -1007', 'edit -1007'], 'nothing is said again');
});

for (const call of ['patch', 'patch status'] as const)
  test(`the answer to the ${call} of such a Notice is lost: it is told once`, async () => {
    const desk = aDesk();
    desk.vendor.moved.set('-100500', '-1007');
    desk.server.fail(call, 'lost after');
    desk.startWith([aFix()]);
    await desk.clock.advance(60_000);
    assert.deepEqual(heard(desk), ['post -1007']);
  });

test('what was posted before stays where it is; what follows it, and a reminder of it, is in the new chat', async () => {
  const desk = aDeskWithReminders();
  await desk.clock.advance(6_000);
  desk.vendor.moved.set('-100500', '-1007');
  await desk.clock.advance(11 * 60_000);
  const follows = { name: aFix().metadata.name, uid: aFix().metadata.uid };
  desk.outbox.onFix(upsert(aFix({ n: 2, spec: { follows } })));
  desk.outbox.onFix(upsert(aFix({ phase: 'Superseded' })));
  await desk.clock.advance(60_000);
  assert.deepEqual(heard(desk), ['post -100500', 'post -1007', 'edit -100500', 'post -1007']);
  assert.deepEqual(desk.said.map(({ replyTo }) => replyTo).filter(Boolean), [], 'its number is another message there');
  desk.stop.abort();
});

test('once the configuration names the new id nothing changes', async () => {
  const desk = aDesk();
  desk.vendor.moved.set('-100500', '-1007');
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(6_000);
  desk.config.channels.telegram!.chat = '-1007';
  outbox.refresh();
  outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(60_000);
  assert.deepEqual(heard(desk), ['post -1007', 'post -1007']);
  assert.deepEqual(
    desk.server.all().map(({ spec }) => spec.chat),
    ['-1007', '-1007'],
  );
});
