import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, waiting } from '../../../support/rollout.ts';

const typo = { image: 'shop/web:1.O' };
const pull = waiting(
  'ImagePullBackOff',
  'Back-off pulling image "shop/web:1.O": ErrImagePull: shop/web:1.O: not found',
);
const good = { ready: true };

test('a bad image: what it is, how many wait, and what is closest to it, but only as words', async () => {
  const other = { ...good, spec: { containers: [{ name: 'app', image: 'shop/web:1.0' }] } };
  const { ask } = aRollout({ after: typo, pods: [pull, pull], oldPods: [other], isOldKnown: false });
  const derived = await ask('ImagePull');
  assert.equal(derived?.diagnosis, 'image shop/web:1.O not found; it was looked for in docker.io');
  assert.deepEqual(derived?.evidence, ['2 of 3 pods wait for it', 'its other pods run shop/web:1.0']);
  assert.match(derived?.changed[0] ?? '', /rollout 2: app image 1\.41 → 1\.O$/);
  assert.equal(derived?.action, undefined);
});

test('what runs elsewhere in the namespace is a hint as well, and of another namespace it is not', async () => {
  const { server, ask } = aRollout({ after: typo, pods: [pull] });
  for (const [namespace, image] of [
    ['shop', 'shop/web:1.0'],
    ['pay', 'shop/web:1.1'],
  ] as const)
    server.seed('Pod', namespace, {
      metadata: { name: 'canary' },
      spec: { containers: [{ name: 'app', image }] },
      status: { containerStatuses: [{ name: 'app', ready: true, state: { running: {} } }] },
    });
  assert.deepEqual((await ask('ImagePull'))?.evidence, [
    'its only pod waits for it',
    'closest in use: canary runs shop/web:1.0',
  ]);
});

test('before 1.30 only an event says why an image cannot be pulled', async () => {
  const { say, ask } = aRollout({
    after: typo,
    pods: [waiting('ImagePullBackOff', 'Back-off pulling image "shop/web:1.O"')],
  });
  say('Failed', 'Error: ImagePullBackOff');
  say(
    'Failed',
    'Failed to pull image "shop/web:1.O": rpc error: code = Unknown desc = unauthorized: authentication required',
  );
  assert.match((await ask('ImagePull'))?.diagnosis ?? '', /not authorised/);
});
