import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { lateRecoveryMs } from '../../../src/controller/recovery.ts';
import { conditionOf, phaseOf } from '../../../src/kube/remediation.ts';
import { aGround, type GroundOptions } from './ground.ts';
import { stuckShapes } from './faults.ts';
import type { Shape } from './shapes.ts';

const bunch = 12;
const bunches = Array.from({ length: Math.ceil(stuckShapes.length / bunch) }, (_, n) =>
  stuckShapes.slice(n * bunch, (n + 1) * bunch),
);

async function lives(t: TestContext, shapes: readonly Shape[], options: GroundOptions = {}) {
  const ground = await aGround(t, shapes, options);
  ground.start();
  await ground.propose();
  await ground.approve();
  await ground.meddle();
  return ground;
}

describe('a fix that comes to nothing', () => {
  test('there are a hundred of them', () => assert.ok(stuckShapes.length >= 100, String(stuckShapes.length)));

  for (const [n, shapes] of bunches.entries())
    test(`never recovered (${n + 1} of ${bunches.length})`, async (t) => {
      const ground = await lives(t, shapes);
      await ground.until(
        'failures',
        async () => (await ground.fixes()).every((fix) => phaseOf(fix) === 'Failed'),
        600_000,
      );
      const reasons = (await ground.fixes()).map((fix) => conditionOf(fix, 'Failed')?.reason);
      assert.deepEqual(new Set(reasons), new Set(['NotRecovered']), (await ground.told()).join('\n'));
      await ground.clock.advance(lateRecoveryMs + 60_000);
      assert.ok(
        (await ground.fixes()).every((fix) => phaseOf(fix) === 'Failed'),
        (await ground.told()).join('\n'),
      );
    });

  for (const [n, shapes] of bunches.entries())
    test(`a rule that always says yes is seen through by each (${n + 1} of ${bunches.length})`, async (t) => {
      const ground = await lives(t, shapes, { judge: () => 'recovered' });
      await ground.until(
        'wrong words',
        async () => (await ground.fixes()).every((fix) => phaseOf(fix) === 'Recovered'),
        120_000,
      );
    });
});
