import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { available, isRunning, rollOut, tightQuota } from './shop.ts';
import { aWorld, type World } from './world.ts';

const checkout = { kind: 'Deployment', namespace: 'shop', name: 'checkout' } as const;
const inTemplate = (spec: object, metadata: object = {}) => ({ spec: { template: { metadata, spec } } });
const change = async (world: World, spec: object): Promise<void> =>
  void (await world.api.patch(checkout, 'merge', inTemplate(spec)));
const app = (over: object) => ({ containers: [{ name: 'app', image: 'shop/app:1', ...over }] });

/** As `kubectl rollout restart` does it. */
async function restart(world: World): Promise<void> {
  const annotations = { 'kubectl.kubernetes.io/restartedAt': new Date(world.clock.now()).toISOString() };
  await world.api.patch(checkout, 'merge', inTemplate({}, { annotations }));
}

interface Row {
  name: string;
  replicas?: number;
  config?: object;
  breaks: (world: World) => Promise<void>;
  why: RegExp;
  toRevision?: number;
}

const brought: Row[] = [
  {
    name: 'a node selector that no node has',
    breaks: (world) => change(world, { nodeSelector: { disk: 'ssd' } }),
    why: /does not match the pod's node selector|do not match the pod's node selector/,
  },
  {
    name: 'a request that no node can hold',
    breaks: (world) => change(world, app({ resources: { requests: { cpu: '64' } } })),
    why: /lacks? cpu/,
  },
  {
    name: 'a ServiceAccount that does not exist',
    breaks: (world) => change(world, { serviceAccountName: 'shop-api' }),
    why: /Pods refused, after rollout 2/,
  },
  {
    name: 'pods that never become ready',
    breaks: (world) => rollOut(world, 'checkout', 'shop/app:2-unready'),
    why: /Readiness probe/,
  },
  {
    name: 'four pods that never become ready',
    replicas: 4,
    breaks: (world) => rollOut(world, 'checkout', 'shop/app:2-unready'),
    why: /Readiness probe/,
  },
  {
    name: 'one pod that never becomes ready',
    replicas: 1,
    breaks: (world) => rollOut(world, 'checkout', 'shop/app:2-unready'),
    why: /Readiness probe/,
  },
  {
    name: 'a crash, and a restart after it that changed nothing',
    async breaks(world) {
      await rollOut(world, 'checkout', 'shop/app:2-crash');
      await world.advance(3_000);
      await restart(world);
    },
    why: /Crashing since|Crashing, after/,
    toRevision: 1,
  },
  {
    name: 'a crash, after a restart of the version that was healthy',
    async breaks(world) {
      await restart(world);
      await world.advance(5_000);
      await rollOut(world, 'checkout', 'shop/app:2-crash');
    },
    why: /Crashing since|Crashing, after/,
    toRevision: 2,
  },
];

const approved = async (world: World): Promise<{ toRevision: number }> => {
  await world.until('a button', () => world.phone.has(/Roll back/), 900_000);
  await world.phone.press(/Roll back/);
  const fix = await world.phase('Recovered', 900_000);
  assert.equal(world.phone.messages.length, 1, world.phone.history.join('\n'));
  return fix.spec.action!['rolloutUndo'] as { toRevision: number };
};

describe('what the newest revision brought', { concurrency: 3 }, () => {
  for (const { name, replicas = 2, config = {}, breaks, why, toRevision = 1 } of brought)
    test(`${name}: the undo is offered, confirmed, applied, and it recovers`, async (t) => {
      const world = await aWorld(t, { config });
      world.start();
      await isRunning(world, 'checkout', { replicas });
      await breaks(world);
      await world.until('a button', () => world.phone.has(/Roll back/), 900_000);
      assert.match(world.phone.text(), why);
      assert.equal((await approved(world)).toRevision, toRevision);
      assert.equal(await available(world, 'checkout'), true);
    });

  test('a quota that asks for what the newest revision no longer says', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await world.apply('ResourceQuota', {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'roomy' },
      spec: { hard: { 'requests.memory': '8Gi' } },
    });
    await world.advance(2_000);
    const remove = [{ op: 'remove', path: '/spec/template/spec/containers/0/resources' }] as const;
    await world.api.patch(checkout, 'json', [...remove]);
    await world.until('a button', () => world.phone.has(/Roll back/), 900_000);
    assert.match(world.phone.text(), /Quota roomy refuses its pods: every container must say requests\.memory/);
    await approved(world);
    assert.equal(await available(world, 'checkout'), true);
  });

  const sets = [
    { kind: 'StatefulSet', replicas: 3, nodes: 2 },
    { kind: 'StatefulSet', replicas: 1, nodes: 2 },
    { kind: 'DaemonSet', replicas: 2, nodes: 2 },
    { kind: 'DaemonSet', replicas: 1, nodes: 1 },
  ] as const;
  for (const { kind, replicas, nodes } of sets)
    test(`a ${kind} of ${replicas} whose new pods find no node: the undo is offered, and it recovers`, async (t) => {
      const world = await aWorld(t, { nodes });
      world.start();
      await world.apply(kind, {
        apiVersion: 'apps/v1',
        kind,
        metadata: { name: 'db' },
        spec: {
          ...(kind === 'StatefulSet' && { replicas, serviceName: 'db' }),
          selector: { matchLabels: { app: 'db' } },
          template: {
            metadata: { labels: { app: 'db' } },
            spec: { terminationGracePeriodSeconds: 1, ...app({ resources: { requests: { cpu: '10m' } } }) },
          },
        },
      });
      await world.advance(120_000);
      const patch = inTemplate(app({ resources: { requests: { cpu: '64' } } }));
      await world.api.patch({ kind, namespace: 'shop', name: 'db' }, 'merge', patch);
      await world.until('a button', () => world.phone.has(/Roll back/), 900_000);
      assert.match(world.phone.text(), /lacks? cpu/);
      await approved(world);
    });
});

describe('what it did not bring', { concurrency: 3 }, () => {
  test('a quota that came after a rollout is not undone', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2');
    await world.advance(90_000);
    await tightQuota(world);
    const [pod] = await world.api.list('Pod', 'shop', { labelSelector: 'app=checkout' });
    await world.api.delete({ kind: 'Pod', namespace: 'shop', name: pod!.metadata.name });
    await world.until('a button', () => world.phone.has(/Delete quota/), 900_000);
    assert.equal(world.phone.has(/Roll back/), false, world.phone.text());
  });
});
