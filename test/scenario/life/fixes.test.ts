import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { phaseOf, type Remediation } from '../../../src/kube/remediation.ts';
import { isTrue } from '../../../src/kube/remediation.ts';
import type { PodObject } from '../../../src/sim/common/shapes.ts';
import { available, deployment, isRunning, losePods, rollOut } from './shop.ts';
import { aWorld, type World } from './world.ts';

/** What the fix does in detail has no room on the card: it is shown first. */
async function asked(world: World, button: RegExp): Promise<void> {
  assert.match(await world.phone.press(button), /^Really /);
  assert.equal(await world.phone.press(/^Yes, /), 'Approved; it starts now.');
}

/** From the card to green, with the usual configuration; the Remediation as it ended. */
async function approved(world: World, button: RegExp, { asks = false } = {}): Promise<Remediation> {
  await world.until(`a button ${button}`, () => world.phone.has(button), 900_000);
  if (asks) await asked(world, button);
  else assert.equal(await world.phone.press(button), 'Approved; it starts now.');
  const fix = await world.phase('Recovered', 900_000);
  assert.equal(isTrue(fix, 'Confirmed'), true);
  await world.until('green', () => world.phone.dots()[0] === 'green');
  assert.equal(world.phone.messages.length, 1, world.phone.history.join('\n'));
  assert.deepEqual(await world.bindings(), []);
  return fix;
}

/** Pods that are asked about get this behaviour, as long as they live. */
function spoiling(app: string) {
  const spoilt = new Set<string>();
  let left = 0;
  return {
    next: (count: number): void => void (left = count),
    isSpoilt({ metadata }: PodObject): boolean {
      if (left > 0 && metadata.labels?.['app'] === app && !spoilt.has(metadata.uid)) {
        spoilt.add(metadata.uid);
        left -= 1;
      }
      return spoilt.has(metadata.uid);
    },
  };
}

describe('what is proposed beside an undo and a quota', { concurrency: 3 }, () => {
  test('two wrong images in a row: the last image that ran comes back', async (t) => {
    const world = await aWorld(t);
    world.start();
    await isRunning(world, 'checkout');
    await rollOut(world, 'checkout', 'shop/app:2-image-missing');
    await world.advance(5_000);
    await rollOut(world, 'checkout', 'shop/app:3-image-missing');
    const fix = await approved(world, /Use image/);
    assert.equal((fix.spec.action!['patchDeploymentImage'] as { image: string }).image, 'shop/app:1');
    assert.equal(await available(world, 'checkout'), true);
  });

  test('one pod that crashes among others that do not: it alone is made anew', async (t) => {
    const bad = spoiling('checkout');
    const behaviours = (pod: PodObject) =>
      bad.isSpoilt(pod) ? ({ do: 'exit', code: 1, afterMs: 300 } as const) : undefined;
    const world = await aWorld(t, { behaviours });
    world.start();
    await isRunning(world, 'checkout', { replicas: 3 });
    const [first, ...others] = await world.api.list('Pod', 'shop');
    bad.next(1);
    await world.api.delete({ kind: 'Pod', namespace: 'shop', name: first!.metadata.name });
    await approved(world, /Delete pod/);
    const left = new Set((await world.api.list('Pod', 'shop')).map(({ metadata }) => metadata.uid));
    assert.ok(
      others.every(({ metadata }) => left.has(metadata.uid)),
      'the healthy ones were left alone',
    );
  });

  test('all run and none is ready: a restart', async (t) => {
    const bad = spoiling('checkout');
    const behaviours = (pod: PodObject) => (bad.isSpoilt(pod) ? ({ do: 'unready' } as const) : undefined);
    const world = await aWorld(t, { behaviours });
    world.start();
    await isRunning(world, 'checkout');
    bad.next(2);
    await losePods(world, 'checkout');
    await approved(world, /Restart pods/, { asks: true });
  });

  test('scaled up beyond what the nodes hold: scaled back', async (t) => {
    const world = await aWorld(t);
    world.start();
    const big = JSON.parse(JSON.stringify(deployment('checkout')).replace('"16Mi"', '"16Mi","cpu":"1500m"')) as object;
    await world.apply('Deployment', big);
    await world.until('it to be available', () => available(world, 'checkout'));
    await world.advance(60_000);
    await world.api.patch({ kind: 'Deployment', namespace: 'shop', name: 'checkout' }, 'merge', {
      spec: { replicas: 40 },
    });
    const fix = await approved(world, /Scale to/);
    assert.deepEqual((fix.spec.action!['scaleDeployment'] as { replicas: number }).replicas, 2);
  });

  test('what failed is not proposed again, and the sentence says why', async (t) => {
    const bad = spoiling('checkout');
    const behaviours = (pod: PodObject) => (bad.isSpoilt(pod) ? ({ do: 'unready' } as const) : undefined);
    const world = await aWorld(t, { behaviours, config: { recovery: { timeout: '2m' } } });
    world.start();
    await isRunning(world, 'checkout');
    bad.next(1_000);
    await losePods(world, 'checkout');
    await world.until('a button', () => world.phone.has(/Restart pods/), 900_000);
    await asked(world, /Restart pods/);
    await world.phase('Failed', 900_000);
    await world.until('its words', () => /still .* after the restart/.test(world.phone.headlines()[0]!), 60_000);
    assert.equal(world.phone.has(/Propose again/), false);
    assert.deepEqual((await world.fixes()).map(phaseOf), ['Failed']);
  });
});
