import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Behaviour, parseBehaviour, usualTiming } from '../../../../src/sim/kubelet/behaviour.ts';
import {
  goDuration,
  type ContainerContext,
  type ContainerLife,
  live,
  startAt,
  unborn,
  wakeAtMs,
} from '../../../../src/sim/kubelet/container-life.ts';

interface Moment {
  atMs: number;
  state: string;
  restarts: number;
  notes: string[];
}

const spoken = ({ state }: ContainerLife): string =>
  state.is === 'running'
    ? state.ready
      ? 'ready'
      : 'running'
    : state.is === 'ended'
      ? `ended ${state.how.exitCode} ${state.how.reason}`
      : state.reason;

/** Lets a container live for so long, waking it exactly when it asks to be. */
function lived(behaviour: string | Behaviour, untilMs: number, over: Partial<ContainerContext> = {}): Moment[] {
  const around: ContainerContext = {
    behaviour: typeof behaviour === 'string' ? parseBehaviour(behaviour) : behaviour,
    restartPolicy: 'Always',
    timing: usualTiming,
    pod: 'web-1_shop(u)',
    probe: undefined,
    ...over,
  };
  const moments: Moment[] = [];
  let life = startAt(unborn('app', 'shop/web:1.0', 'ContainerCreating'), 0);
  for (let nowMs = 0; nowMs <= untilMs; nowMs = wakeAtMs(life)) {
    const next = live(life, around, nowMs);
    life = next.life;
    const notes = next.notes.map(({ type, reason }) => `${type} ${reason}`);
    moments.push({ atMs: nowMs, state: spoken(life), restarts: life.restarts, notes });
  }
  return moments;
}

const started = ['Normal Pulled', 'Normal Created', 'Normal Started'];
const brief = (moments: readonly Moment[]): [number, string][] => moments.map(({ atMs, state }) => [atMs, state]);

test('without a probe it is ready as soon as it runs', () => {
  assert.deepEqual(lived('run', 1e9), [{ atMs: 0, state: 'ready', restarts: 0, notes: started }]);
});

test('with one it takes a moment', () => {
  const probe = { delayMs: 1000, periodMs: 10_000 };
  assert.deepEqual(brief(lived('run', 1e9, { probe })), [
    [0, 'running'],
    [1000, 'ready'],
  ]);
  assert.deepEqual(brief(lived('ready-after=5s', 1e9, { probe })), [
    [0, 'running'],
    [5000, 'ready'],
  ]);
});

test('a crash loop: at once, then 10 s, doubling to five minutes', () => {
  const moments = lived('crash', 1_200_000);
  assert.deepEqual(brief(moments).slice(0, 6), [
    [0, 'ready'],
    [300, 'ended 1 Error'],
    [1300, 'ready'],
    [1600, 'ended 1 Error'],
    [2600, 'CrashLoopBackOff'],
    [11_600, 'ready'],
  ]);
  const starts = moments.filter(({ state }) => state === 'ready').map(({ atMs }) => atMs);
  const waits = starts.slice(1).map((atMs, index) => Math.floor((atMs - starts[index]!) / 1000));
  assert.deepEqual(waits, [1, 10, 20, 40, 80, 160, 300, 300]);
  assert.deepEqual(moments.at(-1)?.restarts, 8);
});

test('the back-off is told when it begins and again while it lasts', () => {
  const backoffs = lived('crash', 100_000).filter(({ notes }) => notes.includes('Warning BackOff'));
  assert.deepEqual(
    backoffs.map(({ atMs }) => atMs),
    [2600, 12_900, 24_900, 33_200, 45_200, 57_200, 69_200, 73_500, 85_500, 97_500],
  );
  assert.ok(backoffs.every(({ state }) => state === 'CrashLoopBackOff'));
});

test('the words of a back-off are those of kubelet', () => {
  const around = {
    behaviour: parseBehaviour('crash'),
    restartPolicy: 'Always',
    timing: usualTiming,
    pod: 'web-1_shop(u)',
    probe: undefined,
  };
  let life = startAt(unborn('app', 'shop/web:1.0', 'ContainerCreating'), 0);
  const messages: string[] = [];
  for (let nowMs = 0; nowMs < 3000; nowMs = wakeAtMs(life)) {
    const next = live(life, around, nowMs);
    life = next.life;
    messages.push(...next.notes.map(({ message }) => message));
  }
  assert.deepEqual(life.state, {
    is: 'waiting',
    reason: 'CrashLoopBackOff',
    message: 'back-off 10s restarting failed container=app pod=web-1_shop(u)',
  });
  assert.equal(messages.at(-1), 'Back-off restarting failed container app in pod web-1_shop(u)');
  assert.equal(life.last?.exitCode, 1);
});

test('ten minutes of running are forgiven', () => {
  const starts = lived('crash-after=601s', 2_000_000)
    .filter(({ state }) => state === 'ready')
    .map(({ atMs }) => atMs);
  assert.deepEqual(starts, [0, 602_000, 1_204_000, 1_806_000]);
});

test('a liveness probe that fails: told twice, killed, started again', () => {
  const moments = lived('liveness', 4000);
  assert.deepEqual(brief(moments), [
    [0, 'ready'],
    [1500, 'ready'],
    [3000, 'ended 0 Completed'],
    [4000, 'ready'],
  ]);
  assert.deepEqual(moments[2]?.notes, ['Warning Unhealthy', 'Normal Killing']);
});

test('an image that is not there: tried again after 10 s, 20 s, 40 s', () => {
  const moments = lived('image-missing', 75_000);
  const pulls = moments.filter(({ notes }) => notes.includes('Normal Pulling'));
  assert.deepEqual(
    pulls.map(({ atMs, state }) => [atMs, state]),
    [0, 10_000, 30_000, 70_000].map((atMs) => [atMs, 'ErrImagePull']),
  );
  assert.deepEqual(pulls[0]?.notes, ['Normal Pulling', 'Warning Failed', 'Warning Failed']);
  assert.deepEqual(moments[1], {
    atMs: 1000,
    state: 'ImagePullBackOff',
    restarts: 0,
    notes: ['Normal BackOff', 'Warning Failed'],
  });
});

test('a ConfigMap that is not there', () => {
  const moments = lived('config-missing=shop', 20_000);
  assert.deepEqual(brief(moments), [
    [0, 'CreateContainerConfigError'],
    [12_000, 'CreateContainerConfigError'],
  ]);
  assert.deepEqual(moments[0]?.notes, ['Normal Pulled', 'Warning Failed']);
});

test('who is not restarted', () => {
  assert.deepEqual(brief(lived('exit-0', 1e9, { restartPolicy: 'OnFailure' })).at(-1), [2000, 'ended 0 Completed']);
  assert.deepEqual(brief(lived('exit-1', 1e9, { restartPolicy: 'Never' })).at(-1), [2000, 'ended 1 Error']);
  assert.equal(lived('exit-1', 5000, { restartPolicy: 'OnFailure' }).at(-1)?.restarts, 1);
});

test('a word that nobody knows is not taken for running', () => {
  assert.deepEqual(brief(lived('krash', 1e9)), [[0, 'UnknownBehaviour']]);
});

test('durations as Go writes them', () => {
  assert.deepEqual([10_000, 80_000, 160_000, 300_000].map(goDuration), ['10s', '1m20s', '2m40s', '5m0s']);
});
