import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { historyNames } from '../../../src/kube/history-maps.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import { isRunning, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

/** All pods of the old version go before one of the new comes: only what was seen tells that it was healthy. */
async function runsRecreated(world: World): Promise<void> {
  await isRunning(world, 'checkout');
  const patch = { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } };
  await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'checkout' }, 'merge', patch);
  await world.advance(120_000);
}

async function undoIsOffered(world: World): Promise<void> {
  await world.until('an undo', () => world.phone.has(/Roll back/), 180_000);
  const [fix] = await world.fixes();
  assert.deepEqual([fix?.spec.action?.type, conditionOf(fix!, 'Confirmed')?.status], ['RolloutUndo', 'True']);
}

type ConfigMap = KubeObject & { data?: Record<string, string> };
const maps = (world: World): Promise<(ConfigMap | undefined)[]> =>
  Promise.all(
    [...historyNames('watcher'), ...historyNames('controller')].map((name) =>
      world.api.get<ConfigMap>({ kind: 'ConfigMap', namespace: 'tapfix', name }),
    ),
  );

describe('what was seen healthy survives a restart', { concurrency: 3 }, () => {
  for (const [how, end] of [
    ['killed', async (world: World) => world.kill()],
    ['stopped', (world: World) => world.stop()],
  ] as const) {
    test(`${how} after a healthy revision, and back before a bad rollout: the undo is offered and helps`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await runsRecreated(world);
      await end(world);
      await world.advance(20_000);
      world.start();
      await world.advance(2_000);
      await rollOut(world, 'checkout', 'shop/app:2-crash');
      await undoIsOffered(world);
      await world.phone.press(/Roll back/);
      await world.phase('Recovered', 300_000);
    });

    test(`${how} after a bad rollout, before it was noticed: the undo is offered`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await runsRecreated(world);
      await rollOut(world, 'checkout', 'shop/app:2-crash');
      await world.advance(3_000);
      assert.equal((await world.fixes()).length, 0);
      await end(world);
      await world.advance(60_000);
      world.start();
      await undoIsOffered(world);
    });
  }

  test('stopped half a minute after it came up: what was seen in that time counts', async (t) => {
    const world = await aWorld(t, { config: { recovery: { stableFor: '20s' } } });
    world.start();
    await isRunning(world, 'checkout');
    const patch = { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } };
    await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'checkout' }, 'merge', patch);
    await world.stop();
    world.start();
    await world.advance(2_000);
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await undoIsOffered(world);
  });

  test('down while it would have become healthy: that time does not count, and no undo is offered', async (t) => {
    const world = await aWorld(t, { config: { recovery: { stableFor: '90s' } } });
    world.start();
    await isRunning(world, 'checkout');
    const patch = { spec: { strategy: { type: 'Recreate', rollingUpdate: null } } };
    await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'checkout' }, 'merge', patch);
    await world.stop();
    await world.advance(600_000);
    world.start();
    await world.advance(2_000);
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await world.until('a message', () => world.phone.messages.length > 0, 180_000);
    assert.equal(world.phone.has(/Roll back/), false, world.phone.text());
  });

  test('in a quiet cluster next to nothing is written', async (t) => {
    const world = await aWorld(t);
    world.start();
    await runsRecreated(world);
    const versions = async (): Promise<number> =>
      (await maps(world)).reduce((sum, map) => sum + Number(map?.metadata.resourceVersion), 0);
    let [writes, before] = [0, await versions()];
    for (let minute = 0; minute < 40; minute++) {
      await world.advance(60_000);
      const now = await versions();
      if (now !== before) writes += 1;
      before = now;
    }
    assert.ok(writes > 0 && writes <= 8, `${writes} minutes with a write in forty minutes`);
  });

  test('without the ConfigMaps it works, and forgets', async (t) => {
    const world = await aWorld(t);
    for (const name of [...historyNames('watcher'), ...historyNames('controller')])
      await world.api.delete({ kind: 'ConfigMap', namespace: 'tapfix', name });
    world.start();
    await runsRecreated(world);
    await rollOut(world, 'checkout', 'shop/app:2-crash');
    await undoIsOffered(world);
  });
});
