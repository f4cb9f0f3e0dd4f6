import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, killed } from '../../../support/rollout.ts';

const limit = (memory?: string) => ({ resources: memory ? { limits: { memory } } : {} });

test('a kill for memory says the limit; without one it says that', async () => {
  const withLimit = await aRollout({ after: limit('64Mi'), pods: [killed(5)] }).ask('OOMKilled');
  assert.equal(withLimit?.diagnosis, 'container app is killed for memory after 20 s; its limit is 64Mi');
  assert.deepEqual(withLimit?.evidence, ['5 restarts of 1 pod']);
  const without = await aRollout({ pods: [killed()] }).ask('OOMKilled');
  assert.equal(without?.diagnosis, 'container app is killed for memory after 20 s; it has no memory limit of its own');
});
