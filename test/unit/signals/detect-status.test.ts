import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { viewDeployment, viewJob, viewNode, viewSet } from '../../../src/kube/views.ts';
import { detectDeployment, detectJob, detectNode, detectPod, detectSet } from '../../../src/signals/detect.ts';
import { filterOutcome } from '../../../src/signals/filter.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import { aConfig } from '../../support/config.ts';
import { aPod, crashing } from '../../support/views.ts';
import { createSurroundings } from '../../../src/signals/surroundings.ts';

/* Signals from the status of objects; which troubles there are is tested with health. */

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

test('a node is of no namespace: it is told where everything is watched, and where its pods are', () => {
  const outcome = (include: string[], namespace: string, ignore = [] as object[]) =>
    filterOutcome(
      aConfig({ namespaces: { include, exclude: [] }, ignore }),
      { class: 'NodeDown', namespace, kind: 'Node', name: 'spot-7' },
      'tapfix',
    );
  assert.equal(outcome(['*'], ''), 'Kept');
  assert.equal(outcome(['shop-*', 'pay'], ''), 'NamespaceNotSelected');
  assert.equal(outcome(['shop-*', 'pay'], 'pay'), 'Kept', 'a pod of ours was on it');
  assert.equal(outcome(['*'], '', [{ kind: 'Node', name: 'spot-*' }]), 'IgnoredByRule');
  assert.equal(outcome(['*'], 'pay', [{ class: 'NodeDown' }]), 'IgnoredByRule');
});
