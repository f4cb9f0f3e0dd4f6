import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRunning } from './shop.ts';
import { aWorld, type World } from './world.ts';

/* Most Events of a busy cluster are about pods that are gone. They must cost next to nothing, and hide nothing. */

const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffix = (n: number): string => [0, 1, 2, 3, 4].map((at) => letters[Math.floor(n / 27 ** at) % 27]).join('');
const uidOf = (n: number): string => `50000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

const backOff = (world: World, pod: string, uid: string, n: number): Promise<unknown> =>
  world.api.create(
    { kind: 'Event', namespace: 'shop' },
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: `${pod}.${n.toString(16)}` },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: pod, uid },
      type: 'Warning',
      reason: 'BackOff',
      message: `Back-off restarting failed container app in pod ${pod}_shop(${uid})`,
      source: { component: 'kubelet', host: 'node-1' },
      firstTimestamp: new Date(world.clock.now()).toISOString(),
      lastTimestamp: new Date(world.clock.now()).toISOString(),
      count: 3,
    },
  );

/** Pods of forty workloads that are gone as a whole. */
async function noise(world: World, count: number, from = 0): Promise<void> {
  for (let n = from; n < from + count; n++) {
    await backOff(world, `gone-${n % 40}-5d9f8b6c4d-${suffix(n * 7)}`, uidOf(n), n);
    if (n % 50 === 0) await world.advance(100);
  }
}

test('two thousand Events about pods that are gone cost at most one request in twenty', async (t) => {
  const world = await aWorld(t);
  world.start();
  await isRunning(world, 'api');
  const before = world.requests();
  await noise(world, 2_000);
  await world.advance(5_000);
  const requests = world.requests() - before;
  assert.ok(requests <= 0.05 * 2_000, `${requests} requests`);
  await world.advance(60_000);
  assert.deepEqual(world.phone.messages, []);
});

test('a pod that its watch never shows is found among the noise', async (t) => {
  const world = await aWorld(t);
  world.start();
  await isRunning(world, 'api');
  world.miss(({ object }) => object?.kind === 'Pod');
  const { metadata } = await world.apply('Pod', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'lonely' },
    spec: { containers: [{ name: 'app', image: 'shop/app:2-crash' }] },
  });
  await world.advance(60_000);
  await noise(world, 500);
  await backOff(world, 'lonely', metadata.uid, 9_999);
  await noise(world, 500, 500);
  await world.until('a message', () => world.phone.messages.length > 0);
  assert.match(world.phone.text(), /lonely/);
});
