import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodObject, PodSpec, PodStatus } from '../../../../src/sim/common/shapes.ts';
import { usualTiming } from '../../../../src/sim/kubelet/behaviour.ts';
import { adopt, arrive, livePod, type PodNote } from '../../../../src/sim/kubelet/pod-life.ts';
import { statusOf } from '../../../../src/sim/kubelet/pod-status.ts';
import { at, meta, nowMs } from '../objects.ts';

const world = { timing: usualTiming };
const place = { hostIP: '10.100.0.1', podIP: '10.244.0.2' };

const aPodOf = (behave: string, spec: PodSpec = {}): PodObject => ({
  metadata: meta('web-1', { annotations: { 'sim.tapfix.dev/behave': behave } }),
  spec: { containers: [{ name: 'app', image: 'shop/web:1.0' }], ...spec },
  status: { phase: 'Pending' },
});

/** The pod's status and what was said, after so many seconds on its node. */
function after(pod: PodObject, seconds: number, from = arrive(pod, world, nowMs)) {
  const notes: PodNote[] = [];
  let [life, status] = [from, {} as PodStatus];
  for (let ms = nowMs; ms <= nowMs + seconds * 1000;) {
    const lived = livePod(life, pod, world, ms);
    life = lived.life;
    notes.push(...lived.notes);
    status = statusOf(life, pod, place, status, ms);
    ms = lived.wakeAtMs;
  }
  return { life, status, notes };
}

const conditions = ({ conditions = [] }: PodStatus): Record<string, string> =>
  Object.fromEntries(conditions.map(({ type, status, reason = '' }) => [type, `${status} ${reason}`.trim()]));

const states = [
  {
    name: 'creating',
    behave: 'run',
    seconds: 0,
    phase: 'Pending',
    waiting: 'ContainerCreating',
    ready: 'False ContainersNotReady',
  },
  { name: 'running', behave: 'run', seconds: 2, phase: 'Running', ready: 'True' },
  {
    name: 'hanging',
    behave: 'hang',
    seconds: 600,
    phase: 'Pending',
    waiting: 'ContainerCreating',
    ready: 'False ContainersNotReady',
  },
  {
    name: 'without a sandbox',
    behave: 'sandbox',
    seconds: 60,
    phase: 'Pending',
    waiting: 'ContainerCreating',
    ready: 'False ContainersNotReady',
  },
  {
    name: 'without its volume',
    behave: 'volume',
    seconds: 60,
    phase: 'Pending',
    waiting: 'ContainerCreating',
    ready: 'False ContainersNotReady',
  },
  {
    name: 'without its image',
    behave: 'image-missing',
    seconds: 5,
    phase: 'Pending',
    waiting: 'ImagePullBackOff',
    ready: 'False ContainersNotReady',
  },
  {
    name: 'crashing',
    behave: 'crash',
    seconds: 8,
    phase: 'Running',
    waiting: 'CrashLoopBackOff',
    ready: 'False ContainersNotReady',
  },
  { name: 'evicted', behave: 'evicted', seconds: 60, phase: 'Failed', ready: 'False PodFailed' },
  {
    name: 'done',
    behave: 'exit-0',
    spec: { restartPolicy: 'Never' },
    seconds: 60,
    phase: 'Succeeded',
    ready: 'False PodCompleted',
  },
  {
    name: 'failed',
    behave: 'exit-1',
    spec: { restartPolicy: 'Never' },
    seconds: 60,
    phase: 'Failed',
    ready: 'False PodFailed',
  },
];

for (const { name, behave, spec, seconds, phase, waiting, ready } of states) {
  test(`status: ${name}`, () => {
    const { status } = after(aPodOf(behave, spec), seconds);
    assert.equal(status.phase, phase);
    assert.equal(status.containerStatuses?.[0]?.state.waiting?.reason, waiting);
    assert.equal(conditions(status)['Ready'], ready);
    assert.equal(conditions(status)['PodScheduled'], 'True');
  });
}

