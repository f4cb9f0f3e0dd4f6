import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Config } from '../../../src/config/schema.ts';
import { about, anEvent, often, played, probe, refused } from './a-recording.ts';

/* Recorded events in their own time, through the code that a running watcher uses. */

const api = 'shop/Deployment/api';
const end = (seconds: number): object => anEvent(seconds, { type: 'Normal', reason: 'Pulled' });
const extraReasons = [{ reason: 'BackupFailed', class: 'BackupFailed', severity: 'warning' as const, for: 60_000 }];
const backup = { reason: 'BackupFailed', type: 'Normal' };
const pulling = { type: 'Normal', message: 'Back-off pulling image "shop/api:2"' };
const stuck = { reason: 'Unhealthy', message: 'Readiness probe failed' };

const cases: [string, object[], string[], Record<string, number>, Partial<Config>?][] = [
  ['nothing', [], [], {}],
  [
    'what is seen again after its patience is told when that ends',
    [anEvent(0), anEvent(40)],
    [`30 s: CrashLoop ${api}`],
    { Told: 1, Repeated: 1 },
  ],
  [
    'what is seen again much later is told all the same',
    [anEvent(0), anEvent(600)],
    [`30 s: CrashLoop ${api}`],
    { Told: 1, Repeated: 1 },
  ],
  [
    'what is not seen for the next quarter of an hour is not',
    [anEvent(0), anEvent(930)],
    [],
    { HealedBeforeTold: 1, Waiting: 1 },
  ],
  ['ten seconds of it are not', [anEvent(0), anEvent(5), anEvent(10), end(910)], [], { HealedBeforeTold: 3 }],
  [
    'of what was last seen shortly before the recording ends nobody can say that it healed',
    [anEvent(0), anEvent(5), anEvent(10), end(909)],
    [],
    { Waiting: 3 },
  ],
  ['once is not', [anEvent(0), end(900)], [], { HealedBeforeTold: 1 }],
  [
    'without patience it is told at once',
    [anEvent(0, { reason: 'BackoffLimitExceeded', ...about('Job', 'mail') })],
    ['0 s: JobFailed shop/Job/mail'],
    { Told: 1 },
  ],
  [
    'one that was counted up stands for its first and its last',
    [often(0, 300)],
    [`30 s: CrashLoop ${api}`],
    { Told: 1, Repeated: 1 },
  ],
  [
    'one that was counted up for a long time goes on in between',
    [often(0, 3_000, { count: 212 })],
    [`30 s: CrashLoop ${api}`],
    { Told: 1, Repeated: 10 },
  ],
  ['a few in a long time are few', [often(0, 6_000, { count: 3 }), end(7_000)], [], { HealedBeforeTold: 3 }],
  [
    'the class that is told has been seen for as long as its own patience',
    [often(0, 400, stuck), anEvent(10, { reason: 'Evicted' }), anEvent(500, { reason: 'Evicted' })],
    [`70 s: Evicted ${api}`, `200 s (edit): ProbeFailing ${api}`],
    { Told: 2, Repeated: 3 },
  ],
  [
    'an image back-off is a Normal event, and there is no status that would say it',
    [often(0, 300, pulling)],
    [`30 s: ImagePull ${api}`],
    { Told: 1, Repeated: 1 },
  ],
  ['what the recording ends too early for still waits', [anEvent(0), anEvent(20)], [], { Waiting: 2 }],
  [
    'after a quarter of an hour without a sighting it is another incident',
    [often(0, 60), often(1000, 1060)],
    [`30 s: CrashLoop ${api}`, `1030 s: CrashLoop ${api}`],
    { Told: 2, Repeated: 2 },
  ],
  ['before that it is the same', [often(0, 60), often(900, 960)], [`30 s: CrashLoop ${api}`], { Told: 1, Repeated: 3 }],
  [
    'longer patience by the configuration',
    [often(0, 300)],
    [`120 s: CrashLoop ${api}`],
    { Told: 1, Repeated: 1 },
    { classes: { CrashLoop: { for: 120_000 } } },
  ],
  [
    'a class that is switched off',
    [often(0, 300)],
    [],
    { ClassDisabled: 2 },
    { classes: { CrashLoop: { enabled: false } } },
  ],
  [
    'a workload that is ignored',
    [often(0, 300)],
    [],
    { IgnoredByRule: 2 },
    { ignore: [{ kind: 'Deployment', name: 'a*' }] },
  ],
  [
    'a namespace that is not selected',
    [often(0, 300)],
    [],
    { NamespaceNotSelected: 2 },
    { namespaces: { include: ['payments'], exclude: [] } },
  ],
  [
    'other Warnings are no failures, and what is no Warning is not watched',
    [anEvent(0, { reason: 'FailedSync' }), end(5)],
    [],
    { NotAFailure: 1 },
  ],
  [
    'an event reason of your own, twice',
    [anEvent(0, backup), anEvent(30, backup), end(90)],
    [`60 s: BackupFailed ${api}`],
    { Told: 2 },
    { extraReasons },
  ],
  ['the same once', [anEvent(0, backup), end(2000)], [], { NoLongerSeen: 1 }, { extraReasons }],
  [
    'two workloads behind one quota are one incident',
    [often(0, 60, refused('api')), often(1, 60, refused('web'))],
    ['10 s: QuotaExceeded shop/ResourceQuota/tight'],
    { Told: 2, Repeated: 2 },
  ],
  [
    'what a quota explains is its symptom',
    [often(0, 300, refused('api')), often(5, 300, stuck)],
    ['10 s: QuotaExceeded shop/ResourceQuota/tight'],
    { Told: 1, Symptom: 2, Repeated: 1 },
  ],
  [
    'the most specific names it',
    [often(0, 200), often(0, 200, { reason: 'Failed', message: 'Error: configmap "x" not found' })],
    [`30 s: ConfigMissing ${api}`],
    { Told: 2, Repeated: 2 },
  ],
  [
    'a more specific one later is told in the same message',
    [often(0, 400), often(100, 400, { reason: 'Failed', message: 'Error: configmap "x" not found' })],
    [`30 s: CrashLoop ${api}`, `130 s (edit): ConfigMissing ${api}`],
    { Told: 1, Repeated: 4 },
  ],
];
for (const [name, events, said, ends, config] of cases)
  test(name, () => {
    const { saidLines, outcomes, waiting, seen } = played(events, config);
    assert.deepEqual(saidLines, said);
    assert.deepEqual({ ...outcomes, ...(waiting > 0 && { Waiting: waiting }) }, ends);
    assert.equal(
      seen,
      Object.values(ends).reduce((sum, n) => sum + n, 0),
    );
  });

