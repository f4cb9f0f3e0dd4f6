import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

const typo = { image: 'shop/web:1.O' };
const unready = { ready: false };

test('a stuck rollout says its deadline, how far it came, and what its new pods wait for', async () => {
  const { say, ask } = aRollout({
    after: typo,
    pods: [unready],
    deployment: { spec: { progressDeadlineSeconds: 300 } },
  });
  say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  const derived = await ask('RolloutStuck');
  assert.equal(derived?.diagnosis, 'rollout 2 missed its deadline of 5 min: 0 of 1 new pods available');
  assert.deepEqual(derived?.evidence, ['readiness probe: HTTP 503']);
});
