import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  isShort,
  otherOwners,
  quotaHealth,
  quotaIn,
  refusalsIn,
  refusalsOf,
  rolloutTroubles,
  saysQuota,
  standingRefusals,
} from '../../../src/health/refusals.ts';
import type { Trouble } from '../../../src/health/trouble.ts';
import { type EventView, viewDeployment } from '../../../src/kube/views.ts';
import { anEvent, aReplicaSet } from '../../support/views.ts';

const refusal = (quota: string) => `pods "x" is forbidden: exceeded quota: ${quota}, requested: pods=1, used: pods=1`;
const messages = [
  { message: refusal('tight'), want: true },
  { message: 'exceeded quota: tight', want: true },
  { message: refusal('tight-2'), want: false },
  { message: refusal('very-tight'), want: false },
  { message: refusal('tight.example.com'), want: false },
  { message: 'failed quota: tight: must specify limits.memory', want: false },
];
for (const { message, want } of messages) {
  test(`"${message}" ${want ? 'names' : 'does not name'} quota tight`, () => {
    assert.equal(saysQuota(message, 'tight'), want);
  });
}

const refused = (kind: string, uid: string, quota = 'tight', lastSeenMs = 1): EventView =>
  anEvent({
    reason: 'FailedCreate',
    message: refusal(quota),
    object: { kind, name: kind, namespace: 'shop', uid },
    lastSeenMs,
  });

const failing = aReplicaSet({ createFailure: refusal('first') });
const sets = [
  { name: 'whose pods are refused', set: failing, events: [], want: refusal('first') },
  {
    name: 'whose events tell of a newer refusal',
    set: failing,
    events: [refused('ReplicaSet', failing.uid, 'newest', 9), refused('ReplicaSet', failing.uid, 'older', 5)],
    want: refusal('newest'),
  },
  {
    name: 'beside others that are refused',
    set: failing,
    events: [refused('ReplicaSet', 'other', 'theirs')],
    want: refusal('first'),
  },
  {
    name: 'whose last try succeeded',
    set: aReplicaSet(),
    events: [refused('ReplicaSet', failing.uid)],
    want: undefined,
  },
  { name: 'scaled to zero', set: { ...failing, desired: 0 }, events: [], want: undefined },
];
for (const { name, set, events, want } of sets)
  test(`what refuses the pods of a ReplicaSet ${name}`, () =>
    assert.equal(refusalsOf(set, refusalsIn(events))[0], want));

test('events name the other owners, each once, and not ReplicaSets', () => {
  const events = [
    refused('Job', 'j'),
    refused('Job', 'j'),
    refused('StatefulSet', 's'),
    refused('Job', 'k', 'other'),
    refused('ReplicaSet', 'r'),
  ];
  const owners = otherOwners(refusalsIn(events));
  assert.deepEqual(
    owners.map(({ uid }) => uid),
    ['j', 's', 'k'],
  );
});

const meta = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const shortages = [
  { kind: 'StatefulSet', spec: { replicas: 2 }, status: { replicas: 1 }, want: true },
  { kind: 'StatefulSet', spec: { replicas: 2 }, status: { replicas: 2 }, want: false },
  { kind: 'ReplicaSet', spec: {}, status: {}, want: true },
  { kind: 'DaemonSet', status: { desiredNumberScheduled: 3, currentNumberScheduled: 2 }, want: true },
  { kind: 'DaemonSet', status: { desiredNumberScheduled: 3, currentNumberScheduled: 3 }, want: false },
  { kind: 'Job', status: {}, want: true },
  { kind: 'Job', status: { active: 1 }, want: false },
  { kind: 'Job', spec: { suspend: true }, status: {}, want: false },
  { kind: 'Job', status: { conditions: [{ type: 'Complete', status: 'True' }] }, want: false },
  { kind: 'Something', status: {}, want: false },
];
for (const { kind, want, ...rest } of shortages) {
  test(`a ${kind} with ${JSON.stringify(rest)} is ${want ? '' : 'not '}short of pods`, () => {
    assert.equal(isShort(kind, { metadata: meta, ...rest } as never), want);
  });
}

test('a quota names each workload once, however many of its ReplicaSets are refused', () => {
  const owner = {
    kind: 'ReplicaSet',
    uid: 'u',
    workload: 'Deployment/api',
    ready: 1,
    desired: 3,
    shortfalls: [],
    fits: false,
  };
  const live = quotaHealth(true, [
    { ...owner, name: 'api-1' },
    { ...owner, name: 'api-2' },
  ]);
  assert.deepEqual(live.affected, ['Deployment/api']);
  assert.equal(live.why, '1 workload is refused pods');
  assert.equal(quotaHealth(true, []).healthy, true);
  assert.equal(quotaHealth(false, []).gone, true);
});

