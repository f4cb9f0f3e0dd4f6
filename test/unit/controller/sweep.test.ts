import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLock } from '../../../src/controller/context.ts';
import { bindingFor, createRights } from '../../../src/controller/rights.ts';
import { createSweeper } from '../../../src/controller/sweep.ts';
import { ApiError } from '../../../src/kube/api.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
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

const rehearsed = ['Rehearsed', 'Confirmed'].map((type) => ({
  type,
  status: 'True',
  reason: type,
  message: '',
  lastTransitionTime: '2026-11-16T03:12:00Z',
}));
const sweeps: { name: string; status?: object; afterMs?: number; gone?: true; swept: boolean }[] = [
  { name: 'of a rehearsal that may be under way stay', status: { phase: 'Proposed' }, swept: false },
  { name: 'of an execution that may be under way stay', status: { phase: 'Applying' }, swept: false },
  { name: 'of one that is applied go', status: { phase: 'Applied' }, swept: true },
  { name: 'of a rehearsal that is over go', status: { phase: 'Proposed', conditions: rehearsed }, swept: true },
  { name: 'older than 15 minutes go, whatever the phase', status: { phase: 'Applying' }, afterMs: 900_001, swept: true },
  { name: 'of a Remediation that is gone go', gone: true, swept: true },
]; // prettier-ignore
for (const { name, status, afterMs = 0, gone, swept } of sweeps) {
  test(`left-over rights ${name}`, async () => {
    const { server, clock, fix, sweep, left, leave, to } = rig();
    leave();
    if (status) to(status);
    if (gone) server.remove('Remediation', 'shop', (fix() as Remediation).metadata.name);
    await sweep(clock.now() + afterMs);
    assert.equal(left(), swept ? 0 : 1);
  });
}

test("the sweeper leaves the installation's own bindings alone", async () => {
  const { server, clock, sweep, left } = rig();
  const labels = { 'app.kubernetes.io/managed-by': 'tapfix' };
  server.seed('RoleBinding', 'tapfix', {
    metadata: { name: 'tapfix-watcher', labels },
    roleRef: { kind: 'Role', name: 'x' },
  });
  await sweep(clock.now() + 10_000_000);
  assert.equal(left(), 1);
});

test('rights that cannot be removed do not keep the others, and those of another installation are not ours', async () => {
  const { server, clock, fix, sweep, leave, to } = rig();
  const other = (ns: string, own: string, n: number) => {
    const binding = bindingFor(fix(), role, own);
    const name = `tapfix-${n}1111111-1111-4111-8111-111111111111`;
    server.seed('RoleBinding', ns, { ...binding, metadata: { ...binding.metadata, name, ownerReferences: [] } });
  };
  other('a-stuck', 'tapfix', 1);
  other('b-theirs', 'tapfix-two', 2);
  leave();
  to({ phase: 'Applied' });
  server.hooks.before = ({ verb, namespace }) => {
    if (verb === 'delete' && namespace === 'a-stuck') throw new ApiError('no', 403, 'Forbidden');
  };
  await sweep(clock.now());
  assert.deepEqual(
    server.list('RoleBinding').map(({ metadata }) => metadata.namespace),
    ['a-stuck', 'b-theirs'],
  );
});

test('with literal namespaces only those are listed, and where Remediations are', async () => {
  const { server, clock, sweep, config } = rig();
  config.namespaces.include = ['shop', 'payments'];
  await sweep(clock.now());
  const listed = server.calls.filter(({ verb }) => verb === 'list').map(({ namespace }) => namespace);
  assert.deepEqual(listed, ['shop', 'payments', 'pay']);
});

describe('whose rights stay', () => {
  const role = 'tapfix-writer-workloads';

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

  /* The sweeper. */

  const own = `tapfix-11111111-1111-4111-8111-111111111111`;
  const kept: [string, object, object][] = [
  ['by another name', {}, { name: 'tapfix-watcher' }],
  ['of another account', { subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'tapfix' }] }, { name: own }],
  ['of two', { subjects: [{ kind: 'ServiceAccount', name: 'tapfix-writer', namespace: 'tapfix' }, { kind: 'User', name: 'erin' }] }, { name: own }],
]; // prettier-ignore
  const sweeping = ({ api, config }: ReturnType<typeof rig>, lock = <T>(work: () => Promise<T>) => work()) =>
    createSweeper({ api, log: silent, lock, current: () => config, namespace: 'tapfix', namespaces: () => [] });
  for (const [name, over, metadata] of kept)
    test(`the sweeper leaves a binding ${name} alone, whoever labelled it`, async () => {
      const it = rig();
      it.seed(over, { ...metadata, ownerReferences: [] });
      await sweeping(it)(it.clock.now());
      assert.equal(it.bindings().length, 1);
    });

  test('rights of an approved one that is still to be rehearsed stay; those of another of its name go, by uid', async () => {
    const it = rig();
    const { name } = it.fix().metadata;
    it.server.change('Remediation', 'shop', name, { status: { phase: 'Approved' } });
    const { uid } = it.seed({}).metadata;
    await sweeping(it)(it.clock.now());
    assert.equal(it.bindings().length, 1);
    const { spec, status } = it.fix();
    it.server.remove('Remediation', 'shop', name);
    it.server.seed('Remediation', 'shop', { metadata: { name }, spec, status });
    await sweeping(it)(it.clock.now());
    assert.equal(it.bindings().length, 0);
    assert.deepEqual(it.server.calls.at(-1)?.body, { uid });
  });

  test('the sweeper looks only while nobody writes', async () => {
    const it = rig();
    let listed = 0;
    await sweeping(it, async (work) => {
      assert.equal(it.server.calls.length, 0);
      const result = await work();
      listed = it.server.calls.length;
      return result;
    })(it.clock.now());
    assert.ok(listed > 0);
  });
});
