import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { hasCrashedLately, isCrashing, isFinished, isLooping, podTroubles } from '../../../src/health/pod.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import { type ContainerView, type PodView, viewPod } from '../../../src/kube/views.ts';
import { aContainer, aPod, crashing } from '../../support/views.ts';

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const minutes = 60_000;
const bad = (container: Partial<ContainerView>, over: Partial<PodView> = {}) =>
  aPod({ ready: false, containers: [aContainer({ ready: false, ...container })], ...over });
const waiting = (reason: string, waitingMessage = '') => bad({ waiting: reason, waitingMessage }, { phase: 'Pending' });
const up = (agoMs: number) => ({ runningSinceMs: nowMs - agoMs });
const oom = (agoMs: number, uptimeMs = 30_000) => ({
  reason: 'OOMKilled',
  exitCode: 137,
  uptimeMs,
  finishedAtMs: nowMs - agoMs,
});
const failed = (agoMs: number) => ({ ...oom(agoMs), reason: 'Error', exitCode: 1 });
const unscheduled = (reason: string, message = '0/3 nodes are available') =>
  aPod({
    phase: 'Pending',
    ready: false,
    containers: [],
    unscheduled: { status: 'False', reason, message, sinceMs: nowMs - minutes },
  });

const cases: [string, PodView, string][] = [
  ['all is well', aPod(), ''],
  ['an image that is not there', waiting('ErrImagePull'), 'ImagePull'],
  ['an image that is still not there', waiting('ImagePullBackOff', 'Back-off pulling image "x"'), 'ImagePull'],
  ['a name that is no image', waiting('InvalidImageName'), 'ImagePull'],
  ['an image that may not be pulled', waiting('ErrImageNeverPull'), 'ImagePull'],
  ['a missing ConfigMap', waiting('CreateContainerConfigError', 'configmap "missing" not found'), 'ConfigMissing'],
  ['a missing Secret', waiting('CreateContainerConfigError', 'secret "missing" not found'), 'ConfigMissing'],
  ['a missing key', waiting('CreateContainerConfigError', "couldn't find key url in Secret shop/db"), 'ConfigMissing'],
  ['nothing is said of what is missing', waiting('CreateContainerConfigError'), 'ConfigMissing'],
  [
    'a user that it may not run as',
    waiting('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root'),
    'SandboxFailed',
  ],
  [
    'a container that cannot be made',
    waiting('CreateContainerError', 'failed to reserve container name'),
    'SandboxFailed',
  ],
  ['still being made', waiting('ContainerCreating'), ''],
  ['waiting for its init containers', waiting('PodInitializing'), ''],

  ['a crash loop', bad(crashing), 'CrashLoop'],
  ['a crash loop of an init container', bad({ ...crashing, isInit: true }, { phase: 'Pending' }), 'CrashLoop'],
  [
    'the first restart of a slow starter',
    bad({ ...up(20_000), restarts: 1, ended: failed(21_000), isStarting: true }),
    '',
  ],
  [
    'up again after its second crash, not ready',
    bad({ ...up(5_000), restarts: 2, ended: failed(6_000), isStarting: true }),
    'CrashLoop',
  ],
  ['on its way out', bad(crashing, { deleting: true }), ''],

  ['killed for memory once', bad({ isDown: true, restarts: 0, ended: oom(1_000) }), ''],
  [
    'killed for memory twice, down',
    bad({ isDown: true, restarts: 1, ended: oom(1_000), endedBefore: 'OOMKilled' }),
    'OOMKilled CrashLoop',
  ],
  [
    'killed for memory after it crashed otherwise',
    bad({ isDown: true, restarts: 1, ended: oom(1_000), endedBefore: 'Error' }),
    'CrashLoop',
  ],
  [
    'killed for memory, in its back-off',
    bad({ waiting: 'CrashLoopBackOff', restarts: 5, ended: oom(60_000) }),
    'OOMKilled CrashLoop',
  ],
  [
    'killed for memory, and up again and ready',
    aPod({ containers: [aContainer({ ...up(5_000), restarts: 2, ended: oom(6_000) })] }),
    'OOMKilled',
  ],
  [
    'killed for memory a quarter of an hour ago',
    aPod({ containers: [aContainer({ ...up(15 * minutes), restarts: 2, ended: oom(15 * minutes) })] }),
    '',
  ],
  [
    'killed for memory after a whole day',
    aPod({ containers: [aContainer({ ...up(5_000), restarts: 9, ended: oom(6_000, 1_440 * minutes) })] }),
    '',
  ],
  [
    'killed for memory in the year 9999',
    aPod({ containers: [aContainer({ ...up(5_000), restarts: 2, ended: oom(-252_000_000 * minutes) })] }),
    '',
  ],

  ['runs, and is not ready', bad(up(60_000)), 'ProbeFailing'],
  [
    'one container of two is not ready',
    aPod({ ready: false, containers: [aContainer(up(60_000)), aContainer({ ready: false, ...up(60_000) })] }),
    'ProbeFailing',
  ],
  ['a sidecar that is not ready', bad({ ...up(60_000), name: 'proxy' }), 'ProbeFailing'],
  ['its startup probe is not through', bad({ ...up(60_000), isStarting: true }), ''],
  ['an init container at work', bad({ ...up(60_000), isInit: true }, { phase: 'Pending' }), ''],
  [
    'its node is silent: it is not ready, its containers are',
    aPod({ ready: false, containers: [aContainer(up(60_000))] }),
    '',
  ],

  ['no node has room', unscheduled('Unschedulable'), 'Unschedulable'],
  ['held back by a gate', unscheduled('SchedulingGated'), ''],
  [
    'waits for a claim',
    { ...unscheduled('Unschedulable', 'pod has unbound immediate PersistentVolumeClaims'), claims: ['data'] },
    'StorageFailed(PersistentVolumeClaim/data)',
  ],
  ['evicted', aPod({ phase: 'Failed', ready: false, reason: 'Evicted', containers: [crashing] }), 'Evicted'],
  ['evicted and being removed', aPod({ phase: 'Failed', ready: false, reason: 'Evicted', deleting: true }), ''],
  ['failed otherwise, as a pod of a Job', aPod({ phase: 'Failed', ready: false, containers: [crashing] }), ''],
  ['done', aPod({ phase: 'Succeeded', ready: false, containers: [crashing] }), ''],
  [
    'two containers, two troubles',
    aPod({ ready: false, containers: [crashing, aContainer({ ready: false, waiting: 'ErrImagePull' })] }),
    'CrashLoop ImagePull',
  ],
  ['two containers, the same trouble', aPod({ ready: false, containers: [crashing, crashing] }), 'CrashLoop'],
];

