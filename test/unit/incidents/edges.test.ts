import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gone, workloadHealth } from '../../../src/health/workload-health.ts';
import { decideCleared, decidePending, type IncidentFacts, type PendingFacts } from '../../../src/incidents/decide.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { fixStore } from '../../support/stores.ts';
import { createEpisodes } from '../../../src/incidents/episodes.ts';
import { fold, type Incident, type SeenClass } from '../../../src/incidents/incident.ts';
import { remediationName } from '../../../src/incidents/key.ts';
import { sightingsOf, writeCleared, writeSightings } from '../../../src/incidents/sightings.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { detectEvent } from '../../../src/signals/detect.ts';
import { aConfig } from '../../support/config.ts';
import { aFix, aQuotaFix, condition, uidOf } from '../../support/fixes.ts';
import { aStreet, blockedByQuota, failedCreate, unblock } from '../../support/street.ts';
import { anEvent } from '../../support/views.ts';

/* Rules of street 1 that only show at their edges. */

const healthy = workloadHealth({ desired: 3, ready: 3, settled: true }, [], 0);
const nowMs = 1_000_000;
const held = (ms: number) => ({ sinceMs: nowMs - ms, restarts: 0, readAtMs: nowMs });
const facts = (over: Partial<IncidentFacts>): IncidentFacts => ({
  class: 'QuotaExceeded',
  longestUptimeMs: 0,
  live: healthy,
  stable: held(30_000),
  config: aConfig(),
  nowMs,
  ...over,
});
const aClass = (name: string, specificity: number, over: Partial<SeenClass> = {}): SeenClass => ({
  class: name,
  specificity,
  severity: 'critical',
  forMs: 0,
  readable: true,
  reason: '',
  message: '',
  firstMs: 0,
  lastMs: nowMs,
  dueMs: nowMs,
  count: 1,
  ...over,
});
const watchedFor = (stableSeconds: number) => aFix({ phase: 'Failed', status: { execution: { stableSeconds } } });

const ends: [string, Partial<IncidentFacts>, boolean][] = [
  ['healthy for the window', {}, true],
  ['healthy for almost the window', { stable: held(29_999) }, false],
  ['not healthy', { live: { ...healthy, healthy: false } }, false],
  ['never seen healthy', { stable: undefined }, false],
  [
    'a crash loop, for less than twice its life',
    { class: 'CrashLoop', longestUptimeMs: 60_000, stable: held(119_999) },
    false,
  ],
  ['a crash loop, for twice its life', { class: 'CrashLoop', longestUptimeMs: 60_000, stable: held(120_000) }, true],
  ['for less than the controller watches its fix', { holder: watchedFor(120), stable: held(119_999) }, false],
  ['for as long as the controller watches its fix', { holder: watchedFor(120), stable: held(120_000) }, true],
  [
    'while it is approved: the controller speaks first',
    { holder: aFix({ phase: 'Approved' }), stable: held(600_000) },
    false,
  ],
  ['while it is being applied', { holder: aFix({ phase: 'Applying' }), stable: held(600_000) }, false],
  ['while the applied fix is watched', { holder: aFix({ phase: 'Applied' }), stable: held(600_000) }, false],
  ['rejected', { holder: aFix({ phase: 'Rejected' }) }, true],
];
for (const [name, over, cleared] of ends)
  test(`the episode is ${cleared ? '' : 'not '}over: ${name}`, () =>
    assert.equal(decideCleared(facts(over)).cleared, cleared));

const beingFixed = (stableFor: number) => ({
  live: { ...healthy, healthy: false },
  holder: aFix({ phase: 'Applied' }),
  config: { ...aConfig(), recovery: { stableFor, timeout: 600_000 } },
});
const looks: [string, Partial<IncidentFacts>, number][] = [
  ['broken, and nobody does anything', { live: { ...healthy, healthy: false } }, 5_000],
  ['a fix is watched for half a minute', beingFixed(30_000), 5_000],
  ['a fix is watched for three seconds: how many are ready must be known before', beingFixed(3_000), 1_000],
];
for (const [name, over, againInMs] of looks)
  test(`looked at again in ${againInMs / 1000} s: ${name}`, () =>
    assert.equal(decideCleared(facts(over)).againInMs, againInMs));

