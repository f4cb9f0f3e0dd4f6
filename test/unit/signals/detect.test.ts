import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { viewDeployment, viewEvent, viewJob, viewNode, viewSet } from '../../../src/kube/views.ts';
import {
  detectDeployment,
  detectEvent,
  detectJob,
  detectNode,
  detectPod,
  detectSet,
  readEvent,
} from '../../../src/signals/detect.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import { createSurroundings } from '../../../src/signals/surroundings.ts';
import { anEvent, aPod, crashing } from '../../support/views.ts';

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

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const condition = (
  type: string,
  status: string,
  reason: string,
  message = '',
  lastTransitionTime = '2026-11-16T03:11:00Z',
) => ({ type, status, reason, message, lastTransitionTime });
const raw = (spec: object, status: object, metadata: object = {}) =>
  ({
    metadata: { name: 'x', namespace: 'shop', uid: 'u', generation: 2, ...metadata },
    spec,
    status,
  }) as unknown as KubeObject;
const said = (signals: readonly Signal[]): string =>
  signals
    .map(
      ({ class: failureClass, object, cause }) =>
        `${failureClass} of ${object.kind}${cause ? ` by ${cause.kind}/${cause.name}` : ''}`,
    )
    .join('; ');

const stuck = condition('Progressing', 'False', 'ProgressDeadlineExceeded');
const refused = (message: string) => condition('ReplicaFailure', 'True', 'FailedCreate', message);
const overQuota = 'pods "a" is forbidden: exceeded quota: tight, requested: pods=1';
const deployments: [string, object, object[], string, object?][] = [
  ['stuck', {}, [stuck], 'RolloutStuck of Deployment'],
  ['refused by a quota', {}, [refused(overQuota)], 'QuotaExceeded of Deployment by ResourceQuota/tight'],
  [
    'refused by a policy, and stuck',
    {},
    [stuck, refused('denied')],
    'RolloutStuck of Deployment; CreateRejected of Deployment',
  ],
  ['refused, and scaled to zero since', { replicas: 0 }, [refused('denied')], ''],
  ['on its way out', {}, [stuck, refused('denied')], '', { deletionTimestamp: 'x' }],
  [
    'in a namespace that is being deleted',
    {},
    [refused('unable to create new content in namespace shop because it is being terminated')],
    '',
  ],
];
for (const [name, spec, conditions, want, metadata] of deployments)
  test(`a Deployment ${name}: ${want || 'nothing'}`, () =>
    assert.equal(said(detectDeployment(viewDeployment(raw(spec, { conditions }, metadata))!)), want));

const one = { currentRevision: 'r-1', updateRevision: 'r-1', observedGeneration: 2 };
const sets: [string, 'StatefulSet' | 'DaemonSet', object, object, object, string][] = [
  ['with all its pods', 'StatefulSet', { replicas: 2 }, { ...one, replicas: 2 }, {}, ''],
  ['that misses a pod', 'StatefulSet', { replicas: 2 }, { ...one, replicas: 1 }, {}, 'CreateRejected of StatefulSet'],
  [
    'between two pods of a rollout',
    'StatefulSet',
    { replicas: 2 },
    { ...one, updateRevision: 'r-2', replicas: 1 },
    {},
    '',
  ],
  [
    'whose controller has not caught up',
    'StatefulSet',
    { replicas: 2 },
    { ...one, observedGeneration: 1, replicas: 1 },
    {},
    '',
  ],
  ['that is being deleted', 'StatefulSet', { replicas: 2 }, { ...one, replicas: 1 }, { deletionTimestamp: 'x' }, ''],
  ['scaled to zero', 'StatefulSet', { replicas: 0 }, one, {}, ''],
  [
    'that misses a node',
    'DaemonSet',
    {},
    { observedGeneration: 2, desiredNumberScheduled: 3, currentNumberScheduled: 2, updatedNumberScheduled: 2 },
    {},
    'CreateRejected of DaemonSet',
  ],
  [
    'in the middle of an update',
    'DaemonSet',
    {},
    { observedGeneration: 2, desiredNumberScheduled: 3, currentNumberScheduled: 2, updatedNumberScheduled: 1 },
    {},
    '',
  ],
];
for (const [name, kind, spec, status, metadata, want] of sets)
  test(`a ${kind} ${name}: ${want || 'nothing'}`, () =>
    assert.equal(said(detectSet(viewSet(kind)(raw(spec, status, metadata))!)), want));

