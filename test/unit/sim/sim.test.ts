import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { readBlocked, readQuota } from '../../../src/diagnosis/quota.ts';
import { readWorkload } from '../../../src/diagnosis/workload.ts';
import { createHistory, type History } from '../../../src/health/history.ts';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import { revisionWatches } from '../../../src/signals/source.ts';
import { createSim } from '../../../src/sim/sim.ts';
import { randomOf } from '../../long/random.ts';
import { aConfig } from '../../support/config.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { watchSignals } from '../../support/watch-signals.ts';
import { aCluster, aTemplate, aWorkload, type ClusterRig, counts, namespace, probed } from './cluster.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

test('it listens on a port as well', async (t) => {
  const { sim } = await aCluster(t);
  const { url, close } = await sim.listen();
  t.after(close);
  const { items } = (await (await fetch(`${url}/api/v1/nodes`)).json()) as { items: KubeObject[] };
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['node-1', 'node-2'],
  );
});

test('nodes cannot be stopped before there are any', () => {
  const sim = createSim({ clock: fakeClock(), log: quiet, nodes: 1 });
  assert.throws(() => sim.stopNode('node-1'), /has not been started/);
});

test('everything that is written is signed by who wrote it', async (t) => {
  const { sim, api, advance } = await aCluster(t);
  await sim.as('kubectl-create').create({ kind: 'Deployment', namespace }, aWorkload());
  await advance(5);
  const ref = { kind: 'Deployment', namespace, name: 'web' } as const;
  const patch = [{ op: 'replace', path: '/spec/template', value: aTemplate({ image: 'shop/web:2' }) }];
  await sim.as('kubectl-set').patch(ref, 'json', patch);
  await advance(5);
  const writers = async (kind: 'Deployment' | 'Pod' | 'Node', name: string): Promise<string[]> => {
    const object = await api.get({ kind, name, ...(kind === 'Node' ? {} : { namespace }) });
    return (object?.metadata.managedFields ?? [])
      .map(({ manager, subresource }) => [manager, subresource].filter(Boolean).join(' '))
      .sort();
  };
  assert.deepEqual(await writers('Deployment', 'web'), [
    'kube-controller-manager status',
    'kubectl-create',
    'kubectl-set',
  ]);
  assert.deepEqual(await writers('Node', 'node-1'), ['kubelet', 'kubelet status']);
});

test('it goes on when watches end and old versions are forgotten', async (t) => {
  const { sim, create, advance, api, deployment, pods } = await aCluster(t);
  await create('Deployment', aWorkload());
  for (let quarters = 0; quarters < 4; quarters++) {
    await advance(900);
    sim.server.compact();
  }
  const [gone] = await pods();
  await api.delete({ kind: 'Pod', namespace, name: gone!.metadata.name });
  await advance(10);
  assert.equal(counts(await deployment())['availableReplicas'], 3);
});

test('with the same chance it is the same each time', async () => {
  const story = async (): Promise<string[]> => {
    const clock = fakeClock();
    const stop = new AbortController();
    const sim = createSim({ clock, log: quiet, nodes: 2, random: randomOf(7).next });
    const ended = sim.start(stop.signal);
    await clock.advance(1_000);
    await sim.api.create({ kind: 'Namespace' }, { metadata: { name: namespace } });
    await sim.api.create({ kind: 'Deployment', namespace }, aWorkload({ behave: 'crash' }));
    await clock.advance(600_000);
    const events = await sim.api.list<KubeObject & { message: string; count?: number }>('Event');
    stop.abort();
    await ended;
    return events.map(
      ({ metadata, message, count }) => `${metadata.name} ${metadata.resourceVersion} ${message} ${count}`,
    );
  };
  const [first, second] = [await story(), await story()];
  assert.ok(first.length > 20);
  assert.deepEqual(first, second);
});