const owners: [string, object[], string][] = [
  ['by the hash in its name', [], 'shop/Deployment/api'],
  ['a pod of a StatefulSet by its ordinal', [about('Pod', 'db-0')], 'shop/StatefulSet/db'],
  ['five random letters alone tell nothing', [about('Pod', 'agent-x2x4z')], 'shop/Pod/agent-x2x4z'],
  [
    'unless its maker said so',
    [
      about('Pod', 'agent-x2x4z'),
      anEvent(-5, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created pod: agent-x2x4z',
        ...about('DaemonSet', 'agent'),
      }),
    ],
    'shop/DaemonSet/agent',
  ],
  [
    'in another namespace that says nothing',
    [
      about('Pod', 'agent-x2x4z'),
      anEvent(-5, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created pod: agent-x2x4z',
        ...about('DaemonSet', 'agent', 'web'),
      }),
    ],
    'shop/Pod/agent-x2x4z',
  ],
  [
    'up to the CronJob',
    [
      about('Pod', 'mail-1-x2x4z'),
      anEvent(-9, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created pod: mail-1-x2x4z',
        ...about('Job', 'mail-1'),
      }),
      anEvent(-10, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created job mail-1',
        ...about('CronJob', 'mail'),
      }),
    ],
    'shop/CronJob/mail',
  ],
  [
    'up to the Deployment, whatever the ReplicaSet is called',
    [
      about('Pod', 'web-1-x2x4z'),
      anEvent(-9, {
        type: 'Normal',
        reason: 'SuccessfulCreate',
        message: 'Created pod: web-1-x2x4z',
        ...about('ReplicaSet', 'web-1'),
      }),
      anEvent(-10, {
        type: 'Normal',
        reason: 'ScalingReplicaSet',
        message: 'Scaled up replica set web-1 from 0 to 1',
        ...about('Deployment', 'web'),
      }),
    ],
    'shop/Deployment/web',
  ],
];
for (const [name, [object = {}, ...more], key] of owners)
  test(`whose it is: ${name}`, () =>
    assert.deepEqual(played([often(0, 60, object), ...more]).saidLines, [`30 s: CrashLoop ${key}`]));