test('what is said of a pod that cannot have its sandbox or its volume', () => {
  const sandbox = after(aPodOf('sandbox'), 30).notes;
  assert.deepEqual(
    new Set(sandbox.map(({ type, reason }) => `${type} ${reason}`)),
    new Set(['Warning FailedCreatePodSandBox']),
  );
  assert.equal(new Set(sandbox.map(({ message }) => message)).size, 3, 'each try is another sandbox');
  const volume = after(aPodOf('volume=token', { volumes: [{ name: 's' }] }), 70).notes;
  assert.equal(volume.length, 8, 'half a second, doubling');
  assert.equal(volume[0]?.message, 'MountVolume.SetUp failed for volume "s" : secret "token" not found');
});

test('an eviction: said, and in the status', () => {
  const { status, notes } = after(aPodOf('evicted=5s'), 60);
  const note = notes.find(({ reason }) => reason === 'Evicted');
  assert.match(note?.message ?? '', /^The node was low on resource: memory\. Threshold quantity: /);
  assert.deepEqual([status.reason, status.message], ['Evicted', note?.message]);
});

test('init containers run one after the other, then the rest', () => {
  const initContainers = [{ name: 'a', image: 'i' }, { name: 'b', image: 'i' }]; // prettier-ignore
  const pod = aPodOf('run', { initContainers });
  const early = after(pod, 1.2).status;
  assert.deepEqual(
    early.initContainerStatuses?.map(({ state }) => Object.keys(state)[0]),
    ['running', 'waiting'],
  );
  assert.equal(conditions(early)['Initialized'], 'False ContainersNotInitialized');
  const late = after(pod, 5).status;
  assert.deepEqual(
    late.initContainerStatuses?.map(({ ready }) => ready),
    [true, true],
  );
  assert.deepEqual([late.phase, conditions(late)['Ready']], ['Running', 'True']);
});

test('an init container that crashes keeps the pod from starting', () => {
  const pod = aPodOf('a:crash', { initContainers: [{ name: 'a', image: 'i' }] });
  const { status } = after(pod, 8);
  assert.equal(status.phase, 'Pending');
  assert.equal(status.initContainerStatuses?.[0]?.state.waiting?.reason, 'CrashLoopBackOff');
  assert.equal(status.containerStatuses?.[0]?.state.waiting?.reason, 'PodInitializing');
});

test('a pod that is deleted stops within its grace, and says so', () => {
  const pod = aPodOf('run');
  const { life } = after(pod, 5);
  const going = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: at(35), deletionGracePeriodSeconds: 30 } };
  const first = livePod(life, going, world, nowMs + 6000);
  assert.deepEqual(first.notes, [
    { type: 'Normal', reason: 'Killing', message: 'Stopping container app', fieldPath: 'spec.containers{app}' },
  ]);
  assert.deepEqual([first.life.isStopped, first.wakeAtMs], [false, nowMs + 6500]);
  const second = livePod(first.life, going, world, nowMs + 6500);
  assert.deepEqual([second.life.isStopped, second.notes], [true, []]);
});

test('conditions keep their time for as long as they stay', () => {
  const pod = aPodOf('crash-after=100s');
  const { status } = after(pod, 60);
  assert.equal(status.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime, at(1));
  assert.equal(status.conditions?.find(({ type }) => type === 'Initialized')?.lastTransitionTime, at(0));
});

test('a kubelet that starts again goes on where the status is', () => {
  const pod = aPodOf('crash-after=100s');
  const { status } = after(pod, 150);
  assert.deepEqual([status.containerStatuses?.[0]?.restartCount, status.phase], [1, 'Running']);
  const found = { ...pod, status };
  const { status: again, notes } = after(found, 0, adopt(found, world, nowMs + 150_000));
  assert.equal(again.containerStatuses?.[0]?.restartCount, 1);
  assert.deepEqual(again.containerStatuses?.[0]?.state, status.containerStatuses?.[0]?.state);
  assert.deepEqual(notes, []);
  const later = after(found, 250, adopt(found, world, nowMs + 150_000)).status;
  assert.equal(later.containerStatuses?.[0]?.restartCount, 2, 'it still crashes when it would have');
});
