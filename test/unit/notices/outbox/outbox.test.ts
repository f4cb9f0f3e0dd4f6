import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createConfirms } from '../../../../src/approvals/confirms.ts';
import type { Channel } from '../../../../src/channels/channel.ts';
import type { Notice } from '../../../../src/kube/notice.ts';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { aConfig, aFix, aNotice, approvedByAda, at, condition, uidOf } from '../../../support/fixes.ts';
import { storedOutbox } from '../../../support/stores.ts';
import { aDesk, gone, silentLog, upsert } from '../desk.ts';
import { noticeServer } from '../notice-server.ts';

const crash = 'checkout is down, 0/3 ready';
/** It, as a line of a list. */
const listed = (number: number, name: string): string => `${number} ${name} 0/3 · crashing after 1.42 · roll back`;
const many = (count: number, from = 1) =>
  Array.from({ length: count }, (_, i) => aFix({ n: from + i, name: `svc-${from + i}` }));

test('a new proposal is one message after the coalescing window, and its Notice is completed', async () => {
  const desk = aDesk();
  desk.startWith([aFix()]);
  await desk.clock.advance(4_900);
  assert.deepEqual(desk.posts(), []);
  await desk.clock.advance(200);
  assert.deepEqual(desk.posts(), [[crash]]);
  const [notice] = desk.server.all();
  assert.equal(notice?.status?.message, '4711');
  assert.equal(notice?.status?.attempts, 1);
  assert.ok(notice?.status?.postedAt && notice.status.shown);
  assert.deepEqual(desk.server.calls, ['create', 'patch status']);
});

test('nothing is said before both Remediations and Notices were listed', async () => {
  const desk = aDesk();
  const { outbox } = desk.start();
  outbox.onFixes([aFix()]);
  await desk.clock.advance(60_000);
  assert.deepEqual(desk.server.calls, []);
  outbox.onNotices([]);
  await desk.clock.advance(0);
  assert.deepEqual(desk.posts(), [[crash]]);
});

test('an unrehearsed proposal is waited for 5 s, then posted, then edited when the rehearsal is there', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix({ unrehearsed: true })]);
  await desk.clock.advance(9_900);
  assert.deepEqual(desk.posts(), []);
  await desk.clock.advance(200);
  assert.equal(desk.posts().length, 1);
  outbox.onFix(upsert(aFix()));
  await desk.clock.advance(0);
  assert.equal(desk.edits().length, 1);
});

test('three within the window are one message, the most severe first', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aNotice()]);
  await desk.clock.advance(2_000);
  outbox.onFix(upsert(aFix({ n: 1 })));
  outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(3_100);
  assert.deepEqual(desk.posts(), [
    [listed(1, 'checkout'), listed(2, 'web'), '3 reports 0/2 · no node fits · no one-tap fix'],
  ]);
});

test('the fifth message within a minute waits, and what comes meanwhile is merged into it', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([]);
  for (let n = 1; n <= 6; n++) {
    outbox.onFix(upsert(aFix({ n, name: `svc-${n}` })));
    await desk.clock.advance(6_000);
  }
  assert.equal(desk.posts().length, 4);
  await desk.clock.advance(28_900);
  assert.equal(desk.posts().length, 4);
  await desk.clock.advance(200);
  assert.deepEqual(desk.posts()[4], [listed(1, 'svc-5'), listed(2, 'svc-6')]);
  assert.equal(desk.said[4]!.atMs - desk.said[0]!.atMs, 60_000);
});

test('the limit survives a restart', async () => {
  const desk = aDesk();
  const first = desk.startWith([]);
  const fixes = many(4);
  for (const fix of fixes) {
    first.outbox.onFix(upsert(fix));
    await desk.clock.advance(5_100);
  }
  first.kill();
  desk.startWith([...fixes, ...many(1, 5)]);
  await desk.clock.advance(30_000);
  assert.equal(desk.posts().length, 4);
  await desk.clock.advance(15_000);
  assert.equal(desk.posts().length, 5);
});

test('a restart repeats nothing', async () => {
  const desk = aDesk();
  desk.startWith([aFix()]).outbox.refresh();
  await desk.clock.advance(6_000);
  for (let i = 0; i < 3; i++) desk.startWith([aFix()]);
  await desk.clock.advance(120_000);
  assert.equal(desk.said.length, 1);
});

