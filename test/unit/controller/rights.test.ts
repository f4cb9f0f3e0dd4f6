import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Hand } from '../../../src/actions/perform.ts';
import { createLock } from '../../../src/controller/context.ts';
import { bindingFor, createRights } from '../../../src/controller/rights.ts';
import { createSweeper } from '../../../src/controller/sweep.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { silent, undoWorld } from './world.ts';

const role = 'tapfix-writer-workloads';

function rig() {
  const { server, clock, fix, config } = undoWorld();
  const api = server.client();
  const withRights = createRights({ api, clock, log: silent, namespace: 'tapfix' });
  const sweep = createSweeper({
    api,
    log: silent,
    lock: createLock(),
    current: () => config,
    namespace: 'tapfix',
    namespaces: () => ['pay'],
  });
  const left = () => server.list('RoleBinding').length;
  const leave = () => server.seed('RoleBinding', 'shop', bindingFor(fix(), role, 'tapfix'));
  const to = (status: object) => server.change('Remediation', 'shop', fix().metadata.name, { status });
  return { server, clock, fix, withRights, sweep, left, leave, to, config };
}

test('the binding names the writer only, is owned by the Remediation, and holds nothing up', async () => {
  const { server, fix, withRights, left } = rig();
  await withRights(fix(), role, async () => {
    const [binding] = server.list('RoleBinding', 'shop');
    assert.equal(binding?.metadata.name, `tapfix-${fix().metadata.uid}`);
    assert.deepEqual(binding?.['subjects'], [{ kind: 'ServiceAccount', name: 'tapfix-writer', namespace: 'tapfix' }]);
    assert.equal(binding?.metadata.ownerReferences?.[0]?.uid, fix().metadata.uid);
    assert.equal(binding?.metadata.ownerReferences?.[0]?.blockOwnerDeletion, undefined);
  });
  assert.equal(left(), 0);
});

test('the rights go when the work fails, too', async () => {
  const { fix, withRights, left } = rig();
  await assert.rejects(
    withRights(fix(), role, () => Promise.reject(new Unreachable('gone'))),
    Unreachable,
  );
  assert.equal(left(), 0);
});

test('a binding that a crash left is used, one that is not ours is replaced', async () => {
  const { server, fix, withRights, leave } = rig();
  const { uid } = leave().metadata;
  await withRights(fix(), role, async () => assert.equal(server.list('RoleBinding')[0]?.metadata.uid, uid));
  const other = bindingFor(fix(), role, 'tapfix');
  server.seed('RoleBinding', 'shop', { ...other, roleRef: { ...other.roleRef, name: 'cluster-admin' } });
  await withRights(fix(), role, async () => {
    assert.equal((server.list('RoleBinding')[0]?.['roleRef'] as { name?: string } | undefined)?.name, role);
  });
});

describe('a binding and its token', () => {
  const role = 'tapfix-writer-workloads';
  const target = { kind: 'Deployment', namespace: 'shop', name: 'checkout' } as const;

  function rig() {
    const { server, clock, fix, config } = undoWorld();
    const api = server.client();
    const withRights = createRights({ api, clock, log: silent, namespace: 'tapfix' });
    const bindings = () => server.list('RoleBinding');
    const seed = (over: object, metadata = {}) => {
      const binding = bindingFor(fix(), role, 'tapfix');
      return server.seed('RoleBinding', 'shop', {
        ...binding,
        ...over,
        metadata: { ...binding.metadata, ...metadata },
      });
    };
    return { server, clock, fix, config, api, withRights, bindings, seed };
  }
  const lag = new ApiError('User "w" cannot patch resource "deployments" in API group "apps"', 403, 'Forbidden');

  test('the token lives for ten minutes', async () => {
    const { server, fix, withRights } = rig();
    await withRights(fix(), role, async () => undefined);
    const request = server.calls.find(({ verb }) => verb === 'createSub');
    assert.deepEqual((request!.body as { spec: object }).spec, { expirationSeconds: 600 });
  });

  for (const verb of ['patch', 'delete'] as const)
    test(`a ${verb} that the authorizer does not know yet is tried again, with the binding that was swept away`, async () => {
      const { server, clock, fix, withRights, bindings } = rig();
      let tries = 0;
      server.hooks.before = (call) => {
        if (call.identity === undefined || ++tries > 1) return;
        for (const { metadata } of bindings()) server.remove('RoleBinding', 'shop', metadata.name);
        throw lag;
      };
      let left = 0;
      const work = (hand: Hand) => (verb === 'patch' ? hand.patch(target, 'merge', {}) : hand.delete(target));
      const done = withRights(fix(), role, async (hand) => {
        await work(hand);
        left = bindings().length;
      });
      await clock.advance(1_000);
      await done;
      assert.deepEqual([tries, left, bindings().length], [2, 1, 0]);
    });

  test('after ten seconds the no of the authorizer is a no', async () => {
    const { server, clock, fix, withRights } = rig();
    server.hooks.before = ({ identity }) => {
      if (identity) throw lag;
    };
    const done = withRights(fix(), role, (hand) => hand.patch(target, 'merge', {})).catch((error: unknown) => error);
    await clock.advance(11_000);
    assert.equal(await Promise.race([done, Promise.resolve('still trying')]), lag);
  });

  const foreign: [string, object][] = [
  ['a Role of the same name', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role } }],
  ['another role', { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' } }],
  ['another subject', { subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'shop' }] }],
  ['one subject more', { subjects: [{ kind: 'ServiceAccount', name: 'tapfix-writer', namespace: 'tapfix' }, { kind: 'User', name: 'erin' }] }],
]; // prettier-ignore
  for (const [name, over] of foreign)
    test(`a binding of our name with ${name} is replaced, by its uid`, async () => {
      const { server, fix, withRights, bindings, seed } = rig();
      const { uid } = seed(over).metadata;
      await withRights(fix(), role, async () => {
        const [binding] = bindings();
        const { roleRef, subjects } = bindingFor(fix(), role, 'tapfix');
        assert.deepEqual([binding?.['roleRef'], binding?.['subjects']], [roleRef, subjects]);
      });
      assert.deepEqual(server.calls.find(({ verb }) => verb === 'delete')?.body, { uid });
    });

  test('rights that cannot be taken back are left to the sweeper: what was done is done', async () => {
    const { server, fix, withRights } = rig();
    server.hooks.before = ({ verb }) => {
      if (verb === 'delete') throw new Unreachable('reset');
    };
    assert.equal(await withRights(fix(), role, async () => 'done'), 'done');
  });
});