const sick = { ...healthy, healthy: false };
const crashing = { class: 'CrashLoop', live: { ...sick, troubles: ['CrashLoop'] } };
const loop = aClass('CrashLoop', 60);
const stuck = aClass('RolloutStuck', 20);
const own = aClass('Foo', 0, { readable: false, forMs: 600_000 });
const half = 1_800_000; // three times ten minutes
const untold: [string, Partial<PendingFacts>, number, object][] = [
  ['crashing', crashing, 0, { do: 'tell', as: loop }],
  ['a rollout under way is no crash loop', { class: 'CrashLoop', live: sick }, 900_000, { do: 'wait', ms: 5_000 }],
  ['nor is it one for ever', { class: 'CrashLoop', live: sick }, 900_001, { do: 'forget', because: 'untrue' }],
  ['gone', { live: gone }, 0, { do: 'forget', because: 'gone' }],
  ['healthy for a moment', { stable: held(1_000) }, 0, { do: 'wait', ms: 1_450 }],
  ['healthy for most of the window', { stable: held(29_000) }, 0, { do: 'wait', ms: 1_000 }],
  ['healthy for the window', {}, 0, { do: 'forget', because: 'healed' }],
  [
    'the most specific is no longer true, another is',
    { seen: [loop, stuck], live: { ...sick, troubles: ['RolloutStuck'] } },
    0,
    { do: 'tell', as: stuck },
  ],
  [
    'both are true',
    { seen: [loop, stuck], live: { ...sick, troubles: ['RolloutStuck', 'CrashLoop'] } },
    0,
    { do: 'tell', as: loop },
  ],
  [
    'one of them has been patient for long enough',
    {
      ...crashing,
      seen: [{ ...loop, dueMs: nowMs + 9 }, stuck],
      live: { ...sick, troubles: ['RolloutStuck', 'CrashLoop'] },
    },
    0,
    { do: 'tell', as: { ...loop, dueMs: nowMs + 9 } },
  ],
  [
    'the only one that is true has not',
    { seen: [{ ...loop, dueMs: nowMs + 9 }, stuck], live: { ...sick, troubles: ['CrashLoop'] } },
    0,
    { do: 'wait', ms: 9 },
  ],
  ['what cannot be read, seen once', { seen: [own], live: sick }, 0, { do: 'wait', ms: half }],
  [
    'what cannot be read, seen twice',
    { seen: [{ ...own, count: 2 }], live: healthy },
    0,
    { do: 'tell', as: { ...own, count: 2 } },
  ],
  [
    'what cannot be read, never seen again',
    { seen: [{ ...own, lastMs: nowMs - half }], live: sick },
    half,
    { do: 'forget', because: 'unseen' },
  ],
  [
    'what cannot be read, seen twice long ago',
    { seen: [{ ...own, count: 2, lastMs: nowMs - half }], live: healthy },
    half,
    { do: 'forget', because: 'unseen' },
  ],
  [
    'healed of what can be read, while a second sighting of the other may come',
    { seen: [loop, own] },
    0,
    { do: 'wait', ms: half },
  ],
];
for (const [name, over, silentMs, step] of untold)
  test(`when patience is over: ${name}`, () =>
    assert.deepEqual(decidePending({ seen: [loop], ...facts(over), ...over, lastSeenMs: nowMs - silentMs }), step));

const version = (fix: Remediation, resourceVersion: string): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, resourceVersion },
});
const over = { conditions: [condition('IncidentCleared', '02:50:00')] };
const key = aFix().spec.incident.key;

test('the newest Remediation whose episode is not over holds the key', () => {
  const { store, list } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  list([aFix({ n: 2 }), aFix({ n: 10 }), aFix({ n: 11, ...over })]);
  assert.equal(episodes.holderOf(key)?.metadata.uid, uidOf(10));
  assert.deepEqual(
    episodes.ofKey(key).map(({ metadata }) => metadata.uid),
    [11, 10, 2].map(uidOf),
  );
  assert.deepEqual(
    episodes.open().map(({ metadata }) => metadata.uid),
    [2, 10].map(uidOf),
  );
});

test('an older view does not take back what is known', () => {
  const { store } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  episodes.remember(version(aFix(over), '10'));
  episodes.remember(version(aFix(), '9'));
  assert.equal(episodes.holderOf(key), undefined);
  episodes.remember(version(aFix(), '11'));
  assert.equal(episodes.holderOf(key)?.metadata.uid, uidOf(1));
});