test('killed between creating the Notice and posting: posted once by the next process', async () => {
  const desk = aDesk();
  const first = desk.startWith([aFix()]);
  desk.vendor.down = new RetryLater('down', 5_000);
  await desk.clock.advance(5_100);
  first.kill();
  desk.vendor.down = undefined;
  desk.startWith([aFix()]);
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.posts(), [[crash]]);
  assert.equal(desk.server.all().length, 1);
});

for (const fault of ['lost before', 'lost after'] as const) {
  test(`the completing patch is ${fault} arriving: tried again, posted once`, async () => {
    const desk = aDesk();
    desk.server.fail('patch status', fault);
    desk.server.fail('patch status', fault);
    desk.startWith([aFix()]);
    await desk.clock.advance(30_000);
    assert.equal(desk.said.length, 1);
    assert.equal(desk.server.all()[0]?.status?.message, '4711');
  });

  test(`the creation is ${fault} arriving, and another incident comes meanwhile: each told once`, async () => {
    const desk = aDesk();
    desk.server.fail('create', fault);
    const { outbox } = desk.startWith([aNotice()]);
    await desk.clock.advance(5_050);
    outbox.onFix(upsert(aFix()));
    await desk.clock.advance(30_000);
    assert.deepEqual(desk.posts(), [['reports is down, 0/2 ready'], [crash]]);
  });
}

test('the vendor is down: nothing is lost, later ones ride along, the error is recorded once a minute', async () => {
  const desk = aDesk();
  desk.vendor.down = new RetryLater('Telegram cannot be reached', 5_000);
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(60_000);
  outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(60_000);
  const [notice] = desk.server.all();
  assert.equal(notice?.status?.lastError, 'Telegram cannot be reached');
  assert.ok(desk.server.calls.filter((call) => call === 'patch status').length <= 2);
  desk.vendor.down = undefined;
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.posts(), [[listed(1, 'checkout'), listed(2, 'web')]]);
  assert.equal(desk.server.all()[0]?.status?.lastError, undefined);
});

test('the vendor is down for ten minutes: asked less and less often, and told within half a minute of its return', async () => {
  const desk = aDesk();
  desk.vendor.down = new RetryLater('Telegram cannot be reached', 5_000);
  desk.startWith([aFix()]);
  await desk.clock.advance(40_100);
  assert.equal(desk.vendor.tried, 4, 'after 5, 10, 20 and 40 s');
  await desk.clock.advance(560_000);
  assert.equal(desk.vendor.tried, 22, 'then every half a minute');
  desk.vendor.down = undefined;
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.posts(), [[crash]]);
});

test('the pause a vendor asks for is kept, whatever happens meanwhile', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  desk.vendor.down = new RetryLater('wait 30 s', 30_000);
  await desk.clock.advance(5_100);
  const { tried } = desk.vendor;
  for (let i = 0; i < 20; i++) {
    outbox.onFix(upsert(aFix()));
    await desk.clock.advance(1_000);
  }
  assert.equal(desk.vendor.tried, tried);
});

test('each new state is an edit of the same message; counts alone are none at once', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  outbox.onFix(upsert(aFix({ status: { sightings: { count: 99, lastSeen: at('02:13:00'), ready: 1, desired: 3 } } })));
  await desk.clock.advance(1_000);
  assert.equal(desk.edits().length, 0);
  outbox.onFix(upsert(aFix({ approval: approvedByAda })));
  await desk.clock.advance(1_000);
  outbox.onFix(
    upsert(aFix({ approval: approvedByAda, phase: 'Recovered', conditions: [condition('Recovered', '02:14:53')] })),
  );
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.edits(), [
    ['checkout: about to roll back to 1.41, approved by Ada (Telegram)'],
    ['checkout is healthy again'],
  ]);
  assert.deepEqual(new Set(desk.said.map(({ id }) => id)), new Set(['4711']));
});

