import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryLater } from '../../../../src/lib/errors.ts';
import { aConfig, aFix, approvedByAda, at, uidOf } from '../../../support/fixes.ts';
import { aDesk, gone, type Said, upsert } from '../desk.ts';

/* At most four new messages in any minute in a chat, and none of them lost. */

const minuteMs = 60_000;
const posts = (said: readonly Said[]): number[] => said.filter(({ what }) => what === 'post').map(({ atMs }) => atMs);
const mostInAMinute = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + minuteMs).length));

test('ten topics of one chat after an outage: the limit holds, and all are told', async () => {
  const routes = Array.from({ length: 10 }, (_, n) => ({
    namespaces: [`team-${n}`],
    chat: '-100500',
    thread: `${n + 1}`,
  }));
  const desk = aDesk({ config: { channels: { telegram: { chat: '-100500', routes, apiRoot: 'http://x' } } } });
  desk.vendor.down = new RetryLater('Telegram cannot be reached', 5_000);
  desk.startWith(Array.from({ length: 10 }, (_, n) => aFix({ n: n + 1, name: 'api', namespace: `team-${n}` })));
  await desk.clock.advance(2 * minuteMs);
  desk.vendor.down = undefined;
  await desk.clock.advance(5 * minuteMs);
  assert.equal(posts(desk.said).length, 10);
  assert.equal(mostInAMinute(posts(desk.said)), 4);
});

test('a message whose Remediation is gone still counts', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([]);
  for (let n = 1; n <= 8; n++) {
    const fix = aFix({ n, name: `svc-${n}`, namespace: `pr-${n}` });
    outbox.onFix(upsert(fix));
    await desk.clock.advance(5_100);
    outbox.onFix(gone(fix));
    await desk.clock.advance(100);
  }
  assert.ok(mostInAMinute(posts(desk.said)) <= 4, String(mostInAMinute(posts(desk.said))));
});

