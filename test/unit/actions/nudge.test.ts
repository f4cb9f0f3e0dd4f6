import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nudge, nudgeAnnotation, stillShort } from '../../../src/actions/nudge.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

test('a nudge is for the one that was blocked: its uid is in the request', async () => {
  const server = fakeServer(fakeClock());
  const { metadata } = server.seed('StatefulSet', 'shop', { metadata: { name: 'db' }, spec: { replicas: 1 } });
  const owner = { kind: 'StatefulSet', name: 'db', uid: metadata.uid };
  await nudge(server.client(), 'shop', owner, 'f-1');
  assert.deepEqual(server.calls.at(-1)?.body, {
    metadata: { uid: metadata.uid, annotations: { [nudgeAnnotation]: 'f-1' } },
  });
  await assert.rejects(nudge(server.client(), 'shop', { ...owner, uid: 'another' }, 'f-2'), /immutable/);
});

const owners: [string, { kind: 'StatefulSet' | 'CronJob'; replicas?: number; uid?: string }, boolean][] = [
  ['one that lacks a pod', { kind: 'StatefulSet' }, true],
  ['one that has its pods', { kind: 'StatefulSet', replicas: 1 }, false],
  ['another of the same name', { kind: 'StatefulSet', uid: 'another' }, false],
  ['a CronJob, which tries again by itself', { kind: 'CronJob' }, false],
];
for (const [name, { kind, replicas = 0, uid }, want] of owners)
  test(`${name} is ${want ? '' : 'not '}nudged`, async () => {
    const server = fakeServer(fakeClock());
    const { metadata } = server.seed(kind, 'shop', {
      metadata: { name: 'x' },
      spec: { replicas: 1 },
      status: { replicas },
    });
    const blocked = [{ kind, name: 'x', uid: uid ?? metadata.uid }];
    assert.deepEqual(await stillShort(server.client(), 'shop', blocked), want ? blocked : []);
  });

test('an owner of a kind nobody knows is not asked for', async () => {
  const server = fakeServer(fakeClock());
  assert.deepEqual(await stillShort(server.client(), 'shop', [{ kind: 'Rollout', name: 'x', uid: 'u' }]), []);
  assert.deepEqual(server.calls, []);
});