test('what is missing from a list was deleted while nobody looked', () => {
  const { store, list } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  list([aFix()]);
  list([]);
  assert.equal(episodes.holderOf(key), undefined);
});

const signal = (failureClass: string) => ({
  class: failureClass,
  namespace: 'shop',
  object: { kind: 'Pod', name: 'p', uid: 'p' },
  reason: 'R',
  message: failureClass,
});
const object = { kind: 'Deployment', name: 'checkout', uid: 'd' };
const seen = (failureClass: string, specificity: number, atMs: number, forMs = 30_000) =>
  ({
    key,
    namespace: 'shop',
    object,
    signal: signal(failureClass),
    row: { severity: 'critical', readable: true, specificity, forMs },
    nowMs: atMs,
  }) as const;
const first = fold(undefined, seen('CrashLoop', 50, 0));
const listed = { ...seen('CrashLoop', 50, 5_000), signal: { ...signal('CrashLoop'), listed: true } };

const folds: [string, Incident, Partial<Incident>, string[]][] = [
  ['the first one begins its patience', first, { dueMs: 30_000, firstSeenMs: 0, count: 1 }, ['CrashLoop 1']],
  [
    'the same again is counted',
    fold(first, seen('CrashLoop', 50, 5_000)),
    { dueMs: 30_000, lastSeenMs: 5_000, count: 2 },
    ['CrashLoop 2'],
  ],
  ['a list that still has it is no second sighting', fold(first, listed), { count: 2 }, ['CrashLoop 1']],
  [
    'a vaguer class is a symptom',
    fold(first, seen('RolloutStuck', 10, 5_000)),
    { count: 2, dueMs: 30_000 },
    ['CrashLoop 1', 'RolloutStuck 1'],
  ],
  [
    'a more specific class names it',
    fold(first, seen('OOMKilled', 60, 5_000)),
    { dueMs: 30_000 },
    ['OOMKilled 1', 'CrashLoop 1'],
  ],
  [
    'and may make it due earlier',
    fold(first, seen('OOMKilled', 60, 5_000, 0)),
    { dueMs: 5_000 },
    ['OOMKilled 1', 'CrashLoop 1'],
  ],
  [
    'a signal without uid keeps the one that is known',
    fold(first, { ...seen('CrashLoop', 50, 1), object: { ...object, uid: '' } }),
    { object },
    ['CrashLoop 2'],
  ],
  [
    'what was there at the start stays so',
    fold(fold(undefined, { ...listed, signal: { ...listed.signal, atStart: true } }), seen('OOMKilled', 60, 1)),
    { atStart: true },
    ['OOMKilled 1', 'CrashLoop 1'],
  ],
];
for (const [name, incident, want, classes] of folds)
  test(name, () => {
    assert.deepEqual({ ...incident, ...want }, incident);
    assert.deepEqual(
      incident.seen.map((one) => `${one.class} ${one.count}`),
      classes,
    );
  });

test('after a restart a signal goes on counting, and what is more specific is known to be so', () => {
  const { store, list } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  list([aFix()]);
  const rowOf = (name: string) => classOf(name, aConfig());
  const again = fold(episodes.incidentOf(key, rowOf), { ...seen('RolloutStuck', 1, 0), row: rowOf('RolloutStuck') });
  assert.deepEqual([again.seen[0].class, again.count], ['CrashLoop', aFix().status!.sightings!.count + 1]);
  const specific = fold(again, { ...seen('OOMKilled', 1, 0), row: rowOf('OOMKilled') });
  assert.equal(specific.seen[0].class, 'OOMKilled');
});

/* Sightings. */

const told = aQuotaFix();
const sightings = { count: 1, lastSeen: '2026-11-16T03:12:00Z' };
test('sightings never count backwards and forget nobody', () => {
  const incident = { ...first, count: 2 };
  const { count, affected } = sightingsOf(told, incident, {
    ...healthy,
    affected: ['Deployment/new', 'Deployment/api'],
  });
  assert.equal(count, 4);
  assert.deepEqual(affected, [...told.status!.sightings!.affected!, 'Deployment/new']);
  const many = Array.from({ length: 60 }, (_, n) => `Deployment/${n}`);
  assert.equal(sightingsOf(told, incident, { ...healthy, affected: many }).affected?.length, 50);
});

