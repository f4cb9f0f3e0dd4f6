import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rig } from './rig.ts';

test('a token is good until its time is over', async () => {
  const { api, clock } = await rig();
  const ref = { kind: 'ServiceAccount' as const, namespace: 'shop', name: 'default', subresource: 'token' };
  const { status } = await api.createSub<{ status: { token: string } }>(ref, { spec: { expirationSeconds: 600 } });
  const own = api.withToken(status.token);
  await clock.advance(599_000);
  assert.deepEqual(await own.list('Pod', 'shop'), []);
  await clock.advance(1_000);
  await assert.rejects(own.list('Pod', 'shop'), { code: 401, reason: 'Unauthorized' });
});
