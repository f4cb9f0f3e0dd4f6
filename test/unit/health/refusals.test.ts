import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isShort, otherOwners, refusalBy, refusalsIn, refusalsOf, saysQuota } from '../../../src/health/refusals.ts';
import type { EventView } from '../../../src/kube/views.ts';
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

test('events name the other owners, each once, and not ReplicaSets; a quota stands in the way with its own words', () => {
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

const full = (): boolean => false;
const roomy = (): boolean => true;
const words: { name: string; refusals: string[]; fits: () => boolean; want: string | undefined }[] = [
  { name: 'the newest is its own', refusals: ['tight', 'other'], fits: roomy, want: 'tight' },
  { name: 'another has refused since, and it is still full', refusals: ['other', 'tight'], fits: full, want: 'tight' },
  { name: 'another has refused since, and it has room by now', refusals: ['other', 'tight'], fits: roomy, want: undefined },
  { name: 'it never refused', refusals: ['other'], fits: full, want: undefined },
  { name: 'nobody was refused', refusals: [], fits: full, want: undefined },
]; // prettier-ignore
for (const { name, refusals, fits, want } of words)
  test(`in whose way a quota is: ${name}`, () =>
    assert.equal(refusalBy('tight', refusals.map(refusal), fits), want && refusal(want)));

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