test('sightings and the end are written about this Remediation, not another of its name', async () => {
  const { server } = aStreet();
  const seed = () =>
    server.seed('Remediation', 'shop', { metadata: { name: 'x' }, spec: told.spec }) as unknown as Remediation;
  const before = seed();
  server.remove('Remediation', 'shop', 'x');
  assert.equal(await writeSightings(server.client(), before, sightings), undefined, 'it is gone');
  seed();
  assert.equal(await writeSightings(server.client(), before, sightings), undefined, 'another is there');
  assert.equal(await writeCleared(server.client(), before, { gone: false }, 0), undefined);
  assert.equal(server.get('Remediation', 'shop', 'x')?.['status'], undefined);
});

test('what the controller writes at the same time is neither lost nor in the way', async () => {
  const { server } = aStreet();
  const seen = server.seed('Remediation', 'shop', {
    metadata: { name: 'x' },
    spec: told.spec,
  }) as unknown as Remediation;
  const phases = ['Proposed', 'Approved', 'Applying', 'Applied'];
  const before = (): void => {
    const phase = phases.shift();
    if (phase) server.change('Remediation', 'shop', 'x', { status: { phase } });
  };
  const written = await writeSightings(server.client({ before }), seen, sightings);
  assert.deepEqual(written?.status, { phase: 'Applied', sightings });
});

test('a server that always has something newer is asked five times, and then later', async () => {
  const { server } = aStreet();
  const seen = server.seed('Remediation', 'shop', {
    metadata: { name: 'x' },
    spec: told.spec,
  }) as unknown as Remediation;
  let patches = 0;
  const before = ({ verb }: { verb: string }): void => {
    if (verb === 'patch') server.change('Remediation', 'shop', 'x', { status: { phase: `${(patches += 1)}` } });
  };
  await assert.rejects(writeSightings(server.client({ before }), seen, sightings), /modified/);
  assert.equal(patches, 5);
});

/* The tracker. */

const quotaKey = 'shop/ResourceQuota/tight';

test('what was there before we looked and was never told is told, after its patience', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  street.start().onSignal({ ...failedCreate(street, 'api'), listed: true });
  await street.advance(9_900);
  assert.deepEqual(street.fixes(), []);
  await street.advance(200);
  assert.equal(street.fixes().length, 1);
});

test('what healed while nobody was running is seen to its end, without any signal', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const process = street.start();
  process.onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  process.stop();
  unblock(street, 'api');
  street.start();
  await street.clock.advance(45_000); // and no watch tells it anything
  assert.deepEqual(street.cleared(), [remediationName(quotaKey, 1)]);
});

test('noise from namespaces that are not selected costs no request', async () => {
  const street = aStreet({ namespaces: { include: ['pay-*'], exclude: [] } });
  street.start().onSignal(detectEvent(anEvent())!);
  await street.advance(1_000);
  assert.deepEqual(street.outcomes, ['NamespaceNotSelected']);
  assert.deepEqual(street.server.calls, []);
});

const vanishing: [string, (street: ReturnType<typeof aStreet>) => void, string][] = [
  ['the namespace is gone', ({ server }) => void server.remove('Namespace', '', 'shop'), 'NamespaceTerminating'],
  [
    'the quota goes at the last moment',
    ({ server }) => {
      server.hooks.before = ({ kind }) =>
        void (kind === 'Namespace' && server.remove('ResourceQuota', 'shop', 'tight'));
    },
    'TargetGone',
  ],
];
for (const [name, vanish, outcome] of vanishing)
  test(`nothing is told when ${name}, and it is counted`, async () => {
    const street = aStreet();
    blockedByQuota(street, ['api']);
    street.start().onSignal(failedCreate(street, 'api'));
    await street.advance(5_000);
    vanish(street);
    await street.advance(20_000);
    assert.deepEqual([street.fixes(), street.outcomes], [[], [outcome]]);
  });

test('the number of a Remediation is never used again, even if an earlier one was deleted', async () => {
  const street = aStreet();
  blockedByQuota(street, ['api']);
  const { spec, status } = aQuotaFix({ phase: 'Resolved', ...over, incident: { key: quotaKey } });
  street.server.seed('Remediation', 'shop', { metadata: { name: remediationName(quotaKey, 2) }, spec, status });
  street.start().onSignal(failedCreate(street, 'api'));
  await street.advance(12_000);
  assert.deepEqual(
    street.fixes().map(({ metadata }) => metadata.name),
    [2, 3].map((n) => remediationName(quotaKey, n)),
  );
});
