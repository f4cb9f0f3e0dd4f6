import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { endOf, type Kept, mostPerNamespace, overdue } from '../../../src/controller/retention.ts';
import { iso } from '../../../src/lib/clock.ts';
import { undoWorld, type World } from './world.ts';

const hour = 3_600_000;
const nowMs = 1_000 * hour;
const retentionMs = 168 * hour;

const kept = (name: string, endedAgoMs: number | undefined, over: Partial<Kept> = {}): Kept => ({
  namespace: 'shop',
  name,
  uid: `uid-${name}`,
  resourceVersion: '1',
  isOurs: true,
  incident: 'shop/Deployment/checkout',
  follows: undefined,
  ended: endedAgoMs === undefined ? undefined : { sinceMs: nowMs - endedAgoMs, notBeforeMs: 0 },
  ...over,
});
const names = (all: readonly Kept[]): string[] => overdue(all, retentionMs, nowMs).map(({ name }) => name);
const week = retentionMs;
const follows = { name: 'first', uid: 'uid-first' };
const many = (count: number, agoMs: number, namespace = 'shop'): Kept[] =>
  Array.from({ length: count }, (_, n) => kept(`${namespace}-${n}`, agoMs + n, { namespace }));

const cases: { name: string; all: Kept[]; want: string[] }[] = [
  { name: 'over for the whole of it', all: [kept('old', week)], want: ['old'] },
  { name: 'over for a moment less', all: [kept('young', week - 1)], want: [] },
  { name: 'its episode is open, however old it is', all: [kept('open', undefined)], want: [] },
  { name: "another installation's", all: [kept('theirs', 2 * week, { isOurs: false })], want: [] },
  {
    name: 'it may still turn out to have helped',
    all: [kept('failed', week, { ended: { sinceMs: 0, notBeforeMs: nowMs + 1 } })],
    want: [],
  },
  {
    name: 'one that is open follows it',
    all: [kept('first', week), kept('next', undefined, { follows })],
    want: [],
  },
  {
    name: 'one of another namespace says that it follows it',
    all: [kept('first', week), kept('next', undefined, { follows, namespace: 'mail' })],
    want: ['first'],
  },
  {
    name: 'one of another incident says that it follows it',
    all: [kept('first', week), kept('next', undefined, { follows, incident: 'shop/Deployment/web' })],
    want: ['first'],
  },
  {
    name: 'one that is over follows it',
    all: [kept('first', week), kept('next', 1, { follows })],
    want: ['first'],
  },
  { name: 'two hundred are not too many', all: many(mostPerNamespace, 1), want: [] },
  {
    name: 'of two more than two hundred the two that ended first',
    all: many(mostPerNamespace + 2, 1),
    want: ['shop-201', 'shop-200'],
  },
  { name: 'each namespace has its own two hundred', all: [...many(150, 1), ...many(150, 1, 'mail')], want: [] },
  {
    name: 'those that are open count, and stay',
    all: [...Array.from({ length: 200 }, (_, n) => kept(`open-${n}`, undefined)), kept('over', 5)],
    want: ['over'],
  },
  { name: 'what goes by age makes room', all: [kept('old', week), ...many(mostPerNamespace, 1)], want: ['old'] },
];
for (const { name, all, want } of cases) test(`retention: ${name}`, () => assert.deepEqual(names(all), want));

const at = (ms: number, type: string, status = 'True') => ({
  type,
  status,
  reason: type,
  message: '',
  lastTransitionTime: iso(ms),
});
const fixWith = (phase: string, ...conditions: object[]): Remediation =>
  ({ metadata: {}, spec: {}, status: { phase, conditions } }) as unknown as Remediation;
