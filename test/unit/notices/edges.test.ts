import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import type { Channel } from '../../../src/channels/channel.ts';
import type { Notice } from '../../../src/kube/notice.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import { createDeliveries, createPacing, type Delivery, isStuck } from '../../../src/notices/outbox/delivery.ts';
import { createNoticeStatus } from '../../../src/notices/outbox/notice-status.ts';
import { stateHash } from '../../../src/notices/outbox/rendering.ts';
import { planMessages } from '../../../src/notices/plan/coalesce.ts';
import type { GroupFacts } from '../../../src/notices/plan/waiting.ts';
import { aContext } from '../../golden/scenes.ts';
import { noticeStore, storedOutbox } from '../../support/stores.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNoticeOf, approvedByAda, at, condition, uidOf } from '../../support/fixes.ts';
import { aDesk, silentLog, upsert } from './desk.ts';
import { fakeNotices } from './fake-api.ts';

/* Rules of telling that only show at their edges. */

const nowMs = Date.parse(at('02:13:00'));
const team = { channel: 'telegram', chat: '-100500' } as const;
const web = aFix({ n: 2, name: 'web' });
const posted = (secondsAgo: number) => ({ message: '1', postedAt: new Date(nowMs - secondsAgo * 1000).toISOString() });
const three = [10, 20, 30].map((ago, n) => aNoticeOf([aFix({ n: 20 + n })], {}, posted(ago)));
const told = aNoticeOf([aFix()], {}, posted(10));
const successor = aFix({ n: 3, name: 'later', spec: { follows: { name: 'x', uid: uidOf(1) } } });
const seenAgo = (firstMs: number, rehearsedMs: number) => () => ({
  firstMs: nowMs - firstMs,
  rehearsedMs: nowMs - rehearsedMs,
});
const topicOf = (namespace: string) => [{ ...team, thread: namespace }];
const failed = aFix({ phase: 'Failed', conditions: [condition('Failed', '02:12:50')] });
const healed = aFix({
  phase: 'Failed',
  conditions: [condition('Failed', '02:12:50'), condition('IncidentCleared', '02:12:55')],
});

const plans: [string, Partial<GroupFacts>, string[], number?][] = [
  [
    'two topics of one chat in one pass share what is left of the limit',
    { fixes: [aFix(), aFix({ n: 2, namespace: 'pay' })], notices: three, addressesOf: topicOf },
    ['open shop'],
    30_000,
  ],
  ['a failure that nobody was told of is told', { fixes: [failed] }, ['open']],
  ['but not when it is healthy by now', { fixes: [healed] }, []],
  [
    'a rehearsal that came after the patience does not begin the wait again',
    { fixes: [aFix()], seen: seenAgo(12_000, 1_000) },
    ['open'],
  ],
  [
    'a message that cannot leave is no message of the last minute',
    {
      fixes: [aFix()],
      notices: [...three, aNoticeOf([web], { thread: '9' })],
      isStuck: (notice) => notice.spec.thread === '9',
    },
    ['open'],
  ],
  [
    'and takes nobody along who belongs elsewhere',
    { fixes: [aFix()], notices: [aNoticeOf([web], { chat: '-1' })], isStuck: () => true },
    ['open'],
  ],
  [
    'a successor that is told already joins nothing',
    { fixes: [aFix(), successor], notices: [told, aNoticeOf([successor], {}, posted(5))] },
    [],
  ],
  [
    'a successor whose news go elsewhere by now does not join here',
    { fixes: [aFix(), successor], notices: [told], addressesOf: () => [{ ...team, chat: '-1' }] },
    ['open'],
  ],
  [
    'who waits for a rehearsal is looked at again',
    {
      fixes: [aFix(), aFix({ n: 2, unrehearsed: true })],
      seen: ({ metadata }) => ({ firstMs: nowMs - (metadata.uid === uidOf(1) ? 60_000 : 2_000) }),
    },
    ['open'],
    8_000,
  ],
];
for (const [name, facts, want, againInMs] of plans)
  test(name, () => {
    const plan = planMessages({
      fixes: [],
      notices: [],
      nowMs,
      coalesceMs: 5_000,
      maxPerMinute: 4,
      stormOver: 10,
      addressesOf: () => [team],
      seen: seenAgo(60_000, 60_000),
      postedAtMs: ({ status }) => (status?.postedAt ? Date.parse(status.postedAt) : undefined),
      isStuck: () => false,
      isPosting: () => false,
      alsoSentAtMs: () => [],
      ...facts,
    });
    const said = plan.steps.map((step) =>
      step.do === 'join' ? 'join' : ['open', step.address.thread].filter(Boolean).join(' '),
    );
    assert.deepEqual([said, plan.againInMs], [want, againInMs]);
  });

/* What is an edit. */

const hash = (fix: Remediation) => stateHash([fix], aContext());
const preview = (diff: string) => aFix({ status: { preview: { diff, targetHash: 'abc', at: at('02:12:36') } } });
const rehearsal = (message: string) =>
  aFix({ unrehearsed: true, conditions: [condition('Rehearsed', '02:12:36', { status: 'False', message })] });
const confirmation = (status: 'True' | 'False') =>
  aFix({
    unrehearsed: true,
    conditions: [condition('Rehearsed', '02:12:36'), condition('Confirmed', '02:12:36', { status })],
  });