const cronJob = { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', uid: 'c', controller: true }] }; // prettier-ignore
const gaveUp = (at: string) => [condition('Failed', 'True', 'BackoffLimitExceeded', 'gave up', at)];
const jobs: [string, object[], object, string][] = [
  ['that works', [], {}, ''],
  ['that is done', [condition('Complete', 'True', '')], {}, ''],
  ['that gave up', gaveUp('2026-11-16T03:11:00Z'), {}, 'JobFailed of Job'],
  ['that gave up last week', gaveUp('2026-11-09T03:11:00Z'), {}, ''],
  ['of a CronJob that gave up last week', gaveUp('2026-11-09T03:11:00Z'), cronJob, 'JobFailed of Job'],
  ['that is being deleted', gaveUp('2026-11-16T03:11:00Z'), { deletionTimestamp: 'x' }, ''],
];
for (const [name, conditions, metadata, want] of jobs)
  test(`a Job ${name}: ${want || 'nothing'}`, () =>
    assert.equal(said(detectJob(viewJob(raw({}, { conditions }, metadata))!, nowMs)), want));

const silent = { conditions: [condition('Ready', 'Unknown', 'NodeStatusUnknown')] };
const nodes: [string, object, string][] = [
  ['that is silent', {}, 'NodeDown of Node'],
  ['that was cordoned first', { unschedulable: true }, ''],
  ['that the autoscaler removes', { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] }, ''],
  ['with another taint', { taints: [{ key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' }] }, 'NodeDown of Node'],
]; // prettier-ignore
for (const [name, spec, want] of nodes)
  test(`a node ${name}: ${want || 'nothing'}`, () => {
    const signals = detectNode(viewNode(raw(spec, silent))!);
    assert.equal(said(signals), want);
    for (const { namespace } of signals) assert.equal(namespace, '');
  });

const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'd', controller: true };
const around = (spec: object) => {
  const { around, caches } = createSurroundings();
  caches.nodes.set(viewNode(raw(spec, silent, { name: 'n-1' }))!);
  return around;
};
const downN1 = around({});
const onNodes: [string, ReturnType<typeof aPod>, string][] = [
  ['on a node that is down', aPod({ node: 'n-1' }), 'NodeDown of Pod by Node/n-1'],
  ['that crashed there', aPod({ node: 'n-1', ready: false, containers: [crashing] }), 'NodeDown of Pod by Node/n-1'],
  ['that cannot leave it', aPod({ node: 'n-1', deleting: true }), 'NodeDown of Pod by Node/n-1'],
  ['that was done before', aPod({ node: 'n-1', phase: 'Succeeded' }), ''],
  ['elsewhere', aPod({ node: 'n-2' }), ''],
  ['on no node yet', aPod(), ''],
  ['of a DaemonSet there', aPod({ node: 'n-1', owner }), 'NodeDown of Pod by Node/n-1'],
];
for (const [name, pod, want] of onNodes)
  test(`a pod ${name}: ${want || 'nothing'}`, () => assert.equal(said(detectPod(pod, nowMs, downN1)), want));

test('a node that is drained takes with it what is left there, but not what never leaves it', () => {
  const drained = around({ unschedulable: true });
  assert.equal(said(detectPod(aPod({ node: 'n-1' }), nowMs, drained)), 'NodeDown of Pod by Node/n-1');
  assert.equal(said(detectPod(aPod({ node: 'n-1', owner, ready: false }), nowMs, drained)), '');
});

const quota = 'Error creating: pods "a" is forbidden: exceeded quota: small, requested: pods=1';
const job = { kind: 'Job', name: 'nightly', namespace: 'shop', uid: 'j-1' };
const nothing: [string, ReturnType<typeof anEvent>][] = [
  ['a quota in a Normal event', anEvent({ type: 'Normal', reason: 'FailedCreate', message: quota })],
  ['a quota in an event about something else', anEvent({ reason: 'FailedUpdate', message: quota })],
  ['a back-off of what is no pod', anEvent({ object: job })],
];
for (const [name, event] of nothing) test(`no failure: ${name}`, () => assert.equal(detectEvent(event), undefined));

for (const phase of ['Failed', 'Succeeded'])
  test(`a pod that is ${phase} is no crash loop, whatever it went through`, () =>
    assert.deepEqual(detectPod(aPod({ phase, ready: false, containers: [crashing] }), 0), []));