/** tapfix's own eyes on a simulated cluster. */
async function watched(t: TestContext): Promise<ClusterRig & { signals: Signal[]; history: History }> {
  const rig = await aCluster(t);
  const signals: Signal[] = [];
  const history = createHistory();
  const quiet = { debug() {}, info() {}, warn() {}, error() {} };
  const stop = new AbortController();
  const deps = { api: rig.api, clock: rig.clock, log: quiet };
  const watches = watchSignals({
    ...deps,
    scopes: [undefined],
    current: () => aConfig(),
    onSignal: (signal) => void signals.push(signal),
    count: () => undefined,
  });
  const revisions = Object.values(revisionWatches).map((watchOf) =>
    watchOf({ ...deps, namespace: undefined, history }),
  );
  const ended = Promise.all([...Object.values(watches).flat(), ...revisions].map((watch) => watch.run(stop.signal)));
  t.after(async () => {
    stop.abort();
    await ended;
  });
  return { ...rig, signals, history };
}

const target = (kind: string, name: string, uid = '') => ({ namespace, object: { kind, name, uid } });

test('a crash loop is seen as one, from the pod and from its events, and its undo as recovery', async (t) => {
  const { api, clock, create, advance, setTemplate, sets, signals, history, pods } = await watched(t);
  await create('Deployment', aWorkload({ container: probed }));
  await advance(90);
  // That they are not ready yet is no news: patience is for that.
  assert.deepEqual(
    signals.filter((signal) => signal.reason !== 'Unready'),
    [],
  );
  assert.equal((await readHealth(api, target('Deployment', 'web'), clock.now())).healthy, true);
  const [good] = await sets();
  await setTemplate('web', aTemplate({ image: 'shop/web:1.1', behave: 'crash', container: probed }));
  await advance(30);
  const [bad] = (await pods()).filter(({ metadata }) => !metadata.name.startsWith(good!.metadata.name));
  const crashes = signals.filter((signal) => signal.class === 'CrashLoop');
  assert.deepEqual(
    new Set(crashes.map(({ reason, object }) => `${reason} ${object.name}`)),
    new Set([`Error ${bad!.metadata.name}`, `CrashLoopBackOff ${bad!.metadata.name}`, `BackOff ${bad!.metadata.name}`]),
  );
  assert.ok(signals.some(({ message }) => message === 'container app exits 1 within a second'));
  const live = await readHealth(api, target('Deployment', 'web'), clock.now());
  assert.deepEqual([live.healthy, live.why], [false, 'container app keeps crashing']);
  assert.ok(live.troubles.includes('CrashLoop'));
  const workload = await readWorkload(api, namespace, target('Deployment', 'web').object);
  assert.deepEqual(
    workload?.revisions.map(({ view }) => view.revision),
    [2, 1],
  );
  assert.ok(history.longestAvailableMs(good!.metadata.uid, clock.now()) > 80_000);
  await setTemplate('web', aTemplate({ container: probed }));
  await advance(10);
  const after = await readHealth(api, target('Deployment', 'web'), clock.now());
  assert.deepEqual([after.healthy, after.ready, after.desired], [true, 3, 3]);
});

test('a quota is seen as the cause, by name, and the Deployment as whom it blocks', async (t) => {
  const { api, clock, create, advance, signals } = await watched(t);
  const quota = await create('ResourceQuota', {
    metadata: { name: 'tight' },
    spec: { hard: { 'requests.memory': '1Mi' } },
  });
  await create('Deployment', aWorkload());
  await advance(20);
  assert.deepEqual(new Set(signals.map(({ class: what }) => what)), new Set(['QuotaExceeded']));
  assert.deepEqual(signals[0]?.cause, { kind: 'ResourceQuota', name: 'tight' });
  const live = await readHealth(api, target('ResourceQuota', 'tight', quota.metadata.uid), clock.now());
  assert.equal(live.healthy, false);
  const read = await readQuota(api, namespace, { name: 'tight', uid: quota.metadata.uid });
  const blocked = await readBlocked(api, namespace, read!);
  assert.deepEqual(
    blocked.map(({ workload, ready, desired, fits }) => [workload, ready, desired, fits]),
    [['Deployment/web', 0, 3, false]],
  );
});
