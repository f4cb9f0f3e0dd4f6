import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSource, meta } from './a-source.ts';

const quota = 'Error creating: pods "a" is forbidden: exceeded quota: small, requested: pods=1';
const involvedObject = { kind: 'ReplicaSet', name: 'api-1', namespace: 'shop', uid: 'rs' };
const event = (name: string, message: string, type = 'Warning', reason = 'FailedCreate') => ({
  metadata: meta(name),
  type,
  reason,
  message,
  involvedObject,
});
const containerStatuses = (ready: boolean, restartCount: number) => [
  {
    name: 'app',
    ready,
    restartCount,
    state: ready
      ? { running: {} }
      : { waiting: { reason: restartCount > 0 ? 'CrashLoopBackOff' : 'ContainerCreating' } },
  },
];
const pod = (name: string, ready: boolean, restartCount = 3, spec = {}) => ({
  metadata: meta(name),
  spec,
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    containerStatuses: containerStatuses(ready, restartCount),
  },
});

test('what is listed and what is news become signals; healthy pods leave no trace, other events are counted', async () => {
  const { clock, requests, signals, counted, line, stop } = aSource({
    Event: [event('e-1', quota), event('e-2', 'x', 'Warning', 'FailedSync')],
    Pod: [pod('bad', false), pod('fine', true), pod('starting', false, 0)],
  });
  await clock.advance(0);
  assert.deepEqual(signals.toSorted(), [
    'CrashLoop bad (listed)',
    'QuotaExceeded api-1 by ResourceQuota/small (listed)',
  ]);
  assert.deepEqual(counted, ['NotAFailure', 'NotAFailure'], 'the other event and the pod that starts');
  assert.ok(requests.includes('Event type=Warning'));
  assert.ok(!requests.includes('Event type!=Warning'), 'Normal events are watched only where somebody asked for them');
  signals.length = 0;
  await line('Event', 'ADDED', event('e-3', quota));
  await line('Pod', 'MODIFIED', pod('fine', false));
  await line('Pod', 'MODIFIED', pod('fine', true));
  await line('Pod', 'DELETED', pod('bad', false));
  assert.deepEqual(signals, ['QuotaExceeded api-1 by ResourceQuota/small', 'CrashLoop fine']);
  assert.equal(counted.length, 2);
  stop();
});

test('what is refused because its namespace is being deleted is counted as that', async () => {
  const ending =
    'Error creating: pods "a" is forbidden: unable to create new content in namespace shop because it is being terminated';
  const { clock, signals, counted, stop } = aSource({ Event: [event('e-1', ending)] });
  await clock.advance(0);
  assert.deepEqual([signals, counted], [[], ['NamespaceTerminating']]);
  stop();
});

test('events are handed on page by page, and none is lost', async () => {
  const many = Array.from({ length: 25 }, (_, n) => event(`e-${n}`, quota));
  const { clock, signals, stop } = aSource({ Event: many }, { pageSize: 10 });
  await clock.advance(0);
  assert.equal(signals.length, 25);
  stop();
});

test('what nobody can make sense of is counted and nothing else', async () => {
  const { clock, signals, counted, line, stop } = aSource({
    Event: [{ metadata: meta('e'), type: 'Warning', reason: 'FailedCreate', message: quota }],
    Pod: [{ metadata: { name: 'no-uid' }, status: { phase: 'Running' } }],
    Job: [{}],
    Node: [{ metadata: null }],
  });
  await clock.advance(0);
  await line('Pod', 'ADDED', { spec: 7 });
  assert.deepEqual(signals, []);
  assert.deepEqual(counted, ['Unreadable', 'Unreadable', 'Unreadable', 'Unreadable', 'Unreadable']);
  stop();
});

const set = (availableReplicas: number) => ({
  metadata: meta('rs'),
  spec: { replicas: 1 },
  status: { availableReplicas },
});
test('a revision that is listed as available is known to be so from then on, but not for a time that nobody watched', async () => {
  const { clock, history, line, stop } = aSource({ ReplicaSet: [set(1)] });
  await clock.advance(60_000);
  assert.equal(history.longestAvailableMs('u-rs', clock.now()), 60_000);
  await clock.advance(20_000);
  await line('ReplicaSet', 'MODIFIED', set(0)); // the first word for 80 s
  assert.equal(history.longestAvailableMs('u-rs', clock.now()), 0);
  stop();
});

