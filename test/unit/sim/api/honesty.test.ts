import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { rig } from './rig.ts';

const maps = '/api/v1/namespaces/shop/configmaps';

test('it does not pretend to be a cluster: its version says that it is simulated', async () => {
  const { ask } = await rig();
  const { body } = await ask('GET', '/version');
  assert.match(String(body['gitVersion']), /tapfix-sim/);
  assert.match(String(body['gitTreeState']), /no RBAC, no admission policies, no CEL/);
});

test('whoever asks what somebody may do is told that nobody is asked here', async () => {
  const { ask } = await rig();
  const spec = { user: 'ada', resourceAttributes: { verb: 'delete', resource: 'namespaces' } };
  const { body } = await ask('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
  const { allowed, reason } = body['status'] as { allowed: boolean; reason: string };
  assert.equal(allowed, true);
  assert.match(reason, /no authorization/);
});

test('what it cannot do it refuses, instead of doing something like it', async () => {
  const { ask } = await rig();
  await ask('POST', maps, { metadata: { name: 'm' } });
  for (const contentType of ['application/strategic-merge-patch+json', 'application/apply-patch+yaml'])
    assert.equal((await ask('PATCH', `${maps}/m`, {}, { contentType })).status, 415);
  assert.equal((await ask('POST', maps, 'metadata: {name: y}', { contentType: 'application/yaml' })).status, 415);
  const scopeSelector = { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] };
  const quota = { metadata: { name: 'q' }, spec: { hard: { pods: '1' }, scopeSelector } };
  assert.equal((await ask('POST', '/api/v1/namespaces/shop/resourcequotas', quota)).status, 422);
  assert.equal((await ask('DELETE', `${maps}/m`, { propagationPolicy: 'Foreground' })).status, 422);
  assert.equal((await ask('GET', `${maps}?watch=true&sendInitialEvents=true`)).status, 422);
});

test('the main file tells what differs from the real one', () => {
  const text = readFileSync(new URL('../../../../src/sim/api/server.ts', import.meta.url), 'utf8');
  for (const word of ['RBAC', 'admission polic', 'CEL', 'strategic merge', 'unknown fields', 'Foreground'])
    assert.ok(text.includes(word), word);
});