const by = (who: string) => aFix({ phase: 'Approved', approval: { ...approvedByAda, by: who } });
const edits: [string, Remediation, Remediation][] = [
  ['another diff', preview('a'), preview('b')],
  ['why the rehearsal failed', rehearsal('a'), rehearsal('b')],
  ['that the controller does not confirm it', confirmation('True'), confirmation('False')],
  ['who approved', by('telegram:1'), by('telegram:2')],
  ['that what failed is healthy by now', failed, healed],
];
for (const [name, a, b] of edits) test(`an edit for ${name}`, () => assert.notEqual(hash(a), hash(b)));

/* Deliveries and pacing. */

const stuck: [string, Partial<Delivery>, boolean][] = [
  ['not tried yet', { attempts: 0, posting: false }, false],
  ['being tried for the first time', { attempts: 1, posting: true }, false],
  ['tried in vain', { attempts: 1, posting: false }, true],
  ['being tried again', { attempts: 2, posting: true }, true],
  ['posted', { attempts: 2, posting: false, message: '1' }, false],
];
for (const [name, delivery, want] of stuck)
  test(`a message ${name} is ${want ? '' : 'not '}stuck`, () => assert.equal(isStuck(delivery as Delivery), want));

test('a Notice that somebody else completed is known as posted; what we posted ourselves is not taken back', () => {
  const deliveries = createDeliveries();
  assert.equal(deliveries.of(aNoticeOf([aFix()])).message, undefined);
  const own = deliveries.of(aNoticeOf([aFix()], {}, { message: '1', shown: 'old' }));
  assert.equal(own.message, '1');
  own.shown = 'new';
  assert.equal(deliveries.of(aNoticeOf([aFix()], {}, { message: '1', shown: 'old' })).shown, 'new');
});

for (const [about, most, mayAsk] of [
  ['counts', 6, false],
  ['state', 12, false],
  ['state', 10, true],
  ['press', 12, true],
] as const)
  test(`a chat has room for ${most} edits a minute when they are about ${about}${mayAsk ? ' and somebody may be asked' : ''}`, () => {
    const pacing = createPacing();
    for (let n = 0; n < most; n++) {
      assert.equal(pacing.waitMs(team, about, 1_000, mayAsk), 0, `edit ${n + 1}`);
      pacing.spend(team, 1_000);
    }
    assert.equal(pacing.waitMs(team, about, 11_000, mayAsk), 50_000);
  });

test('a state that changed while the one before was being saved is saved as well', async () => {
  const delivery: Delivery = { message: '1', shown: 'a', attempts: 1, saved: false, posting: false };
  const api = { patch: async () => ({}) as never };
  const status = createNoticeStatus({ api, clock: fakeClock(), log: silentLog, namespace: 'tapfix' });
  const saving = status.save(aNoticeOf([aFix()]), delivery);
  delivery.shown = 'b';
  await saving;
  assert.equal(delivery.saved, false);
  await status.save(aNoticeOf([aFix()]), delivery);
  assert.equal(delivery.saved, true);
});

test('a list proves the absence of a Notice that is older than a minute, and knows one that was made anew', async () => {
  const clock = fakeClock();
  const { store, list, apply } = noticeStore(clock);
  const gone: string[] = [];
  store.subscribe({ onList: (_, those) => gone.push(...those.map(({ metadata }) => metadata.name)), onChange() {} });
  list([]);
  const notice = aNoticeOf([aFix()]);
  const { name, namespace = '' } = notice.metadata;
  store.put({ ...notice, metadata: { ...notice.metadata, resourceVersion: '9' } });
  list([]);
  assert.deepEqual(gone, []);
  apply({ type: 'upsert', view: { ...notice, metadata: { ...notice.metadata, uid: 'anew', resourceVersion: '5' } } });
  assert.equal(store.named(namespace, name)?.metadata.uid, 'anew');
  await clock.advance(60_000);
  list([]);
  assert.deepEqual(gone, [name]);
});

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

test('the answer to a press is shown at once however much happens in the chat, and is one of its twelve edits a minute', async () => {
  const desk = aDesk({ config: { approval: { ...aConfig().approval, confirm: ['RolloutUndo'] } } });
  const { outbox, confirms } = desk.startWith([aFix(), web]);
  await desk.clock.advance(5_100);
  const applied = (ready: number) =>
    aFix({
      n: 2,
      name: 'web',
      phase: 'Applied',
      approval: approvedByAda,
      status: { sightings: { count: 1, lastSeen: at('02:13:00'), ready, desired: 30 } },
    });
  for (let ready = 1; ready <= 14; ready++) {
    outbox.onFix(upsert(applied(ready)));
    await desk.clock.advance(100);
  }
  assert.equal(desk.edits().length, 10);
  const notice = desk.server.all()[0]!.metadata.name;
  confirms.arm(uidOf(1), {
    by: 'telegram:123456789',
    name: 'Ada',
    untilMs: desk.clock.now() + 30_000,
    channel: 'telegram',
    notice,
  });
  await desk.clock.advance(100);
  assert.equal(desk.edits().length, 11);
  outbox.onFix(upsert(aFix({ approval: approvedByAda })));
  await desk.clock.advance(100);
  assert.equal(desk.edits().length, 12);
  for (let ready = 15; ready <= 30; ready++) {
    outbox.onFix(upsert(applied(ready)));
    await desk.clock.advance(2_000);
  }
  assert.equal(desk.edits().length, 12);
  await desk.clock.advance(60_000);
  assert.match(desk.edits().at(-1)!.join(), /30\/30 ready/);
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
  const server = fakeNotices();
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
