import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingConfigIn, missingStorageClassIn, setupTroubles } from '../../../src/health/event-words.ts';
import type { PodView } from '../../../src/kube/views.ts';
import { aContainer, anEvent, aPod } from '../../support/views.ts';

/* What a pod waits for before its first container is made. */

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const stuck = aPod({
  phase: 'Pending',
  ready: false,
  hasSandbox: false,
  unreadySinceMs: 7,
  containers: [aContainer({ ready: false, waiting: 'ContainerCreating' })],
});
const said = (reason: string, message: string, agoMs = 0) => anEvent({ reason, message, lastSeenMs: nowMs - agoMs });
const noSecret = 'MountVolume.SetUp failed for volume "s" : secret "nope" not found';
const timedOut = 'Unable to attach or mount volumes: unmounted volumes=[s]: timed out waiting for the condition';
const sandbox = 'Failed to create pod sandbox: plugin failed';

const cases: [string, PodView, ReturnType<typeof anEvent>[], string][] = [
  ['nobody says why', stuck, [], ''],
  ['a volume', stuck, [said('FailedMount', timedOut)], 'VolumeStuck'],
  ['a volume that another node holds', stuck, [said('FailedAttachVolume', 'Multi-Attach error')], 'VolumeStuck'],
  ['a Secret', stuck, [said('FailedMount', noSecret)], 'ConfigMissing'],
  [
    'a Secret, though the newest words are vague',
    stuck,
    [said('FailedMount', timedOut), said('FailedMount', noSecret, 60_000)],
    'ConfigMissing',
  ],
  [
    'a Secret long ago, another volume now',
    stuck,
    [said('FailedMount', timedOut), said('FailedMount', noSecret, 600_000)],
    'VolumeStuck',
  ],
  [
    'its network, now that the volumes are there',
    stuck,
    [said('FailedCreatePodSandBox', sandbox), said('FailedMount', noSecret, 60_000)],
    'SandboxFailed',
  ],
  ['what was said half an hour ago', stuck, [said('FailedCreatePodSandBox', sandbox, 1_800_000)], ''],
  [
    'what is said of another pod',
    stuck,
    [{ ...said('FailedMount', noSecret), object: { ...anEvent().object, uid: 'other' } }],
    '',
  ],
  ['something else', stuck, [said('Scheduled', 'Successfully assigned')], ''],
  ['an image: its sandbox is there', { ...stuck, hasSandbox: true }, [said('FailedCreatePodSandBox', sandbox)], ''],
  ['nothing: it runs', aPod(), [said('FailedMount', noSecret)], ''],
  ['nothing: it is being deleted', { ...stuck, deleting: true }, [said('FailedMount', noSecret)], ''],
];
for (const [name, pod, events, want] of cases)
  test(`a pod waits for ${name}: ${want || 'nothing that is known'}`, () => {
    const found = setupTroubles(pod, events, nowMs);
    assert.equal(found.map((trouble) => trouble.class).join(), want);
    if (want) assert.equal(found[0]!.sinceMs, 7);
  });

test('what is missing, by name, however it is said', () => {
  const missing: [string, string | undefined][] = [
    ['configmap "a.b" not found', 'ConfigMap a.b'],
    ['Error: secrets "s" not found', 'Secret s'],
    ["couldn't find key url in ConfigMap shop/web", 'ConfigMap web (key url)'],
    ['configmap references non-existent config key: x.json', 'ConfigMap key x.json'],
    ['serviceaccount "a" not found', undefined],
    ['configmap "a" is forbidden', undefined],
  ];
  for (const [message, want] of missing) assert.equal(missingConfigIn(message), want, message);
  assert.equal(missingStorageClassIn('storageclass.storage.k8s.io "fast" not found'), 'fast');
  assert.equal(missingStorageClassIn('storageclass.storage.k8s.io "fast" is slow'), undefined);
});