const condition = (type: string, status: string, reason: string) => ({ type, status, reason, message: `${reason}!` });
test('the status of every other kind', async () => {
  const { clock, signals, stop } = aSource({
    Deployment: [
      {
        metadata: meta('stuck'),
        spec: {},
        status: { conditions: [condition('Progressing', 'False', 'ProgressDeadlineExceeded')] },
      },
      {
        metadata: meta('fine'),
        spec: {},
        status: { conditions: [condition('Progressing', 'True', 'NewReplicaSetAvailable')] },
      },
    ],
    StatefulSet: [{ metadata: meta('db'), spec: { replicas: 2 }, status: { replicas: 1 } }],
    DaemonSet: [{ metadata: meta('agent'), status: { desiredNumberScheduled: 2, currentNumberScheduled: 2 } }],
    Job: [
      {
        metadata: meta('once'),
        status: {
          conditions: [
            { ...condition('Failed', 'True', 'BackoffLimitExceeded'), lastTransitionTime: '2026-11-16T03:11:00Z' },
          ],
        },
      },
    ],
    HorizontalPodAutoscaler: [
      {
        metadata: meta('hpa'),
        status: { conditions: [condition('ScalingActive', 'False', 'FailedGetResourceMetric')] },
      },
    ],
    PersistentVolumeClaim: [
      { metadata: meta('lost'), status: { phase: 'Lost' } },
      { metadata: meta('bound'), status: { phase: 'Bound' } },
    ],
  });
  await clock.advance(0);
  assert.deepEqual(signals.toSorted(), [
    'AutoscalerBlind hpa (listed)',
    'CreateRejected db (listed)',
    'JobFailed once (listed)',
    'RolloutStuck stuck (listed)',
    'StorageFailed lost (listed)',
  ]);
  stop();
});

const node = (name: string, ready: string) => ({
  metadata: { ...meta(name), namespace: undefined },
  status: { conditions: [condition('Ready', ready, 'NodeStatusUnknown')] },
});
/** As the control plane leaves it: not ready, and its containers say what they said last. */
const left = (name: string) => ({
  metadata: meta(name),
  spec: { nodeName: 'n-1' },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'False' }],
    containerStatuses: containerStatuses(true, 0),
  },
});

test('pods on a node that is down are its trouble, whichever is known first', async () => {
  const { clock, signals, line, stop } = aSource({ Pod: [left('early')], Node: [node('n-1', 'True')] });
  await clock.advance(0);
  assert.deepEqual(signals, [], 'not ready, and no word why');
  await line('Node', 'MODIFIED', node('n-1', 'Unknown'));
  assert.deepEqual(signals, ['NodeDown early by Node/n-1', 'NodeDown n-1']);
  signals.length = 0;
  await line('Pod', 'MODIFIED', left('late'));
  await line('Pod', 'MODIFIED', pod('crashing', false, 3, { nodeName: 'n-1' }));
  await line('Pod', 'MODIFIED', pod('elsewhere', false, 3, { nodeName: 'n-2' }));
  assert.deepEqual(signals, ['NodeDown late by Node/n-1', 'NodeDown crashing by Node/n-1', 'CrashLoop elsewhere']);
  signals.length = 0;
  await line('Node', 'MODIFIED', node('n-1', 'True'));
  await line('Pod', 'MODIFIED', pod('crashing', false, 3, { nodeName: 'n-1' }));
  assert.deepEqual(signals, ['CrashLoop crashing']);
  stop();
});

