import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { quotaIn } from '../../../src/health/refusals.ts';
import { viewEvent } from '../../../src/kube/views.ts';
import { detectEvent, readEvent } from '../../../src/signals/detect.ts';
import { anEvent } from '../../support/views.ts';

const read = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../fixtures/recorded/${file}`, import.meta.url), 'utf8')).items;

const on = (kind: string, reason: string, message: string) =>
  anEvent({ reason, message, object: { kind, name: 'x', namespace: 'shop', uid: 'u' } });

/** What each kind of words means, as it was seen or as the sources have it: class, then the cause. */
const events: [string, ReturnType<typeof anEvent>, string][] = [
  ['a container that is restarted again and again', anEvent(), 'CrashLoop'],
  ['the same words as a Normal event: the status says it', anEvent({ type: 'Normal' }), ''],
  ['an unknown reason is never guessed', anEvent({ reason: 'FluxCapacitorEmpty' }), ''],
  ['a back-off of some other kind', on('Pod', 'BackOff', 'Back-off of something new'), ''],
  ['a back-off of what is no pod', on('Job', 'BackOff', 'Back-off restarting failed container'), ''],

  [
    'pods refused by a quota',
    on('ReplicaSet', 'FailedCreate', 'Error creating: pods "a" is forbidden: exceeded quota: small, requested: pods=1'),
    'QuotaExceeded ResourceQuota/small',
  ],
  [
    'a Job refused by a quota',
    on(
      'CronJob',
      'FailedCreate',
      'Error creating job: jobs.batch "a" is forbidden: exceeded quota: small, requested: count/jobs.batch=1',
    ),
    'QuotaExceeded ResourceQuota/small',
  ],
  [
    'pods refused by a policy',
    on(
      'StatefulSet',
      'FailedCreate',
      'Create Pod a-0 in StatefulSet a failed error: pods "a-0" is forbidden: violates PodSecurity "restricted:latest"',
    ),
    'CreateRejected',
  ],
  [
    'pods refused by a webhook',
    on('DaemonSet', 'FailedCreate', 'Error creating: admission webhook "deny.example.com" denied the request: no'),
    'CreateRejected',
  ],
  [
    'pods refused for want of their account',
    on(
      'ReplicaSet',
      'FailedCreate',
      'Error creating: pods "a-" is forbidden: error looking up service account shop/web: serviceaccount "web" not found',
    ),
    'CreateRejected',
  ],
  [
    'pods of a custom owner',
    on('CloneSet', 'FailedCreate', 'pods "a" is forbidden: violates PodSecurity'),
    'CreateRejected',
  ],
  ['something else that could not be created', on('Certificate', 'FailedCreate', 'order could not be created'), ''],
  [
    'a namespace that is being deleted',
    on(
      'ReplicaSet',
      'FailedCreate',
      'Error creating: pods "a" is forbidden: unable to create new content in namespace shop because it is being terminated',
    ),
    '',
  ],
  [
    'no ReplicaSet',
    on(
      'Deployment',
      'ReplicaSetCreateError',
      'Failed to create new replica set "a-1": replicasets.apps "a-1" is forbidden: exceeded quota: sets, requested: x',
    ),
    'CreateRejected',
  ],
  [
    'no ReplicaSet in a namespace that is being deleted',
    on(
      'Deployment',
      'ReplicaSetCreateError',
      'unable to create new content in namespace shop because it is being terminated',
    ),
    '',
  ],

  [
    'an image that cannot be pulled',
    on('Pod', 'Failed', 'Failed to pull image "localhost/app:1.O": failed to resolve image'),
    'ImagePull',
  ],
  ['an image back-off, as an error', on('Pod', 'Failed', 'Error: ImagePullBackOff'), 'ImagePull'],
  ['an image back-off, where it is a Warning', on('Pod', 'BackOff', 'Back-off pulling image "x"'), 'ImagePull'],
  [
    'an image back-off, where it is not',
    { ...on('Pod', 'BackOff', 'Back-off pulling image "x"'), type: 'Normal' },
    'ImagePull',
  ],
  ['an image that is being pulled', { ...on('Pod', 'Pulling', 'Pulling image "x"'), type: 'Normal' }, ''],
  [
    'a node that is not ready: its status says for how long',
    { ...on('Node', 'NodeNotReady', 'Node x status is now: NodeNotReady'), type: 'Normal' },
    '',
  ],
  [
    'an image that may not be pulled',
    on('Pod', 'ErrImageNeverPull', 'Container image "x" is not present with pull policy of Never'),
    'ImagePull',
  ],
  [
    'a name that is no image',
    on('Pod', 'InspectFailed', 'Failed to apply default image tag "A:b:c": couldn\'t parse image name'),
    'ImagePull',
  ],
  ['a missing ConfigMap', on('Pod', 'Failed', 'Error: configmap "missing" not found'), 'ConfigMissing'],
  ['a missing key', on('Pod', 'Failed', "Error: couldn't find key url in ConfigMap shop/web"), 'ConfigMissing'],
  [
    'a container that cannot be made',
    on('Pod', 'Failed', 'Error: container has runAsNonRoot and image will run as root'),
    'SandboxFailed',
  ],
  [
    'a container that cannot be started',
    on('Pod', 'Failed', 'Error: failed to create containerd task: OCI runtime create failed: exec: "nope"'),
    'CrashLoop',
  ],
  ['a hook that fails', on('Pod', 'FailedPostStartHook', 'PostStartHook failed'), 'CrashLoop'],
  ['Failed, on something else', on('HelmRelease', 'Failed', 'Error: ImagePullBackOff'), ''],
  ['a probe', on('Pod', 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 500'), 'ProbeFailing'],

  [
    'a missing Secret as a volume',
    on('Pod', 'FailedMount', 'MountVolume.SetUp failed for volume "s" : secret "nope" not found'),
    'ConfigMissing',
  ],
  [
    'a volume that cannot be attached',
    on('Pod', 'FailedAttachVolume', 'Multi-Attach error for volume "pvc-1"'),
    'VolumeStuck',
  ],
  [
    'a volume that does not come',
    on(
      'Pod',
      'FailedMount',
      'Unable to attach or mount volumes: unmounted volumes=[data]: timed out waiting for the condition',
    ),
    'VolumeStuck',
  ],
  [
    'no sandbox',
    on('Pod', 'FailedCreatePodSandBox', 'Failed to create pod sandbox: plugin type="loopback" failed'),
    'SandboxFailed',
  ],
  ['no network', on('Pod', 'NetworkNotReady', 'network is not ready: NetworkReady=false'), 'SandboxFailed'],
  ['evicted', on('Pod', 'Evicted', 'The node was low on resource: memory.'), 'Evicted'],

  [
    'no node',
    on('Pod', 'FailedScheduling', '0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint'),
    'Unschedulable',
  ],
  [
    'no claim yet: the claim speaks',
    on(
      'Pod',
      'FailedScheduling',
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found',
    ),
    '',
  ],
  [
    'a claim without its class',
    on('PersistentVolumeClaim', 'ProvisioningFailed', 'storageclass.storage.k8s.io "fast" not found'),
    'StorageFailed StorageClass/fast',
  ],
  [
    'a claim whose provisioner fails',
    on('PersistentVolumeClaim', 'ProvisioningFailed', 'failed to provision volume with StorageClass "fast": rpc error'),
    'StorageFailed',
  ],
  [
    'a claim that is lost',
    on('PersistentVolumeClaim', 'ClaimLost', 'Bound claim has lost its PersistentVolume'),
    'StorageFailed',
  ],
  ['a Job that gave up', on('Job', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit'), 'JobFailed'],
  ['a deadline of something else', on('Certificate', 'DeadlineExceeded', 'too late'), ''],
  [
    'an autoscaler without metrics',
    on('HorizontalPodAutoscaler', 'FailedGetResourceMetric', 'unable to get metrics'),
    'AutoscalerBlind',
  ],
  ['a node that is full: its pods say so', on('Node', 'EvictionThresholdMet', 'Attempting to reclaim memory'), ''],
];

for (const [name, event, want] of events)
  test(`event: ${name}: ${want || 'nothing'}`, () => {
    const { class: failureClass, cause } = detectEvent(event) ?? {};
    assert.equal([failureClass, cause && `${cause.kind}/${cause.name}`].filter(Boolean).join(' '), want);
  });

test('a quota is named to its last character, and not one more', () => {
  assert.equal(quotaIn('exceeded quota: team-b.small, requested'), 'team-b.small');
  assert.equal(quotaIn('exceeded quota: team'), 'team');
  assert.equal(quotaIn('exceeded quota: Team!, requested'), undefined);
});

test('recorded events of a real cluster: the class of each object that was in trouble', () => {
  const found = new Map<string, Set<string>>();
  for (const event of [...read('events.json'), ...read('node-events.json')]) {
    const signal = detectEvent(viewEvent(event)!);
    if (!signal) continue;
    const { kind, name } = signal.object;
    const key = `${kind}/${name.replace(/-[a-z0-9]{8,10}(-[a-z0-9]{5})?$/, '')}`;
    found.set(key, (found.get(key) ?? new Set()).add(signal.class));
  }
  assert.deepEqual(Object.fromEntries([...found].map(([key, classes]) => [key, [...classes].join()]).sort()), {
    'DaemonSet/node-agent': 'CreateRejected',
    'HorizontalPodAutoscaler/ghost': 'AutoscalerBlind',
    'HorizontalPodAutoscaler/slow': 'AutoscalerBlind',
    'Job/nightly': 'JobFailed',
    'Job/nightly-report': 'CreateRejected',
    'PersistentVolumeClaim/data': 'StorageFailed',
    'Pod/cfg': 'ConfigMissing',
    'Pod/crash': 'CrashLoop',
    'Pod/live': 'ProbeFailing',
    'Pod/lonely': 'Unschedulable',
    'Pod/mount': 'ConfigMissing',
    'Pod/node': 'CrashLoop',
    'Pod/probe': 'ImagePull',
    'Pod/slow': 'ProbeFailing',
    'Pod/typo': 'ImagePull',
    'Pod/unready': 'ProbeFailing',
    'ReplicaSet/big': 'QuotaExceeded',
    'ReplicaSet/good': 'QuotaExceeded',
    'ReplicaSet/payments-worker': 'QuotaExceeded',
    'StatefulSet/db': 'CreateRejected',
    'StatefulSet/ledger-db': 'CreateRejected',
  });
});

test('what a recorder has put together is what it was', () => {
  const raw = { metadata: { name: 'e', uid: 'e', namespace: 'shop' }, involvedObject: { kind: 'Pod', name: 'p' } };
  const view = (message: string) => viewEvent({ ...raw, message } as never)?.message;
  assert.equal(view('(combined from similar events): Error: ImagePullBackOff'), 'Error: ImagePullBackOff');
  assert.equal(view('not (combined from similar events): at all'), 'not (combined from similar events): at all');
});

const extra = [
  { reason: 'BackupFailed', class: 'BackupFailed', severity: 'warning' as const, for: 60_000 },
  { reason: 'Unhealthy', class: 'Ours', severity: 'warning' as const, for: 60_000 },
];
test('event reasons of the operators own, Warning or not, and before what the table says', () => {
  const backup = on('Postgres', 'BackupFailed', 'disk full');
  assert.equal(detectEvent(backup), undefined);
  for (const type of ['Warning', 'Normal'])
    assert.deepEqual(detectEvent({ ...backup, type }, extra), {
      class: 'BackupFailed',
      namespace: 'shop',
      object: { kind: 'Postgres', name: 'x', uid: 'u' },
      reason: 'BackupFailed',
      message: 'disk full',
    });
  assert.equal(detectEvent(on('Pod', 'Unhealthy', 'Readiness probe failed'), extra)?.class, 'Ours');
});

test('an event about a node is of no namespace, wherever it is kept', () => {
  const object = { kind: 'Node', name: 'n', namespace: 'default', uid: 'n' };
  assert.equal(detectEvent(anEvent({ reason: 'BackupFailed', object }), extra)?.namespace, '');
});

/** Old recorders (kubelet, controllers) count up, new ones (the scheduler) keep a series; either leaves the other's fields out or null. */
const created = { metadata: { name: 'e', uid: 'e', creationTimestamp: '2026-11-16T03:00:00Z' } };
const times: [string, object, [count: number, last: string]][] = [
  ['an old one, once', { count: 1, lastTimestamp: '2026-11-16T03:00:01Z' }, [1, '03:00:01']],
  ['an old one, counted up', { count: 7, firstTimestamp: '2026-11-16T03:00:00Z', lastTimestamp: '2026-11-16T03:10:00Z', eventTime: null }, [7, '03:10:00']],
  ['a new one, once', { eventTime: '2026-11-16T03:00:02.123456Z', lastTimestamp: null, firstTimestamp: null }, [1, '03:00:02']],
  ['a new one, in a series', { eventTime: '2026-11-16T03:00:02.123456Z', series: { count: 9, lastObservedTime: '2026-11-16T03:20:00.654321Z' } }, [9, '03:20:00']],
  ['a new one that also counts as old', { count: 2, series: { count: 9, lastObservedTime: '2026-11-16T03:20:00Z' } }, [9, '03:20:00']],
  ['one without any time of its own', { count: null }, [1, '03:00:00']],
  ['absurd ones', { count: -1e300, series: { count: 'many', lastObservedTime: 'soon' }, lastTimestamp: 7 }, [1, '03:00:00']],
]; // prettier-ignore
for (const [name, over, want] of times)
  test(`how often and when last: ${name}`, () => {
    const view = viewEvent({ ...created, involvedObject: { kind: 'Pod', name: 'p' }, ...over } as never)!;
    assert.deepEqual([view.count, new Date(view.lastSeenMs).toISOString().slice(11, 19)], want);
  });

const about = (over: object) =>
  readEvent({
    metadata: { name: 'e', uid: 'u', namespace: 'shop' },
    involvedObject: { kind: 'Pod', name: 'web-0', namespace: 'shop', uid: 'u', ...over },
  } as never);
const objects: [string, object, boolean][] = [
  ['a pod', {}, true],
  ['as long as a name can be', { name: 'x'.repeat(253) }, true],
  ['what has no namespace', { kind: 'Node', namespace: '' }, true],
  ['a name of a megabyte', { name: 'x'.repeat(1 << 20) }, false],
  ['a kind of a megabyte', { kind: 'x'.repeat(1 << 20) }, false],
  ['a uid of a megabyte', { uid: 'x'.repeat(1 << 20) }, false],
  ['a path', { name: 'web-0/../../secrets' }, false],
  ['a namespace that is a path', { namespace: 'shop/pods' }, false],
  ['two dots', { name: '..' }, false],
  ['control characters', { name: 'bell\u0007\u202e' }, false],
  ['half a character', { name: 'web-\ud800' }, false],
];
for (const [what, over, isRead] of objects)
  test(`an event about ${what} is ${isRead ? 'read' : 'nobody’s'}`, () =>
    assert.equal(about(over) !== undefined, isRead));
