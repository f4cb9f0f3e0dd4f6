import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../../src/kube/api.ts';
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

const mounts = (name: string) => ({ volumes: [{ name: 'conf', configMap: { name } }] });
const notFound = 'MountVolume.SetUp failed for volume "conf" : configmap "new" not found';
const notThere = 'MountVolume.SetUp failed for volume "conf" : references non-existent config key: a.yaml';
const keyed = { volumes: [{ name: 'conf', configMap: { name: 'new', items: [{ key: 'a.yaml', path: 'x' }] } }] };
for (const { name, after = mounts('new'), message, data, want } of [
  { name: 'does not exist', message: notFound, want: 'back to 1' },
  { name: 'is there when we look', message: notFound, data: {}, want: /no pod of it waits for it at the moment/ },
  { name: 'has no such key', after: keyed, message: notThere, data: { b: '' }, want: 'back to 1' },
  {
    name: 'has the key when we look',
    after: keyed,
    message: notThere,
    data: { 'a.yaml': '' },
    want: /no pod of it waits/,
  },
])
  test(`an event says that a ConfigMap is missing, which may be read and ${name}: ${want}`, async () => {
    const { say, ask, server } = aRollout({ afterSpec: after, pods: [waiting('ContainerCreating')] });
    if (data) server.seed('ConfigMap', 'shop', { metadata: { name: 'new' }, data });
    say('FailedMount', message);
    const derived = await ask('ConfigMissing');
    if (typeof want === 'string') assert.equal(wayOf(derived), want);
    else assert.match(wayOf(derived), want);
  });

test('an event says that a ConfigMap is missing, which may not be read: it is believed of a pod that waits', async () => {
  const { say, ask, server } = aRollout({ afterSpec: mounts('new'), pods: [waiting('ContainerCreating')] });
  server.seed('ConfigMap', 'shop', { metadata: { name: 'new' }, data: {} });
  server.hooks.before = ({ kind }) => {
    if (kind === 'ConfigMap') throw new ApiError('forbidden', 403, 'Forbidden');
  };
  say('FailedMount', notFound);
  assert.equal(wayOf(await ask('ConfigMissing')), 'back to 1');
});
