import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, waiting, wayOf } from '../../../support/rollout.ts';

test('a Secret of a volume that kubelet does not name is named by the template, and only an event tells who waits', async () => {
  const volume = (item: string) => ({
    volumes: [{ name: 'tls', secret: { secretName: 'cert', items: [{ key: item, path: 'x' }] } }],
  });
  const { say, ask } = aRollout({
    beforeSpec: volume('old.crt'),
    afterSpec: volume('tls.crt'),
    pods: [waiting('ContainerCreating')],
  });
  say('FailedMount', 'MountVolume.SetUp failed for volume "tls" : references non-existent secret key: tls.crt');
  const derived = await ask('ConfigMissing');
  assert.equal(derived?.diagnosis, 'Secret cert has no key tls.crt');
  assert.equal(wayOf(derived), 'back to 1');
});
