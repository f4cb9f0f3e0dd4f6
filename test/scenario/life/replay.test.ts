import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingOf } from '../../../src/replay/recording.ts';
import { replay } from '../../../src/replay/run-replay.ts';
import { isRunning, losePods, rollOut, tightQuota } from './shop.ts';
import { aWorld, configWith } from './world.ts';

test('a replay of what a cluster recorded says what the watcher said', async (t) => {
  const world = await aWorld(t);
  world.start();
  for (const name of ['checkout', 'web', 'mail']) await isRunning(world, name);
  await rollOut(world, 'checkout', 'shop/app:2-crash');
  await world.advance(60_000);
  await tightQuota(world);
  await losePods(world, 'web');
  await world.advance(300_000);
  const told = (await world.fixes()).map(({ spec }) => `${spec.incident.class} ${spec.incident.key}`).sort();
  assert.deepEqual(told, ['CrashLoop shop/Deployment/checkout', 'QuotaExceeded shop/ResourceQuota/tight']);
  const events = await world.api.list('Event', 'shop');
  const recording = recordingOf(events.map((value, index) => ({ value, line: index + 1 })));
  const { said, ledger } = replay(recording, configWith({}), 'tapfix');
  assert.deepEqual(said.map(({ fix }) => `${fix.spec.incident.class} ${fix.spec.incident.key}`).sort(), told);
  for (const { atMs, fix } of said) {
    const real = (await world.fixes()).find(({ spec }) => spec.incident.key === fix.spec.incident.key)!;
    const apartMs = Math.abs(atMs - Date.parse(real.metadata.creationTimestamp));
    assert.ok(apartMs < 10_000, `${fix.spec.incident.key}: ${apartMs} ms apart`);
  }
  const { seen, waiting, outcomes } = ledger.totals();
  assert.equal(
    Object.values(outcomes).reduce((sum, n) => sum + n, waiting),
    seen,
  );
});