for (const [name, pod, want] of cases)
  test(`pod: ${name}: ${want || 'nothing'}`, () => {
    const found = podTroubles(pod, nowMs).map(({ class: failureClass, cause }) =>
      cause ? `${failureClass}(${cause.kind}/${cause.name})` : failureClass,
    );
    assert.equal(found.join(' '), want);
  });

test('how long a pod is not ready counts from when it was up, or was last ready', () => {
  const since = (unreadyAgoMs: number, upAgoMs: number) =>
    podTroubles(bad(up(upAgoMs), { unreadySinceMs: nowMs - unreadyAgoMs }), nowMs)[0]?.sinceMs;
  assert.equal(since(60_000, 20_000), nowMs - 20_000);
  assert.equal(since(20_000, 60_000), nowMs - 20_000);
});

test('recorded pods of a real cluster', () => {
  const file = new URL('../../fixtures/recorded/node-pods.json', import.meta.url);
  const seen = JSON.parse(readFileSync(file, 'utf8')).items.map((raw: never) => {
    const pod = viewPod(raw)!;
    const classes = podTroubles(pod, Date.parse('2026-11-16T08:30:10Z')).map((trouble) => trouble.class);
    return [pod.name.split('-')[0], classes.join(' ')];
  });
  assert.deepEqual(Object.fromEntries(seen), {
    mount: '', // its events say what it waits for
    nightly: '',
    node: 'CrashLoop',
    pvc: 'StorageFailed',
    slow: 'ProbeFailing',
    cfg: 'ConfigMissing',
    crash: 'CrashLoop',
    live: 'CrashLoop',
    oom: 'OOMKilled CrashLoop',
    typo: 'ImagePull',
    unready: 'ProbeFailing',
  });
});