test('one that was killed for memory again is noticed, though it is up and ready when we hear of it', async () => {
  const { clock, signals, line, stop } = aSource({});
  await clock.advance(0);
  const at = (agoMs: number) => new Date(clock.now() - agoMs).toISOString();
  const ready = pod('oom', true, 2);
  const terminated = { reason: 'OOMKilled', exitCode: 137, startedAt: at(40_000), finishedAt: at(2_000) };
  const containers = ready.status.containerStatuses.map((one) => ({ ...one, lastState: { terminated } }));
  await line('Pod', 'MODIFIED', { ...ready, status: { ...ready.status, containerStatuses: containers } });
  assert.deepEqual(signals, ['OOMKilled oom']);
  stop();
});

const claim = (storageClassName: string) => ({
  metadata: meta('data'),
  spec: { storageClassName },
  status: { phase: 'Pending' },
});
const unbound = {
  metadata: meta('web'),
  spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] },
  status: {
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: 'pod has unbound immediate PersistentVolumeClaims',
      },
    ],
  },
};
const storageClass = { metadata: { ...meta('fast'), namespace: undefined } };

test('a claim without its class, and the pod that waits for it, are the trouble of the class', async () => {
  const { clock, signals, line, stop } = aSource({ PersistentVolumeClaim: [claim('fast')] });
  await clock.advance(0);
  await line('Pod', 'ADDED', unbound);
  assert.deepEqual(signals, [
    'StorageFailed data by StorageClass/fast (listed)',
    'StorageFailed web by StorageClass/fast',
  ]);
  signals.length = 0;
  await line('StorageClass', 'ADDED', storageClass);
  await line('Pod', 'MODIFIED', unbound);
  assert.deepEqual(signals, ['StorageFailed data', 'StorageFailed web by PersistentVolumeClaim/data']);
  stop();
});

test('with rights in a few namespaces only, what is the cluster`s own is left out quietly', async () => {
  const forbidden = new Set(['Node', 'StorageClass']);
  const source = aSource(
    { Pod: [left('p')], PersistentVolumeClaim: [claim('fast')] },
    { scopes: ['shop', 'pay'], forbidden },
  );
  const { clock, requests, logged, signals, watches, line, stop } = source;
  await clock.advance(3_600_000);
  const about = logged.filter((line) => /^(Node|StorageClass):/.test(line));
  const words = 'may not be watched, what only it shows is not noticed';
  assert.deepEqual(about.toSorted(), [`Node: ${words}`, `StorageClass: ${words}`]);
  assert.ok(requests.filter((request) => request === 'Node').length < 15, 'asked again now and then');
  for (const name of ['nodes', 'storageclasses']) {
    assert.equal(
      watches[name]!.every((watch) => watch.synced()),
      true,
    );
    assert.equal(watches[name]![0]!.silentMs(), 0);
  }
  assert.equal(signals.length, 0, 'a claim whose class nobody may read says nothing by itself');
  assert.ok(
    requests.includes('Pod shop') && requests.includes('Pod pay') && requests.includes('Event pay type=Warning'),
  );
  forbidden.clear();
  await clock.advance(600_000);
  await line('Node', 'ADDED', node('n-1', 'False'));
  assert.ok(signals.includes('NodeDown p by Node/n-1'), 'and watched once it may be');
  stop();
});

test('event reasons of ones own are seen whatever their type', async () => {
  const extraReasons = [{ reason: 'BackupFailed', class: 'BackupFailed', severity: 'info' as const, for: 0 }];
  const Event = [
    event('e-1', 'm', 'Normal', 'BackupFailed'),
    event('e-2', 'm', 'Normal', 'Pulled'),
    event('e-3', 'm', 'Warning', 'BackupFailed'),
  ];
  const { clock, requests, signals, counted, line, stop } = aSource({ Event }, { config: { extraReasons } });
  await clock.advance(0);
  assert.ok(requests.includes('Event type!=Warning'));
  await line('Event (other)', 'ADDED', event('e-4', 'm', 'Normal', 'BackupFailed'));
  await line('Event (other)', 'ADDED', event('e-5', 'm', 'Normal', 'Pulled'));
  assert.deepEqual(signals.toSorted(), [
    'BackupFailed api-1',
    'BackupFailed api-1 (listed)',
    'BackupFailed api-1 (listed)',
  ]);
  assert.deepEqual(counted, []);
  stop();
});
