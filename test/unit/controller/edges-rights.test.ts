import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prepared } from '../../../src/actions/action.ts';
import { createController } from '../../../src/controller/controller.ts';
import { readBlockedHealth } from '../../../src/controller/gather.ts';
import { bindingFor, createRights } from '../../../src/controller/rights.ts';
import { hasMoved, isUnclear, send } from '../../../src/controller/send.ts';
import { createSweeper } from '../../../src/controller/sweep.ts';
import { createHistory } from '../../../src/health/history.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { conditionOf, type Remediation } from '../../../src/kube/remediation.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import type { Call } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { good, health, imageOf, quotaWorld, silent, undoWorld, type World } from './world.ts';
import { type Hand } from '../../../src/actions/perform.ts';

/* Rights, the one path of every write, and the passes around them, at their edges. */

const role = 'tapfix-writer-workloads';
const coded = (code: number) => new ApiError(`HTTP ${code}`, code, 'X');
const target = { kind: 'Deployment', namespace: 'shop', name: 'checkout' } as const;

const answers: [string, unknown, { unclear?: true; moved?: true }][] = [
  ['no answer', new Unreachable('reset'), { unclear: true }],
  ['something else', new TypeError('bug'), { unclear: true }],
  ...[401, 408, 429, 500, 503, 504].map(
    (code) => [`${code}`, coded(code), { unclear: true }] as [string, unknown, { unclear: true }],
  ),
  ...[404, 409, 422].map((code) => [`${code}`, coded(code), { moved: true }] as [string, unknown, { moved: true }]),
  ['400', coded(400), {}],
  ['403', coded(403), {}],
];
for (const [name, error, { unclear = false, moved = false }] of answers)
  test(`${name} is ${unclear ? 'unclear' : moved ? 'time to read again' : 'a no'}`, () =>
    assert.deepEqual([isUnclear(error), hasMoved(error)], [unclear, moved]));

/** Sends what is planned anew for each try; `answer` is the server's. */
async function sent(answer: (nth: number, nowMs: number) => void, planned: (nth: number) => string) {
  const clock = fakeClock();
  let tries = 0;
  const hand = {
    delete: async () => answer(tries, clock.now()),
    patch: async () => assert.fail('no patch'),
  } as unknown as Hand;
  const prepare = async (): Promise<Prepared> => {
    const write = { do: 'delete', ref: target, preconditions: { resourceVersion: planned(++tries) } } as const;
    return { ok: true, targetHash: 'h', before: '', diff: '', undo: '', blocked: [], write };
  };
  const done = send({ hand, clock, dryRun: false, prepare, object: () => undefined });
  void done.catch(() => undefined);
  await clock.advance(60_000);
  return { result: await done, tries };
}
const conflict = (): never => {
  throw coded(409);
};
const reasonOf = (result: Prepared) => (result.ok ? 'ok' : result.reason);

test('the very same request refused twice is a no, and not asked a third time', async () => {
  const { result, tries } = await sent(conflict, () => '1');
  assert.deepEqual([reasonOf(result), tries], ['Refused', 2]);
});

test('a target that keeps moving is left alone for a while after five tries, a pause between each two', async () => {
  const atMs: number[] = [];
  const moving = sent((_nth, nowMs) => (atMs.push(nowMs), conflict()), String);
  await assert.rejects(moving, (error) => error instanceof RetryLater && error.afterMs === 2_000);
  assert.deepEqual(
    atMs.map((ms) => ms - atMs[0]!),
    [0, 200, 400, 600, 800],
  );
});

