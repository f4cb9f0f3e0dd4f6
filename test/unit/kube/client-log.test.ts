import assert from 'node:assert/strict';
import { test } from 'node:test';
import { page, refusal } from '../../support/scripted-server.ts';
import { rig } from './support.ts';

const pod = { namespace: 'shop', name: 'api-1' };
const options = { container: 'app', previous: true, tailLines: 20, limitBytes: 65_536 };

test('a log is asked for with its bounds and comes as it is, though it is no JSON', async (t) => {
  const { server, api } = await rig(t);
  server.script(page('starting\n{"half": json\n'));
  assert.equal(await api.podLog(pod, options), 'starting\n{"half": json\n');
  const { method, path, query, headers } = server.seen[0]!;
  assert.deepEqual([method, path], ['GET', '/api/v1/namespaces/shop/pods/api-1/log']);
  assert.deepEqual(query, { container: 'app', previous: 'true', tailLines: '20', limitBytes: '65536' });
  assert.equal(headers.accept, 'application/json, */*');
});

for (const [code, reason] of [
  [400, 'BadRequest'],
  [404, 'NotFound'],
] as const)
  test(`${code}: there is no such log`, async (t) => {
    const { server, api } = await rig(t);
    server.script(refusal(code, reason, 'previous terminated container "app" in pod "api-1" not found'));
    assert.equal(await api.podLog(pod, options), undefined);
  });

for (const [code, reason] of [
  [403, 'Forbidden'],
  [500, 'InternalError'],
] as const)
  test(`${code}: that it cannot be read is told`, async (t) => {
    const { server, api } = await rig(t);
    server.script(refusal(code, reason, 'no'));
    await assert.rejects(api.podLog(pod, options), { name: 'ApiError', code });
  });

test('a name that climbs up is refused before anything is sent', async (t) => {
  const { server, api } = await rig(t);
  await assert.rejects(api.podLog({ ...pod, name: '..' }, options), { name: 'ApiError', code: 400 });
  assert.equal(server.seen.length, 0);
});