describe('who is refused, and who has room again', () => {
  const refusal = (quota: string) => `exceeded quota: ${quota}, requested: pods=1, used: pods=1, limited: pods=1`;
  const shortages: [string, object, object, boolean][] = [
    ['Job', {}, { conditions: [{ type: 'Failed', status: 'True' }] }, false],
    ['Job', {}, { conditions: [{ type: 'Failed', status: 'False' }] }, true],
    ['Job', {}, { active: 1 }, false],
    ['Job', {}, { conditions: [{ type: 'Complete', status: 'True' }] }, false],
    ['CronJob', {}, {}, true],
    ['CronJob', { suspend: true }, {}, false],
    ['StatefulSet', {}, { replicas: 0 }, true],
  ];
  for (const [kind, spec, status, want] of shortages)
    test(`a ${kind} with ${JSON.stringify({ spec, status })} is ${want ? '' : 'not '}short of pods`, () =>
      assert.equal(isShort(kind, { metadata: {}, spec, status } as never), want));

  test('a quota is meant by its whole name, and by owners only', () => {
    assert.equal(saysQuota(refusal('tight-2'), 'tight'), false);
    const event = anEvent({ reason: 'FailedCreate', message: refusal('tight') });
    assert.deepEqual(otherOwners(refusalsIn([event])), [], 'a pod owns no pods');
  });

  test('a quota has room when it has room for everybody whom it refused', () => {
    const owner = { kind: 'StatefulSet', name: 'db', uid: 'u', ready: 0, desired: 1, shortfalls: [] };
    const hasRoom = (...fits: boolean[]): boolean =>
      quotaHealth(
        true,
        fits.map((one, n) => ({ ...owner, workload: `StatefulSet/${n}`, fits: one })),
      ).hasRoom;
    assert.deepEqual(
      [hasRoom(true, true), hasRoom(true, false), hasRoom(false), hasRoom()],
      [true, false, false, false],
    );
  });

  test('a refusal is history once the very pod is there; that another one is says nothing', () => {
    const refusals = ['db-2', 'db-0'].map(
      (pod) => `create Pod ${pod} failed error: pods "${pod}" is forbidden: exceeded quota: q`,
    );
    const owner = { kind: 'StatefulSet', name: 'db', uid: 'u', refusals };
    assert.deepEqual(standingRefusals(owner, new Set(['db-0', 'db-1'])), [refusals[0]]);
    assert.deepEqual(standingRefusals({ ...owner, refusals: ['words of another kind'] }, new Set(['db-0'])), [
      'words of another kind',
    ]);
  });
});

describe('a rollout that misses its deadline', () => {
  const meta = { name: 'x', namespace: 'shop', uid: 'u' };
  const inWords = (found: readonly Trouble[]): string =>
    found
      .map(({ class: failureClass, cause, reason }) => `${failureClass}${cause ? `(${cause.name})` : ''}: ${reason}`)
      .join();
  const condition = (type: string, status: string, reason = 'R') => ({
    type,
    status,
    reason,
    message: 'm',
    lastTransitionTime: '2026-11-16T03:00:00Z',
  });

  const late = condition('Progressing', 'False', 'ProgressDeadlineExceeded');
  const rollouts: [string, object, object[], string][] = [
    ['under way', {}, [condition('Progressing', 'True')], ''],
    ['past its deadline', {}, [late], 'RolloutStuck: ProgressDeadlineExceeded'],
    ['past its deadline, and scaled to zero', { replicas: 0 }, [late], ''],
    ['past its deadline, and paused', { paused: true }, [late], ''],
    [
      'without a ReplicaSet',
      {},
      [condition('Progressing', 'False', 'ReplicaSetCreateError')],
      'CreateRejected: ReplicaSetCreateError',
    ],
  ];
  for (const [name, spec, conditions, want] of rollouts)
    test(`a rollout ${name}: ${want || 'nothing'}`, () =>
      assert.equal(
        inWords(rolloutTroubles(viewDeployment({ metadata: meta, spec, status: { conditions } } as never)!)),
        want,
      ));
});

test('a quota is named to its last character, and not one more', () => {
  assert.equal(quotaIn('exceeded quota: team-b.small, requested'), 'team-b.small');
  assert.equal(quotaIn('exceeded quota: team'), 'team');
  assert.equal(quotaIn('exceeded quota: Team!, requested'), undefined);
});