const initContainers = [{ name: 'migrate' }, { name: 'proxy', restartPolicy: 'Always' }];
test('a sidecar is not an init container, though it stands among them', () => {
  const status = (name: string) => ({
    name,
    ready: false,
    restartCount: 0,
    started: true,
    state: { running: { startedAt: '2026-11-16T03:00:00Z' } },
  });
  const pod = viewPod({
    metadata: { name: 'p', uid: 'p' },
    spec: { initContainers },
    status: { phase: 'Running', initContainerStatuses: [status('migrate'), status('proxy')] },
  } as never)!;
  assert.deepEqual(
    pod.containers.map(({ name, isInit = false }) => [name, isInit]),
    [
      ['migrate', true],
      ['proxy', false],
    ],
  );
  assert.deepEqual(
    podTroubles(pod, nowMs).map(({ message }) => message),
    ['container proxy runs and is not ready'],
  );
});

const endedAt = (agoMs: number) =>
  aContainer({ restarts: 2, ended: { reason: 'Error', exitCode: 1, uptimeMs: 5_000, finishedAtMs: nowMs - agoMs } });

const pods = [
  { name: 'in its back-off', pod: aPod({ containers: [crashing] }), now: true, lately: true },
  {
    name: 'up again, not ready',
    pod: aPod({ ready: false, containers: [{ ...endedAt(60_000), ready: false }] }),
    now: true,
    lately: true,
  },
  {
    name: 'up since an hour, and not ready',
    pod: aPod({ ready: false, containers: [{ ...endedAt(3_600_000), ready: false }] }),
    now: false,
    lately: false,
  },
  {
    name: 'up and ready a minute after a crash',
    pod: aPod({ containers: [endedAt(60_000)] }),
    now: false,
    lately: true,
  },
  {
    name: 'up and ready an hour after a crash',
    pod: aPod({ containers: [endedAt(3_600_000)] }),
    now: false,
    lately: false,
  },
  {
    name: 'whose init container needed a second try a minute ago',
    pod: aPod({
      containers: [{ ...endedAt(60_000), isDown: true, ended: { ...endedAt(60_000).ended!, exitCode: 0 } }],
    }),
    now: false,
    lately: false,
  },
  {
    name: 'starting for the first time',
    pod: aPod({ ready: false, containers: [aContainer({ ready: false })] }),
    now: false,
    lately: false,
  },
  { name: 'on its way out', pod: aPod({ deleting: true, containers: [crashing] }), now: false, lately: false },
];
for (const { name, pod, now, lately } of pods)
  test(`a pod ${name}: ${now ? 'crashes' : lately ? 'crashed lately' : 'does not crash'}`, () =>
    assert.deepEqual([isCrashing(pod, nowMs), hasCrashedLately(pod, nowMs)], [now, lately]));

describe('a pod that loops, and one that is over', () => {
  const failed = (exitCode: number) => ({ reason: 'Error', exitCode, uptimeMs: 300, finishedAtMs: 1 });
  const loops: [string, ReturnType<typeof aContainer>, boolean][] = [
    ['says CrashLoopBackOff', aContainer({ waiting: 'CrashLoopBackOff' }), true],
    ['failed again and is down', aContainer({ isDown: true, restarts: 1, ended: failed(1) }), true],
    ['failed for the first time', aContainer({ isDown: true, restarts: 0, ended: failed(1) }), false],
    ['ended well, again', aContainer({ isDown: true, restarts: 3, ended: failed(0) }), false],
    ['failed before, and is up', aContainer({ isDown: false, restarts: 3, ended: failed(1) }), false],
  ];
  for (const [name, container, want] of loops)
    test(`a container that ${name} ${want ? 'loops' : 'does not loop'}`, () =>
      assert.equal(isLooping(container), want));

  for (const phase of ['Failed', 'Succeeded'])
    test(`a pod that is ${phase} is over: nothing of it counts`, () => {
      const pod = aPod({ phase, containers: [crashing] });
      assert.deepEqual([isFinished(pod), isCrashing(pod, 0)], [true, false]);
      const live = workloadHealth({ desired: 1, ready: 1, settled: true }, [pod], 0);
      assert.deepEqual([live.healthy, live.troubles, live.restarts, live.longestUptimeMs], [true, [], 0, 0]);
    });
});
