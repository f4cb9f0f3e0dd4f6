import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sight } from '../../../../src/kube/contact.ts';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { iso } from '../../../../src/lib/clock.ts';
import { createSelfWatch } from '../../../../src/notices/outbox/self-watch.ts';
import { aFix } from '../../../support/fixes.ts';
import { noticeStore } from '../../../support/stores.ts';
import { aDesk, silentLog, upsert } from '../desk.ts';

/* From what the watches see to what is on the phone, through kills and lost answers. */

const routes = [{ namespaces: ['payments'], chat: '-100900' }];

function aHouse(over: Parameters<typeof aDesk>[0] = {}) {
  const desk = aDesk(over);
  const { clock, server, config } = desk;
  const counted: string[] = [];
  let sights: Sight[] = [];

  /** A process with an outbox and a self-watch; `isLate`: its watch of Notices lags behind. */
  function start(fixes: Remediation[] = [], isLate = false) {
    const { outbox, kill } = desk.startWith(fixes);
    const stop = new AbortController();
    const late = noticeStore(clock); // its own view of the Notices, if that lags behind
    const notices = isLate ? late.store : outbox.stores.notices;
    const selfWatch = createSelfWatch({
      api: server.api,
      notices,
      clock,
      log: silentLog,
      current: () => config,
      channels: () => new Map([['telegram', undefined]]),
      namespace: 'tapfix',
      sights: () => sights,
      onBlindness: (what) => counted.push(what),
    });
    server.watch((change) => {
      outbox.onNotice(change);
    });
    notices.subscribe(selfWatch.listener);
    if (isLate) late.list(server.all());
    else notices.repeat();
    void selfWatch.run(stop.signal);
    return { outbox, kill: () => (kill(), stop.abort()) };
  }

  /** All watches were without contact for so long, until now. */
  function wasAway(ms: number): void {
    const gaps = [{ fromMs: clock.now() - ms, untilMs: clock.now(), why: 'unreachable' as const }];
    sights = [
      { kind: 'Pod', synced: true, gaps },
      { kind: 'Event', synced: true, gaps },
    ];
  }
  const see = (...all: Sight[]): void => void (sights = all);
  return { ...desk, start, wasAway, see, counted };
}

const foundAt = (ms: number, n: number, namespace = 'shop'): Remediation =>
  aFix({ n, name: `w${n}`, namespace, incident: { firstSeen: iso(ms) } });

test('blindness is said once in each chat, with what was found for it, and counted once', async () => {
  const house = aHouse({
    config: { channels: { telegram: { chat: '-100500', routes, apiRoot: 'http://localhost' } } },
  });
  const backMs = house.clock.now();
  house.wasAway(420_000);
  const { outbox } = house.start([foundAt(backMs - 500_000, 1)]); // seen before
  await house.clock.advance(10_000);
  const words = 'tapfix could not see the cluster from 03:05 to 03:12 CET (API server unreachable). Caught up';
  const own = house.said.filter(({ headlines }) => headlines[0]!.startsWith('tapfix'));
  assert.deepEqual(own.map(({ what, chat, headlines }) => [what, chat, headlines[0]]).sort(), [
    ['post', '-100500', `${words}.`],
    ['post', '-100900', `${words}.`],
  ]);
  for (const fix of [
    foundAt(backMs + 1_000, 2),
    foundAt(backMs + 3_000, 3),
    foundAt(backMs + 16_000, 4),
    foundAt(backMs + 1_000, 5, 'payments'),
  ])
    outbox.onFix(upsert(fix));
  await house.clock.advance(60_000);
  const newest = (chat: string) =>
    house.said.findLast((one) => one.chat === chat && one.headlines[0]!.startsWith('tapfix'))!;
  assert.deepEqual(
    [newest('-100500'), newest('-100900')].map(({ what, headlines }) => `${what} ${headlines[0]}`),
    [`edit ${words}: 2 incidents.`, `edit ${words}: 1 incident.`],
  );
  assert.deepEqual(house.counted, ['blind']);
});

