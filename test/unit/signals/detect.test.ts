import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { viewEvent, viewPod } from '../../../src/kube/views.ts';
import { detectEvent, quotaIn } from '../../../src/signals/detect-event.ts';
import { detectPod } from '../../../src/signals/detect-pod.ts';
import { aContainer, anEvent, aPod, crashing } from '../../support/views.ts';

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/recorded/${file}`, import.meta.url), 'utf8')).items;

const events = [
  { name: 'a container that is restarted again and again', event: anEvent(), want: 'CrashLoop' },
  { name: 'the same words as a Normal event', event: anEvent({ type: 'Normal' }), want: undefined },
  { name: 'back-off on an image', event: anEvent({ message: 'Back-off pulling image "x"' }), want: undefined },
  { name: 'an unknown reason is never guessed', event: anEvent({ reason: 'MissingClusterDNS' }), want: undefined },
  {
    name: 'pods refused by a quota',
    event: anEvent({
      reason: 'FailedCreate',
      message: 'Error creating: pods "a" is forbidden: exceeded quota: small, requested: pods=1',
    }),
    want: 'QuotaExceeded',
  },
  {
    name: 'the same, combined by the recorder, of a StatefulSet',
    event: anEvent({
      reason: 'FailedCreate',
      message:
        '(combined from similar events): create Pod a-0 in StatefulSet a failed error: pods "a-0" is forbidden: exceeded quota: small, requested: x',
    }),
    want: 'QuotaExceeded',
  },
  {
    name: 'pods refused by something else',
    event: anEvent({ reason: 'FailedCreate', message: 'Error creating: denied' }),
    want: undefined,
  },
];

for (const { name, event, want } of events) test(`event: ${name}`, () => assert.equal(detectEvent(event)?.class, want));

test('a quota is named to its last character, and not one more', () => {
  assert.equal(quotaIn('exceeded quota: team-b.small, requested'), 'team-b.small');
  assert.equal(quotaIn('exceeded quota: team'), 'team');
  assert.equal(quotaIn('exceeded quota: Team!, requested'), undefined);
});

const pods = [
  { name: 'a healthy pod', pod: aPod(), want: undefined },
  {
    name: 'a crash loop',
    pod: aPod({ ready: false, containers: [crashing] }),
    want: 'container app exits 1 within a second',
  },
  {
    name: 'a crash loop that is being deleted',
    pod: aPod({ deleting: true, containers: [crashing] }),
    want: undefined,
  },
  {
    name: 'a sidecar that loops',
    pod: aPod({ containers: [aContainer(), { ...crashing, name: 'proxy' }] }),
    want: 'container proxy exits 1 within a second',
  },
];
for (const { name, pod, want } of pods) test(`pod: ${name}`, () => assert.equal(detectPod(pod)?.message, want));

test('recorded events of a real cluster give the two classes and nothing else', () => {
  const found = [...read('events.json'), ...read('node-events.json')]
    .map(viewEvent)
    .map((view) => view && detectEvent(view));
  const classes = new Set(found.map((signal) => signal?.class));
  assert.deepEqual(classes, new Set(['QuotaExceeded', 'CrashLoop', undefined]));
  const quota = found.find((signal) => signal?.class === 'QuotaExceeded');
  assert.equal(quota?.cause?.kind, 'ResourceQuota');
});

test('recorded pods of a real cluster: those that restart in a loop, whether kubelet said so or not', () => {
  const found = read('node-pods.json').map((pod: never) => detectPod(viewPod(pod)!)?.object.name.split('-')[0]);
  assert.deepEqual(found.filter(Boolean).sort(), ['crash', 'live', 'node', 'oom']);
});