function rig() {
  const { server, clock, fix, config } = undoWorld();
  const api = server.client();
  const withRights = createRights({ api, clock, log: silent, namespace: 'tapfix' });
  const bindings = () => server.list('RoleBinding');
  const seed = (over: object, metadata = {}) => {
    const binding = bindingFor(fix(), role, 'tapfix');
    return server.seed('RoleBinding', 'shop', { ...binding, ...over, metadata: { ...binding.metadata, ...metadata } });
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

/* Passes. */

test('two that are approved at once do not both find the target free', async () => {
  const world = undoWorld();
  const { server } = world;
  world.start();
  await world.clock.advance(3_000);
  server.seed('Remediation', 'shop', { metadata: { name: 'twin' }, spec: world.fix().spec });
  await world.clock.advance(3_000);
  let most = 0;
  const isAtWork = (phase: unknown) => phase === 'Applying' || phase === 'Applied';
  server.hooks.before = async ({ verb, kind }: Call) => {
    if (verb === 'list' && kind === 'ReplicaSet') await world.clock.sleep(500); // slow enough for both
    const phases = server.list('Remediation').map((fix) => (fix['status'] as { phase?: string } | undefined)?.phase);
    most = Math.max(most, phases.filter(isAtWork).length);
  };
  world.approve();
  server.change('Remediation', 'shop', 'twin', { spec: { approval: { state: 'Approved', by: 'telegram:7' } } });
  await world.clock.advance(10_000);
  assert.equal(most, 1);
});

async function applied(live: (world: World) => ReturnType<typeof health>): Promise<World> {
  const world = undoWorld();
  world.start(
    {},
    { readHealth: async () => (imageOf(world.server) === good ? live(world) : health({ healthy: false })) },
  );
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(2_000);
  assert.equal(world.phase(), 'Applied');
  return world;
}

test('one bad reading begins the window again', async () => {
  let isBad = false;
  const world = await applied(() => health({ healthy: !isBad }));
  await world.clock.advance(20_000);
  isBad = true;
  await world.clock.advance(2_000);
  isBad = false;
  await world.clock.advance(25_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(10_000);
  assert.equal(world.phase(), 'Recovered');
});

test('what the watcher writes during a rehearsal does not make it be rehearsed again', async () => {
  const world = undoWorld();
  const { server } = world;
  const rehearsals = () => server.calls.filter(({ dryRun }) => dryRun).length;
  server.hooks.after = ({ dryRun }) => {
    const sightings = { count: rehearsals(), lastSeen: '2026-11-16T03:12:00Z' };
    if (dryRun) server.change('Remediation', 'shop', world.fix().metadata.name, { status: { sightings } });
  };
  world.start();
  await world.clock.advance(5_000);
  assert.deepEqual([rehearsals(), conditionOf(world.fix(), 'Rehearsed')?.status], [1, 'True']);
});

test('of what was not confirmed the target is told, too', async () => {
  const world = undoWorld();
  world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Failed');
  const about = world.server
    .list('Event')
    .filter((event) => (event['involvedObject'] as { kind: string }).kind === 'Deployment');
  assert.deepEqual(
    about.map((event) => event['reason']),
    ['FixApproved', 'FixFailed'],
  );
});

test('a successor alone wakes what it replaces', async () => {
  const { server, clock, config, fix } = undoWorld();
  const never = async () => assert.fail('not asked for');
  const deps = {
    api: server.client(),
    clock,
    log: silent,
    current: () => config,
    namespace: 'tapfix',
    history: createHistory(),
  };
  const controller = createController({
    ...deps,
    isOurs: () => true,
    readHealth: never,
    derive: async () => undefined,
  });
  controller.onFixes([structuredClone(fix())]);
  const stop = new AbortController();
  const ended = controller.run(stop.signal);
  await clock.advance(10_000);
  const { spec, metadata } = fix();
  const follows = { name: metadata.name, uid: metadata.uid };
  const view = server.seed('Remediation', 'shop', { metadata: { name: 'next' }, spec: { ...spec, follows } });
  controller.onFix({ type: 'upsert', view: structuredClone(view) as unknown as Remediation });
  await clock.advance(1_000);
  assert.equal(fix().status?.phase, 'Superseded');
  stop.abort();
  await ended;
});

test('whom a deleted quota blocked: nobody known is not "all well", and a ReplicaSet that is another one by now is not asked', async () => {
  const { server } = quotaWorld();
  assert.equal((await readBlockedHealth(server.client(), 'shop', [], { nowMs: 0, sinceMs: 0 })).healthy, false);
  const ready = { observedGeneration: 9, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  server.change('Deployment', 'shop', 'api', { status: ready });
  server.change('ReplicaSet', 'shop', 'api-5bbc', { metadata: { ownerReferences: [] } });
  const blocked = [{ kind: 'ReplicaSet', name: 'api-5bbc', uid: 'the one before' }];
  assert.equal((await readBlockedHealth(server.client(), 'shop', blocked, { nowMs: 0, sinceMs: 0 })).healthy, true);
});