const ends: [string, Remediation, Kept['ended']][] = [
  [
    'recovered and cleared: since the controller saw that, whatever the watcher wrote',
    fixWith('Recovered', at(5_000, 'Recovered'), at(0, 'IncidentCleared'), at(9_000, 'SeenCleared')),
    { sinceMs: 9_000, notBeforeMs: 0 },
  ],
  ['cleared, and not seen by the controller', fixWith('Recovered', at(0, 'IncidentCleared')), undefined],
  ['rejected, and the trouble lasts', fixWith('Rejected', at(5_000, 'Rejected')), undefined],
  ['cleared, and not over yet', fixWith('Applied', at(9_000, 'IncidentCleared'), at(9_000, 'SeenCleared')), undefined],
  [
    'no longer cleared',
    fixWith('Resolved', at(9_000, 'IncidentCleared', 'False'), at(9_000, 'SeenCleared')),
    undefined,
  ],
  [
    'failed after it was applied: half an hour more',
    fixWith(
      'Failed',
      at(1_000, 'Applied'),
      at(5_000, 'Failed'),
      at(9_000, 'IncidentCleared'),
      at(9_000, 'SeenCleared'),
    ),
    { sinceMs: 9_000, notBeforeMs: 1_805_000 },
  ],
  [
    'failed, and never applied',
    fixWith('Failed', at(5_000, 'Failed'), at(9_000, 'IncidentCleared'), at(9_000, 'SeenCleared')),
    { sinceMs: 9_000, notBeforeMs: 0 },
  ],
];
for (const [name, fix, want] of ends) test(`the end of an episode: ${name}`, () => assert.deepEqual(endOf(fix), want));

/** Recovered, and cleared by the watcher, at this moment or at the time it says. */
async function overWorld(clearedAtMs?: number): Promise<World> {
  const world = undoWorld();
  world.config.retention = hour;
  const { stop } = world.start();
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(40_000);
  assert.equal(world.phase(), 'Recovered');
  stop();
  const conditions = [...world.fix().status!.conditions!, at(clearedAtMs ?? world.clock.now(), 'IncidentCleared')];
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { status: { conditions } });
  return world;
}
const deletions = ({ server }: World) =>
  server.calls.filter(({ verb, kind }) => verb === 'delete' && kind === 'Remediation');

test('a finished Remediation goes with the first pass after its time, and not before', async () => {
  const world = await overWorld();
  world.start();
  await world.clock.advance(hour - 60_000);
  assert.ok(world.fix());
  await world.clock.advance(180_000);
  assert.equal(world.fix(), undefined);
  assert.equal(deletions(world).length, 1);
});

test('a transition time of long ago, written by the watcher, does not age a record', async () => {
  const world = await overWorld(0);
  const fromMs = world.clock.now();
  world.start();
  await world.clock.advance(5_000);
  const seen = world.fix().status?.conditions?.find(({ type }) => type === 'SeenCleared');
  assert.ok(Date.parse(seen!.lastTransitionTime) >= fromMs, 'the time is the controller’s own');
  await world.clock.advance(hour - 60_000);
  assert.ok(world.fix(), 'its hour is not over');
  await world.clock.advance(180_000);
  assert.equal(world.fix(), undefined);
});

test('one that changed in the last moment is left alone', async () => {
  const world = await overWorld();
  let isChanged = false;
  world.server.hooks.before = ({ verb, kind }) => {
    if (verb !== 'delete' || kind !== 'Remediation' || isChanged) return;
    isChanged = true;
    world.server.change('Remediation', 'shop', world.fix().metadata.name, { status: { conditions: [] } });
  };
  world.start();
  await world.clock.advance(hour + 240_000);
  assert.deepEqual([isChanged, world.fix() !== undefined, deletions(world).length], [true, true, 1]);
});

test('a refusal to delete does no harm, and is tried again', async () => {
  const world = await overWorld();
  let refusals = 0;
  world.server.hooks.before = ({ verb, kind }) => {
    if (verb === 'delete' && kind === 'Remediation' && ++refusals < 3) throw new Error('not now');
  };
  world.start();
  await world.clock.advance(hour + 300_000);
  assert.deepEqual([refusals, world.fix()], [3, undefined]);
});
