import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../src/kube/api.ts';
import { createSim } from '../../../../src/sim/sim.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { randomOf } from '../../../long/random.ts';
import { aCluster, aTemplate, aWorkload, counts, namespace } from './cluster.ts';

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