test('edits have a budget of 12 a minute and chat; the newest state wins', async () => {
  const desk = aDesk();
  const applied = (ready: number) =>
    aFix({
      approval: approvedByAda,
      phase: 'Applied',
      status: { sightings: { count: 1, lastSeen: at('02:15:00'), ready, desired: 30 } },
    });
  const { outbox } = desk.startWith([applied(0)]);
  await desk.clock.advance(5_100);
  for (let ready = 1; ready <= 20; ready++) {
    outbox.onFix(upsert(applied(ready)));
    await desk.clock.advance(100);
  }
  assert.equal(desk.edits().length, 12);
  await desk.clock.advance(60_000);
  assert.equal(desk.edits().length, 13);
  assert.match(desk.edits().at(-1)![0]!, /20\/30 ready/);
});

test('a successor takes over the message of what it replaces', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  const successor = aFix({
    n: 2,
    spec: { diagnosis: 'another one', follows: { name: aFix().metadata.name, uid: aFix().metadata.uid } },
  });
  outbox.onFix(upsert(successor));
  await desk.clock.advance(1_000);
  outbox.onFix(upsert(aFix({ phase: 'Superseded' })));
  await desk.clock.advance(60_000);
  assert.equal(desk.posts().length, 1);
  assert.deepEqual(desk.edits().at(-1), [crash]);
  assert.deepEqual(
    desk.server.all().map(({ spec }) => spec.members.map(({ uid }) => uid)),
    [[aFix().metadata.uid, successor.metadata.uid]],
  );
});

test('what healed before anybody was told sends nothing', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix({ unrehearsed: true })]);
  await desk.clock.advance(3_000);
  outbox.onFix(upsert(aFix({ phase: 'Resolved' })));
  await desk.clock.advance(60_000);
  assert.equal(desk.said.length, 0);
  assert.equal(desk.server.all().length, 0);
});

test('the question "really?" swaps the buttons at once and is taken back after 30 s', async () => {
  const desk = aDesk({ config: { approval: { ...aDesk().config.approval, confirm: ['RolloutUndo'] } } });
  const { confirms } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  const asked = {
    by: 'telegram:123456789',
    name: 'Ada',
    untilMs: desk.clock.now() + 30_000,
    channel: 'telegram',
  } as const;
  confirms.arm(aFix().metadata.uid, { ...asked, notice: 'another', shown: '' });
  await desk.clock.advance(100);
  assert.equal(desk.edits().length, 0, 'it was asked on another message');
  confirms.arm(aFix().metadata.uid, { ...asked, notice: desk.server.all()[0]!.metadata.name, shown: '' });
  await desk.clock.advance(100);
  assert.equal(desk.edits().length, 1);
  await desk.clock.advance(30_000);
  assert.equal(desk.edits().length, 2);
});

test('a Notice is deleted when its last member is', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix(), aFix({ n: 2, name: 'web' })]);
  await desk.clock.advance(5_100);
  outbox.onFix(gone(aFix()));
  await desk.clock.advance(100);
  assert.equal(desk.server.all().length, 1);
  outbox.onFix(gone(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(100);
  assert.equal(desk.server.all().length, 0);
});

test('the message a button hangs on is found by its chat and id', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  assert.equal(outbox.noticeAt('telegram', { chat: '-100500' }, '4711')?.spec.members.length, 1);
  assert.equal(outbox.noticeAt('telegram', { chat: '-1' }, '4711'), undefined);
  assert.equal(outbox.noticeAt('telegram', { chat: '-100500' }, '1'), undefined);
});

for (const forgets of [true, false])
  test(`after a restart what still waits is ${forgets ? 'shown again where nothing is left of it' : 'not touched where it still stands'}`, async () => {
    const desk = aDesk({ forgets });
    const first = desk.startWith([aFix()]);
    await desk.clock.advance(6_000);
    first.kill();
    desk.startWith([aFix()]);
    await desk.clock.advance(6_000);
    assert.deepEqual([desk.posts().length, desk.edits().length], [1, forgets ? 1 : 0]);
  });

const foundAt = (fix: Remediation, start: string): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, annotations: { 'tapfix.dev/found-at-start': start } },
});
const start = at('02:12:00');
const api = foundAt(aFix({ name: 'api' }), start);
const web = foundAt(aFix({ n: 2, name: 'web' }), start);
const reports = foundAt(aNotice(), start);

