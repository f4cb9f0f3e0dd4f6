import assert from 'node:assert/strict';
import { test } from 'node:test';
import { autoscalerTroubles, claimTroubles, type KnownClass, nodeTroubles } from '../../../src/health/cluster.ts';
import type { Trouble } from '../../../src/health/trouble.ts';
import { type ClaimView, viewAutoscaler, viewNode } from '../../../src/kube/views.ts';
import { anEvent } from '../../support/views.ts';

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
const withConditions = (...conditions: object[]) => ({ metadata: meta, status: { conditions } }) as never;

const nodes: [string, object, string][] = [
  ['that is ready', withConditions(condition('Ready', 'True')), ''],
  ['that says it is not', withConditions(condition('Ready', 'False', 'KubeletNotReady')), 'NodeDown: KubeletNotReady'],
  ['that is silent', withConditions(condition('Ready', 'Unknown', 'NodeStatusUnknown')), 'NodeDown: NodeStatusUnknown'],
  ['that never spoke', withConditions(), ''],
  ['under pressure', withConditions(condition('MemoryPressure', 'True'), condition('Ready', 'True')), ''],
  [
    'that is being deleted',
    { metadata: { ...meta, deletionTimestamp: 'x' }, status: { conditions: [condition('Ready', 'Unknown')] } },
    '',
  ],
];
for (const [name, raw, want] of nodes)
  test(`a node ${name}: ${want || 'nothing'}`, () =>
    assert.equal(inWords(nodeTroubles(viewNode(raw as never)!)), want));

const autoscalers: [string, object[], string][] = [
  ['that sees', [condition('AbleToScale', 'True'), condition('ScalingActive', 'True')], ''],
  [
    'without metrics',
    [condition('AbleToScale', 'True'), condition('ScalingActive', 'False', 'FailedGetResourceMetric')],
    'AutoscalerBlind: FailedGetResourceMetric',
  ],
  ['without a target', [condition('AbleToScale', 'False', 'FailedGetScale')], 'AutoscalerBlind: FailedGetScale'],
  ['whose target was scaled to zero', [condition('ScalingActive', 'False', 'ScalingDisabled')], ''],
  ['that waits before it scales again', [condition('AbleToScale', 'False', 'BackoffBoth')], ''],
  ['that has not said anything', [], ''],
];
for (const [name, conditions, want] of autoscalers)
  test(`an autoscaler ${name}: ${want || 'nothing'}`, () =>
    assert.equal(inWords(autoscalerTroubles(viewAutoscaler(withConditions(...conditions))!)), want));

const aClaim = (over: Partial<ClaimView> = {}): ClaimView => ({
  ...meta,
  deleting: false,
  phase: 'Pending',
  storageClass: 'fast',
  createdAtMs: 5,
  ...over,
});
const there = (waitsForConsumer: boolean): KnownClass => ({
  name: 'fast',
  namespace: '',
  uid: 'c',
  deleting: false,
  waitsForConsumer,
});
const failing = anEvent({ reason: 'ProvisioningFailed', message: 'rpc error' });
const notFound = anEvent({ reason: 'ProvisioningFailed', message: 'storageclass.storage.k8s.io "fast" not found' });
const claims: [string, ClaimView, KnownClass, ReturnType<typeof anEvent>[], string][] = [
  ['that is bound', aClaim({ phase: 'Bound' }), there(false), [failing], ''],
  ['that lost its volume', aClaim({ phase: 'Lost' }), there(false), [], 'StorageFailed: ClaimLost'],
  ['whose class is not there', aClaim(), 'missing', [], 'StorageFailed(fast): ProvisioningFailed'],
  [
    'whose class is not there, by its events',
    aClaim(),
    'unknown',
    [notFound],
    'StorageFailed(fast): ProvisioningFailed',
  ],
  ['whose class is there by now', aClaim(), there(true), [anEvent({ reason: 'WaitForFirstConsumer' }), notFound], ''],
  ['that waits for its first consumer', aClaim(), there(true), [], ''],
  [
    'that had a consumer, and whose provisioner fails',
    aClaim(),
    there(true),
    [anEvent({ reason: 'ExternalProvisioning' }), failing],
    'StorageFailed: ProvisioningFailed',
  ],
  ['that nobody makes a volume for', aClaim(), there(false), [], 'StorageFailed: Pending'],
  ['of which nothing is known', aClaim(), 'unknown', [], ''],
  ['without a class', aClaim({ storageClass: '' }), 'unknown', [], 'StorageFailed: FailedBinding'],
  ['that is being deleted', aClaim({ phase: 'Lost', deleting: true }), 'missing', [], ''],
];
for (const [name, claim, known, events, want] of claims)
  test(`a claim ${name}: ${want || 'nothing'}`, () => assert.equal(inWords(claimTroubles(claim, known, events)), want));
