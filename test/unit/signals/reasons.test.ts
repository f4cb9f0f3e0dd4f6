import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { classNames } from '../../../src/config/schema.ts';
import { rowOf } from '../../../src/signals/reasons.ts';

const text = readFileSync(new URL('../../fixtures/event-reasons.md', import.meta.url), 'utf8');
const reasons = [...text.matchAll(/`([A-Za-z0-9]+)`/g)].map(([, reason]) => reason!);

test('the list of reasons was read', () => assert.ok(reasons.length > 70, `${reasons.length}`));

test('every Warning reason of Kubernetes is mapped or deliberately ignored, with a why', () => {
  const left = reasons.filter((reason) => !rowOf(reason)?.why);
  assert.deepEqual(left, []);
});

test('what is ignored is this, and nothing slips in unseen', () => {
  const ignored = reasons.filter((reason) => rowOf(reason)?.rule === undefined);
  assert.deepEqual(ignored, [
    'FailedDelete',
    'FailedDaemonPod',
    'TooManySucceededPods',
    'MissSchedule',
    'TooManyMissedTimes',
    'UnparseableSchedule',
    'InvalidSchedule',
    'UnknownTimeZone',
    'UnexpectedJob',
    'ProbeWarning',
    'VolumeResizeFailed',
    'FailedPodSandBoxStatus',
    'FailedKillPod',
    'FailedSync',
    'FailedPreStopHook',
    'FailedToRetrieveImagePullSecret',
    'ExceededGracePeriod',
    'DNSConfigForming',
    'VolumeConditionAbnormal',
    'ResizeError',
    'ResizeInfeasible',
    'SystemOOM',
    'EvictionThresholdMet',
    'FreeDiskSpaceFailed',
    'ImageGCFailed',
    'ContainerGCFailed',
    'KubeletSetupFailed',
    'InvalidDiskCapacity',
    'Rebooted',
    'Shutdown',
    'NodeNotReady',
    'ExternalExpanding',
    'VolumeFailedDelete',
    'VolumeFailedRecycle',
    'SyncLoadBalancerFailed',
    'UnAvailableLoadBalancer',
    'NoPods',
    'CalculateExpectedPodCountFailed',
    'UnmanagedPods',
    'CgroupV1',
    'MissingClusterDNS',
  ]);
});

test('a rule gives a class that exists, on some kind of object', () => {
  const kinds = ['Pod', 'Job', 'ReplicaSet', 'Deployment', 'PersistentVolumeClaim', 'HorizontalPodAutoscaler'];
  const known: readonly string[] = classNames;
  for (const reason of reasons) {
    const rule = rowOf(reason)?.rule;
    if (!rule) continue;
    const message = reason === 'BackOff' ? 'Back-off pulling image' : '';
    const found = kinds.flatMap(
      (kind) => rule({ reason, message, object: { kind, name: 'x', namespace: 's', uid: 'u' } }) ?? [],
    );
    assert.ok(found.length > 0 && found.every((one) => known.includes(one.class)), reason);
  }
});

test('a name that every object has is no reason', () => assert.equal(rowOf('constructor'), undefined));