test('five that were broken at the start, with three patiences: one sound, then edits; a restart says nothing', async () => {
  const desk = aDesk();
  const { outbox, kill } = desk.startWith([api, web]);
  await desk.clock.advance(6_000);
  const more = [
    reports,
    foundAt(aNotice({ n: 7, name: 'mail' }), start),
    foundAt(aNotice({ n: 8, name: 'sync' }), start),
  ];
  outbox.onFix(upsert(more[0]!));
  await desk.clock.advance(60_000);
  for (const fix of more.slice(1)) outbox.onFix(upsert(fix));
  await desk.clock.advance(60_000);
  assert.equal(desk.posts().length, 1);
  assert.equal(desk.edits().at(-1)?.length, 5);
  assert.deepEqual(
    desk.server.all().map(({ spec }) => spec.form),
    ['boot'],
  );
  kill();
  const before = desk.said.length;
  desk.startWith([api, web, ...more]);
  await desk.clock.advance(120_000);
  assert.equal(desk.said.length, before);
});

test('two hundred within ten seconds: one message, and two calls more in its first minute', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([]);
  for (let n = 1; n <= 200; n++) {
    outbox.onFix(upsert(aFix({ n, name: `svc-${n}`, unrehearsed: true })));
    await desk.clock.advance(50);
  }
  for (let n = 1; n <= 200; n++) {
    outbox.onFix(upsert(aFix({ n, name: `svc-${n}` }))); // rehearsed by now
    await desk.clock.advance(250);
  }
  const first = desk.said[0]!.atMs;
  assert.ok(desk.said.filter(({ atMs }) => atMs < first + 60_000).length <= 3, JSON.stringify(desk.said));
  await desk.clock.advance(60_000);
  assert.equal(desk.posts().length, 1);
  assert.match(desk.said.at(-1)!.headlines[0]!, /^200 incidents in one minute, prod-eu$/);
  assert.deepEqual(
    desk.server.all().map(({ spec }) => [spec.form, spec.members.length]),
    [['storm', 200]],
  );
});

test('three new ones a second are told as a storm from the first message on, and other messages keep quiet meanwhile', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix({ n: 900, name: 'before' })]);
  await desk.clock.advance(20_000);
  assert.equal(desk.said.length, 1);
  for (let n = 1; n <= 60; n++) {
    outbox.onFix(upsert(aFix({ n, name: `svc-${n}` })));
    outbox.onFix(
      upsert(
        aFix({ n: 900, name: 'before', status: { preview: { diff: `${n}`, targetHash: `${n}`, at: at('02:12:36') } } }),
      ),
    );
    await desk.clock.advance(n < 3 ? 1_000 : 333);
  }
  await desk.clock.advance(30_000);
  const [storm] = desk.said.filter(({ what }) => what === 'post').slice(1);
  assert.match(storm!.headlines[0]!, /^\d+ incidents in one minute/);
  const during = desk.said.filter(({ atMs }) => atMs >= storm!.atMs && atMs < storm!.atMs + 29_000);
  assert.deepEqual(
    during.map(({ what }) => what),
    ['post'],
  );
});