const odd: [string, unknown][] = [
  ['no involvedObject', anEvent(0, { involvedObject: undefined })],
  ['no metadata', anEvent(0, { metadata: null })],
  ['the year 9999', anEvent(0, { metadata: { name: 'x', uid: 'x', creationTimestamp: '9999-12-31T00:00:00Z' } })],
  ['the year 1', anEvent(0, { metadata: { name: 'x', uid: 'x', creationTimestamp: '0001-01-01T00:00:00Z' } })],
  ['no time at all', anEvent(0, { metadata: { name: 'x', uid: 'x', creationTimestamp: 'yesterday' } })],
  ['a list', [1, 2]],
];
for (const [name, value] of odd)
  test(`${name}: counted as unreadable, and nothing else`, () => {
    const { outcomes, unreadable, saidLines } = played([often(0, 60), value as object]);
    assert.deepEqual([outcomes['Unreadable'], unreadable], [1, [2]]);
    assert.deepEqual(saidLines, [`30 s: CrashLoop ${api}`]);
  });

test('one absurd time among good ones is passed over', () => {
  const { saidLines, untilMs, fromMs } = played([
    often(0, 60, { eventTime: '9999-01-01T00:00:00Z', series: { lastObservedTime: 'soon' } }),
  ]);
  assert.deepEqual(saidLines, [`30 s: CrashLoop ${api}`]);
  assert.equal(untilMs - fromMs, 60_000);
});

test('a megabyte of message and control characters are no trouble', () => {
  const message = `Back-off restarting failed container \u0007${'x'.repeat(1_000_000)}`;
  assert.deepEqual(played([often(0, 60, { message })]).saidLines, [`30 s: CrashLoop ${api}`]);
});

test('whatever is recorded: each signal ends once or waits, nothing is told before its patience, nothing throws', () => {
  const kinds = fc.constantFrom(
    {},
    probe,
    refused('api'),
    refused('web'),
    backup,
    { reason: 'Evicted' },
    { reason: 'FailedSync' },
    about('Pod', 'db-0'),
    { involvedObject: null },
    { type: 'Normal' },
  );
  const events = fc.array(fc.tuple(fc.nat(4_000), fc.nat(900), kinds), { maxLength: 40 });
  fc.assert(
    fc.property(events, (all) => {
      const recorded = all.map(([from, more, over]) =>
        more % 3 === 0 ? anEvent(from, over) : often(from, from + more, over),
      );
      const { seen, waiting, outcomes, said, unreadable } = played(recorded, { extraReasons });
      assert.equal(Object.values(outcomes).reduce((sum, n) => sum + n, 0) + waiting, seen);
      assert.equal(outcomes['Unreadable'] ?? 0, unreadable.length);
      for (const { atMs, fix } of said) assert.ok(atMs >= Date.parse(fix.spec.incident.firstSeen));
    }),
    { numRuns: 200 },
  );
});