test('ten minutes later its number stays, whatever becomes of the Remediations', async () => {
  const house = aHouse();
  house.wasAway(420_000);
  const fix = foundAt(house.clock.now() + 1_000, 2);
  const { outbox } = house.start([fix]);
  await house.clock.advance(700_000);
  const before = house.said.length;
  outbox.onFix({ type: 'gone', namespace: 'shop', name: fix.metadata.name, uid: fix.metadata.uid });
  outbox.refresh();
  await house.clock.advance(60_000);
  const after = house.said.slice(before).filter(({ headlines }) => headlines[0]!.startsWith('tapfix'));
  assert.deepEqual(after, []);
});

for (const fault of ['lost before', 'lost after'] as const)
  test(`an answer that is ${fault} the Notice is made: said once all the same`, async () => {
    const house = aHouse();
    house.server.fail('create', fault);
    house.wasAway(420_000);
    house.start();
    await house.clock.advance(30_000);
    assert.equal(house.posts().length, 1);
    assert.deepEqual(house.counted, ['blind']);
  });

test('an answer that is lost and a watch that lags: tried again once, and then it is known to be there', async () => {
  const house = aHouse();
  house.server.fail('create', 'lost after');
  house.wasAway(420_000);
  house.start([], true);
  await house.clock.advance(30_000);
  assert.equal(house.server.calls.filter((call) => call === 'create').length, 2);
  assert.equal(house.posts().length, 1);
});

test('killed after the Notice was made and before it was sent: the next process sends it, once', async () => {
  const house = aHouse();
  house.vendor.down = new Error('vendor is down');
  house.wasAway(420_000);
  const first = house.start();
  await house.clock.advance(2_000);
  first.kill();
  assert.equal(house.posts().length, 0);
  house.vendor.down = undefined;
  house.see({ kind: 'Pod', synced: true, gaps: [] }); // a new process was never blind
  house.start();
  await house.clock.advance(60_000);
  assert.deepEqual(house.posts(), [
    ['tapfix could not see the cluster from 03:05 to 03:12 CET (API server unreachable). Caught up.'],
  ]);
});

test('started again: not a word about what was said', async () => {
  const house = aHouse();
  house.wasAway(420_000);
  house.start().kill();
  await house.clock.advance(10_000);
  house.start();
  await house.clock.advance(300_000);
  assert.equal(house.posts().length, 1);
});

test('it counts against the limit of new messages like any other, and waits for its turn', async () => {
  const house = aHouse({
    config: { notices: { coalesce: 0, maxPerMinute: 1, storm: { incidents: 10 }, reminders: [] } },
  });
  house.start([foundAt(house.clock.now() - 900_000, 1)]);
  await house.clock.advance(5_000);
  assert.equal(house.posts().length, 1);
  house.wasAway(420_000);
  await house.clock.advance(40_000);
  assert.equal(house.posts().length, 1);
  await house.clock.advance(30_000);
  assert.equal(house.posts().length, 2);
});

test('what cannot be seen is said while it lasts, and its end in the same message', async () => {
  const house = aHouse();
  const nowMs = house.clock.now();
  const trouble = {
    sinceMs: nowMs - 70_000,
    failingSinceMs: nowMs - 69_000,
    failedAtMs: nowMs,
    why: 'forbidden' as const,
  };
  const events: Sight = { kind: 'Event', namespace: 'shop', synced: true, gaps: [] };
  house.see({ kind: 'Pod', namespace: 'shop', synced: true, gaps: [], trouble }, events);
  house.start();
  await house.clock.advance(120_000);
  house.see({ kind: 'Pod', namespace: 'shop', synced: true, gaps: [] }, events);
  await house.clock.advance(120_000);
  assert.deepEqual(
    house.said.map(({ what, headlines }) => `${what} ${headlines[0]}`),
    [
      'post tapfix cannot see pods in shop since 03:11 CET: forbidden',
      'edit tapfix could not see pods in shop from 03:11 to 03:14 CET (forbidden). It can again.',
    ],
  );
  assert.deepEqual(house.counted, ['unseen']);
});

test('a day later the Notice is gone, and nothing is said for it', async () => {
  const house = aHouse();
  house.wasAway(420_000);
  const { kill } = house.start();
  await house.clock.advance(60_000);
  assert.equal(house.server.all().length, 1);
  kill();
  await house.clock.advance(86_400_000);
  house.see({ kind: 'Pod', synced: true, gaps: [] });
  house.start();
  await house.clock.advance(10_000);
  assert.equal(house.server.all().length, 0);
  assert.equal(house.said.length, 1);
});