test('when the storm is over the next incident is told as ever', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith(Array.from({ length: 30 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}` })));
  await desk.clock.advance(120_000);
  outbox.onFix(upsert(aFix({ n: 99, name: 'later' })));
  await desk.clock.advance(10_000);
  assert.deepEqual(desk.posts().at(-1), ['later is down, 0/3 ready']);
});

describe('one message at a time', () => {
  const web = aFix({ n: 2, name: 'web' });

  /* The outbox. */

  test('a Notice that somebody deletes is made and posted anew', async () => {
    for (const how of ['event', 'list'] as const) {
      const desk = aDesk();
      const { outbox } = desk.startWith([aFix()]);
      await desk.clock.advance(70_000);
      const [notice] = desk.server.all();
      desk.server.watch(() => {});
      await desk.server.api.delete({ kind: 'Notice', namespace: 'tapfix', name: notice!.metadata.name });
      if (how === 'event')
        outbox.onNotice({ type: 'gone', namespace: 'tapfix', name: notice!.metadata.name, uid: notice!.metadata.uid });
      else outbox.onNotices([]);
      await desk.clock.advance(10_000);
      assert.equal(desk.posts().length, 2, how);
    }
  });

  test('a member whose joining is tried again is in the message once', async () => {
    const desk = aDesk();
    desk.vendor.down = new RetryLater('down', 5_000);
    const { outbox } = desk.startWith([aFix()]);
    await desk.clock.advance(9_900);
    desk.server.fail('patch', 'lost after');
    outbox.onFix(upsert(web));
    await desk.clock.advance(30_000);
    assert.deepEqual(
      desk.server.all().map(({ spec }) => spec.members.map(({ uid }) => uid)),
      [[1, 2].map(uidOf)],
    );
  });

  test('a button of another channel with the same numbers is not this message', async () => {
    const desk = aDesk();
    const { outbox } = desk.startWith([aFix()]);
    await desk.clock.advance(5_100);
    assert.ok(outbox.noticeAt('telegram', { chat: '-100500' }, '4711'));
    assert.equal(outbox.noticeAt('slack', { chat: '-100500' }, '4711'), undefined);
  });

  /** An outbox whose vendor does what it is told, and whose words are kept. */
  function aSlowDesk() {
    const clock = fakeClock(Date.parse(at('02:12:40')));
    const server = noticeServer();
    const fine = async (): Promise<void> => undefined;
    const vendor = { post: fine, edit: fine, posts: 0 };
    const channel: Channel = {
      name: 'telegram',
      post: async () => (await vendor.post(), String(++vendor.posts)),
      edit: () => vendor.edit(),
      run: async () => {},
      health: () => ({ ok: true, detail: '' }),
    };
    const warned: string[] = [];
    const log = { ...silentLog, warn: (fields: object) => void warned.push((fields as { reason: string }).reason) };
    const deleted: unknown[] = [];
    const { signal } = new AbortController();
    const remove = async (...call: unknown[]) => (deleted.push(call[1]), server.api.delete(call[0] as never));
    const outbox = storedOutbox({
      api: { ...server.api, delete: remove as never },
      clock,
      log,
      current: () => aConfig(),
      channels: () => new Map([['telegram', channel]]),
      namespace: 'tapfix',
      timeZone: 'UTC',
      confirms: createConfirms({ clock, signal }),
      signal,
    });
    server.watch((change) => outbox.onNotice(change));
    outbox.onNotices([]);
    outbox.onFixes([aFix()]);
    return { clock, server, vendor, outbox, warned, deleted, notice: (): Notice | undefined => server.all()[0] };
  }

  test('who comes while a message is being posted is told in the next one', async () => {
    const { clock, server, vendor, outbox } = aSlowDesk();
    vendor.post = () => clock.sleep(20_000);
    await clock.advance(6_000);
    outbox.onFix(upsert(web));
    await clock.advance(60_000);
    assert.deepEqual(
      server.all().map(({ spec }) => spec.members.length),
      [1, 1],
    );
  });

  test('trouble is said once until it works again, and no secret is in what is said or kept', async () => {
    const token = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0';
    const { clock, vendor, outbox, warned, notice } = aSlowDesk();
    const fail = (why: string) => async () => Promise.reject(new Error(why));
    vendor.post = fail(`POST https://api.telegram.org/bot${token}/sendMessage failed`);
    await clock.advance(60_000);
    assert.equal(warned.length, 1);
    assert.doesNotMatch(JSON.stringify([warned, notice()]), /AAHdqTcv/);
    vendor.post = fail('something else');
    await clock.advance(120_000);
    assert.equal(warned.length, 2);
    vendor.post = async () => undefined;
    await clock.advance(120_000);
    assert.equal(notice()?.status?.message, '1');
    vendor.edit = fail('something else');
    outbox.onFix(upsert(aFix({ approval: approvedByAda })));
    await clock.advance(60_000);
    assert.equal(warned.length, 3, 'it had worked in between');
  });

  test('a Notice is deleted by its uid', async () => {
    const { clock, outbox, deleted, notice } = aSlowDesk();
    await clock.advance(6_000);
    const { uid } = notice()!.metadata;
    outbox.onFixes([]);
    await clock.advance(1_000);
    assert.deepEqual(deleted, [{ uid }]);
  });
});