test('more than a message can hold: the others go into the next one', async () => {
  const desk = aDesk();
  desk.startWith(Array.from({ length: 1_001 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}` })));
  await desk.clock.advance(minuteMs);
  assert.equal(desk.posts().length, 2);
  const members = desk.server.all().map(({ spec }) => spec.members.length);
  assert.deepEqual(members.sort(), [1, 1_000]);
});

test('what would join a message that leaves just then gets one of its own, with its own sound', async () => {
  const desk = aDesk();
  const { patch } = desk.server.api;
  desk.server.api.patch = async (...call: Parameters<typeof patch>) => {
    if (!call[0].subresource) await desk.clock.sleep(300); // the members of a Notice grow slowly
    return patch(...call) as never;
  };
  desk.vendor.down = new RetryLater('down', 5_000);
  const { outbox } = desk.startWith([aFix({ incident: { severity: 'warning' } })]);
  await desk.clock.advance(9_900);
  outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(4_000);
  desk.vendor.down = undefined;
  await desk.clock.advance(10_000);
  const first = desk.said[0]!;
  assert.equal(first.atMs - Date.parse(at('02:12:40')) >= 15_000, true);
  const withWeb = desk.said.find(({ headlines }) => headlines.some((line) => /(^|\d )web /.test(line)));
  assert.equal(withWeb?.what, 'post');
});

test('an attempt that failed is no message of the last minute', async () => {
  const notices = { coalesce: 5_000, maxPerMinute: 1, storm: { incidents: 10 }, reminders: [] };
  const desk = aDesk({ config: { notices } });
  desk.vendor.down = new RetryLater('Telegram cannot be reached', 5_000);
  const fix = aFix();
  const { outbox } = desk.startWith([fix]);
  await desk.clock.advance(6_000);
  outbox.onFix(gone(fix));
  desk.vendor.down = undefined;
  outbox.onFix(upsert(aFix({ n: 2, name: 'web' })));
  await desk.clock.advance(10_000);
  assert.deepEqual(desk.posts(), [['web is down, 0/3 ready']]);
});

test('forty messages to a vendor that does not answer delay nobody in another chat, nor at another vendor', async () => {
  const routes = Array.from({ length: 40 }, (_, n) => ({ namespaces: [`team-${n}`], chat: `-${n + 1}` }));
  const channels = {
    telegram: { chat: '-100500', routes, apiRoot: 'http://x' },
    slack: { channel: 'C1', routes: [], apiUrl: 'http://x' },
  };
  const desk = aDesk({ config: { channels } });
  desk.vendor.hangs = (chat) => chat !== '-100500' && chat !== 'C1';
  const stuck = Array.from({ length: 40 }, (_, n) => aFix({ n: n + 1, name: 'api', namespace: `team-${n}` }));
  const { outbox } = desk.startWith(stuck);
  await desk.clock.advance(6_000);
  outbox.onFix(upsert(aFix({ n: 99, name: 'web' })));
  await desk.clock.advance(6_000);
  assert.deepEqual(
    desk.said.map(({ chat, headlines }) => [chat, headlines[0]]),
    [
      ['C1', '40 incidents in one minute, prod-eu'],
      ['-100500', 'web is down, 0/3 ready'],
    ],
  );
});

test('whatever happens in a chat, it is edited at most twelve times in any minute, and shows the newest in the end', async () => {
  const desk = aDesk();
  const fixes = Array.from({ length: 5 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}` }));
  const { outbox } = desk.startWith(fixes);
  await desk.clock.advance(6_000);
  for (let n = 0; n < 120; n++) {
    const fix = aFix({
      n: (n % 5) + 1,
      name: `svc-${n % 5}`,
      status: { preview: { diff: `image ${n}`, targetHash: `${n}`, at: at('02:12:36') } },
    });
    outbox.onFix(upsert(fix));
    await desk.clock.advance(1_000);
  }
  const edits = desk.said.filter(({ what }) => what === 'edit').map(({ atMs }) => atMs);
  assert.ok(edits.length >= 12 && mostInAMinute(edits) <= 12, String(mostInAMinute(edits)));
  await desk.clock.advance(120_000);
  const { length } = desk.said;
  outbox.refresh();
  await desk.clock.advance(60_000);
  assert.equal(desk.said.length, length, 'the last edit showed the newest');
});

const web = aFix({ n: 2, name: 'web' });

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
    shown: '',
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

for (const { name, byMs } of [
  { name: 'back an hour', byMs: -3_600_000 },
  { name: 'back ten seconds', byMs: -10_000 },
  { name: 'forward an hour', byMs: 3_600_000 },
])
  test(`the clock is set ${name} after one 429: the chat waits at most twice as long as the vendor asked`, async () => {
    const desk = aDesk();
    desk.vendor.down = new RetryLater('Telegram asks to wait 20 s', 20_000);
    desk.startWith([aFix()]);
    await desk.clock.advance(6_000);
    assert.equal(desk.vendor.tried, 1);
    desk.vendor.down = undefined;
    desk.clock.set(byMs);
    await desk.clock.advance(40_000);
    assert.equal(desk.posts().length, 1);
  });

test('the clock is set back an hour before a card is posted, and before one is edited: both come in seconds', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  desk.clock.set(-3_600_000);
  await desk.clock.advance(11_000);
  assert.equal(desk.posts().length, 1);
  const storm = Array.from({ length: 30 }, (_, n) => aFix({ n: n + 2, name: `svc-${n}` }));
  for (const fix of storm) outbox.onFix(upsert(fix));
  await desk.clock.advance(30_000);
  const before = desk.edits().length;
  desk.clock.set(-3_600_000);
  for (const fix of storm) outbox.onFix(upsert({ ...fix, spec: { ...fix.spec, approval: approvedByAda } }));
  await desk.clock.advance(2 * minuteMs);
  assert.ok(desk.edits().length > before, 'a storm that waits for its turn is edited');
});
