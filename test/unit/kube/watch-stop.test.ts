import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { createWatch } from '../../../src/kube/watch.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { json, lines, refusal, silence, type Step } from '../../support/scripted-server.ts';
import { aList, aPod, eventually, rig } from './support.ts';
import { added, recorder, watchRig } from './watch-rig.ts';

const listOfA: Step = json(aList([aPod('a')], '10'));

const moments: { name: string; steps: Step[]; asked: number }[] = [
  { name: 'while a list is unanswered', steps: [silence()], asked: 1 },
  { name: 'while a watch is unanswered', steps: [listOfA, silence()], asked: 2 },
  { name: 'while a watch is quiet', steps: [listOfA, lines([added('b', '11')], 'stay')], asked: 2 },
  { name: 'while backing off', steps: [listOfA, refusal(503, 'ServiceUnavailable', 'no')], asked: 2 },
];

for (const { name, steps, asked } of moments) {
  test(`stopped ${name} it ends at once and for good`, async (t) => {
    const { server, api, stop, ended, until, clock, told } = await watchRig(t, steps);
    await eventually(() => server.seen.length === asked);
    await new Promise((resolve) => setImmediate(resolve));
    stop();
    await ended;
    const toldBefore = told().length;
    await api.close();
    await clock.advance(600_000);
    assert.equal(server.seen.length, asked, 'nothing more is asked for');
    assert.equal(told().length, toldBefore, 'stopping is no news');
    await until(() => server.openConnections() === 0);
  });
}

test('stopped before it could connect, it never does', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  const deps = { api, clock: fakeClock(), log: recorder([]), kind: 'Pod', onList() {}, onChange() {} } as const;
  const watch = createWatch({ ...deps, view: ({ metadata }) => metadata.name });
  stop.abort();
  await watch.run(stop.signal);
  assert.equal(server.connections(), 0);
});

test('many watches one after another leave no listeners on the signal', async (t) => {
  const { api, server } = await rig(t);
  const stop = new AbortController();
  const hurried: Clock = { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 2), signal) };
  server.script(listOfA, ...Array.from({ length: 10 }, () => lines([added('b', '11')])), silence());
  const deps = { api, clock: hurried, log: recorder([]), kind: 'Pod', onList() {}, onChange() {} } as const;
  const ended = createWatch({ ...deps, view: ({ metadata }) => metadata.name }).run(stop.signal);
  await eventually(() => server.seen.length === 12);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1);
  stop.abort();
  await ended;
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
});
