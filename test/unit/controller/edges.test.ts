import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action, ActionPlan, Prepared, Trace } from '../../../src/actions/action.ts';
import { parseAction } from '../../../src/actions/table.ts';
import { beginExecution, decide } from '../../../src/controller/decide.ts';
import { createExecutor } from '../../../src/controller/execute.ts';
import { gather } from '../../../src/controller/gather.ts';
import { createRehearsal } from '../../../src/controller/rehearse.ts';
import type { WithRights } from '../../../src/controller/rights.ts';
import { createHistory } from '../../../src/health/history.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { type ActionSpec, conditionOf, type Remediation } from '../../../src/kube/remediation.ts';
import { aConfig } from '../../support/config.ts';
import { dyingAt } from '../../support/fake-api.ts';
import { aFix, condition, executed } from '../../support/fixes.ts';
import { bad, health, imageOf, quotaWorld, silent, undoWorld, type World } from './world.ts';

/* Rules of the controller that only show at their edges. */

const nowMs = Date.parse('2026-11-16T02:14:10Z');
const minted = ({ server }: World): number =>
  server.calls.filter(({ kind, verb }) => kind === 'RoleBinding' && verb === 'create').length;
const verdict = ({ fix }: World, type: string) => {
  const { status, reason } = conditionOf(fix(), type) ?? {};
  return [status, reason];
};
const ended = (world: World) => [world.phase(), conditionOf(world.fix(), world.phase() ?? '')?.reason];
async function proposed(make: () => World, over = {}): Promise<World> {
  const world = make();
  world.start({}, over);
  await world.clock.advance(3_000);
  return world;
}

/* decide() */

for (const phase of ['Noticed', 'Proposed'] as const)
  test(`${phase}, and it is no longer there: resolved, but not called healthy`, () => {
    const fix = aFix({ phase, conditions: [condition('IncidentCleared', '02:14:00', { reason: 'Gone' })] });
    const step = decide({ fix, nowMs, config: aConfig() });
    assert.deepEqual(step.do === 'move' && [step.phase, step.reason], ['Resolved', 'Gone']);
  });

for (const [seconds, want] of [
  [119, 'wait'],
  [120, 'move'],
] as const)
  test(`a crash loop with a life of 60 s that looks healed for ${seconds} s: ${want === 'wait' ? 'watched' : 'resolved'}`, () => {
    const fix = aFix({
      phase: 'Approved',
      approval: { state: 'Approved', by: 'ada' },
      conditions: [condition('Approved', '02:14:00')],
    });
    const stable = { sinceMs: nowMs - seconds * 1000, restarts: 0, readAtMs: nowMs };
    assert.equal(decide({ fix, nowMs, config: aConfig(), live: health({ longestUptimeMs: 60_000 }), stable }).do, want);
  });

/* The rehearsal: no rights are minted for what is refused before. */

const refused: [string, (world: World) => unknown, string][] = [
  [
    'a protected namespace',
    ({ server }) =>
      server.seed('Namespace', undefined, { metadata: { name: 'shop', labels: { 'tapfix.dev/protected': 'true' } } }),
    'ProtectedNamespace',
  ],
  [
    'an action that the configuration does not allow',
    ({ config }) => (config.actions.allow = ['DeleteResourceQuota']),
    'NotAllowed',
  ],
  [
    'a paused Deployment',
    ({ server }) => server.change('Deployment', 'shop', 'checkout', { spec: { paused: true } }),
    'Paused',
  ],
];
for (const [name, prepare, reason] of refused)
  test(`${name} is not rehearsed, and no right is minted for it`, async () => {
    const world = await proposed(() => {
      const made = undoWorld();
      prepare(made);
      return made;
    });
    assert.deepEqual(verdict(world, 'Rehearsed'), ['False', reason]);
    assert.equal(minted(world), 0);
  });

const troubles: [string, Error, unknown[]][] = [
  ['an answer that was lost is asked for again', new Unreachable('reset'), ['True', 'Accepted']],
  ['a server in trouble is asked again', new ApiError('etcd', 500, 'InternalError'), ['True', 'Accepted']],
  ['a target that moved is read again', new ApiError('conflict', 409, 'Conflict'), ['True', 'Accepted']],
  ['a clear no is one', new ApiError('denied', 403, 'Forbidden'), ['False', 'Refused']],
];
for (const [name, error, want] of troubles)
  test(`rehearsing, ${name}`, async () => {
    const world = undoWorld();
    let once = true;
    world.server.hooks.before = ({ verb }) => {
      if (!once || verb !== 'createSub') return;
      once = false;
      throw error;
    };
    world.start();
    await world.clock.advance(10_000);
    assert.deepEqual(verdict(world, 'Rehearsed'), want);
  });

const derived: [string, (own: ActionSpec) => ActionSpec | undefined, string][] = [
  ['the same', (own) => own, 'True'],
  [
    'another revision',
    (own) => ({ ...own, rolloutUndo: { ...(own['rolloutUndo'] as object), toRevision: 2 } }),
    'False',
  ],
  [
    'another target',
    (own) => ({ ...own, rolloutUndo: { ...(own['rolloutUndo'] as object), name: 'payments' } }),
    'False',
  ],
  ['nothing', () => undefined, 'False'],
];
for (const [name, derive, want] of derived)
  test(`the controller itself comes to ${name}: ${want === 'True' ? 'confirmed' : 'not confirmed'}`, async () => {
    const own = undoWorld();
    const action = derive(own.fix().spec.action!);
    const said = { diagnosis: '', changed: [], evidence: [], rationale: 'r', ...(action && { action }) };
    const world = await proposed(() => own, { derive: async () => said });
    assert.equal(verdict(world, 'Confirmed')[0], want);
  });

test('what was judged once is not judged again', async () => {
  const world = undoWorld();
  const conditions = [condition('Proposed', '02:12:35'), condition('Confirmed', '02:12:36', { status: 'False' })];
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { status: { phase: 'Proposed', conditions } });
  world.start();
  await world.clock.advance(3_000);
  assert.deepEqual([verdict(world, 'Rehearsed')[0], verdict(world, 'Confirmed')[0]], ['True', 'False']);
});

test('the labels of a namespace that may not be read are no obstacle, a lost answer is', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ kind }) => {
    if (kind === 'Namespace')
      throw world.clock.now() < startMs + 5_000 ? new Unreachable('x') : new ApiError('no', 403, 'Forbidden');
  };
  const startMs = world.clock.now();
  world.start();
  await world.clock.advance(4_000);
  assert.equal(conditionOf(world.fix(), 'Rehearsed'), undefined);
  await world.clock.advance(20_000);
  assert.deepEqual(verdict(world, 'Rehearsed'), ['True', 'Accepted']);
});

/* Taken up again in Applying. */

async function diedInApplying(): Promise<World> {
  const world = undoWorld();
  const first = world.start(
    dyingAt(({ kind, verb }) => kind === 'RoleBinding' && verb === 'create' && world.phase() === 'Applying', 'before'),
  );
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(3_000);
  first.stop();
  assert.equal(world.phase(), 'Applying');
  return world;
}
const meanwhile: [string, (world: World) => unknown, object, string][] = [
  ['healed by itself', () => undefined, { readHealth: async () => health() }, 'AlreadyHealthy'],
  [
    'protected by now',
    ({ server }) =>
      server.seed('Namespace', undefined, { metadata: { name: 'shop', labels: { 'tapfix.dev/protected': 'true' } } }),
    {},
    'ProtectedNamespace',
  ],
  ['switched off by now', ({ config }) => (config.actions.allow = []), {}, 'NotAllowed'],
];
for (const [name, change, over, reason] of meanwhile)
  test(`killed in Applying, and two minutes later it is ${name}: nothing is changed`, async () => {
    const world = await diedInApplying();
    change(world);
    await world.clock.advance(120_000);
    world.start({}, over);
    await world.clock.advance(35_000); // what looks healthy must hold for the window
    assert.deepEqual(ended(world), ['Failed', reason]);
    assert.equal(imageOf(world.server), bad);
  });

test('somebody else undid it at the very moment: said as that, and not claimed', async () => {
  const world = await proposed(undoWorld);
  const older = world.server.get('ReplicaSet', 'shop', 'checkout-0')!['spec'] as { template: object };
  world.server.hooks.before = ({ kind, verb, dryRun }) => {
    if (kind !== 'Deployment' || verb !== 'patch' || dryRun) return;
    delete world.server.hooks.before;
    world.server.change('Deployment', 'shop', 'checkout', { spec: { template: older.template } });
  };
  world.approve();
  await world.clock.advance(5_000);
  assert.deepEqual(ended(world), ['Failed', 'Interrupted']);
});

/* The executor: what it does, in which order, and under which lock. */

const prepared: Prepared = { ok: true, targetHash: 'abc', before: '{}', diff: '', undo: '', blocked: [], write: { do: 'delete', ref: { kind: 'ResourceQuota', namespace: 'shop', name: 'q' }, preconditions: {} } }; // prettier-ignore
function anExecutor(fresh: (fix: Remediation) => Remediation | undefined = (fix) => fix, trace: Trace = 'untouched') {
  const did: string[] = [];
  const note = (what: string) => void did.push(what);
  const world = quotaWorld();
  const fix = aFix({ phase: 'Applying', status: { execution: executed } });
  const api = {
    ...world.server.client(),
    get: async () => (note('read again'), fresh(structuredClone(fix))),
    list: async () => (note('who else'), []),
  } as never;
  const around =
    (what: string) =>
    async <T>(work: () => Promise<T>): Promise<T> => {
      note(what);
      const result = await work();
      note(`end of ${what}`);
      return result;
    };
  const hand = { delete: async () => note('write'), patch: async () => note('write') } as never;
  const action = {
    role: 'tapfix-writer-quotas',
    noun: 'x',
    target: () => ({ kind: 'ResourceQuota', name: 'q', uid: 'q' }),
    prepare: async () => prepared,
    inspect: async () => trace,
    snapshot: async () => 'after',
  } as unknown as Action<unknown>;
  const deps = {
    api,
    clock: world.clock,
    log: silent,
    current: aConfig,
    namespace: 'tapfix',
    history: createHistory(),
  };
  const never = async () => assert.fail('not asked for');
  const executor = createExecutor({
    ...deps,
    readHealth: never,
    derive: never,
    lock: around('lock'),
    withRights: (_fix, _role, work) => around('rights')(() => work(hand)),
  });
  return {
    did,
    act: () => executor.act(fix, { action, params: {} }),
    finish: () => executor.finish(fix, { action, params: {} }, true),
  };
}

test('an execution reads the record again, under the lock, and holds rights only while it writes', async () => {
  const { did, act } = anExecutor();
  const word = await act();
  assert.deepEqual(did, ['lock', 'read again', 'who else', 'rights', 'write', 'end of rights', 'end of lock']);
  assert.deepEqual([word?.phase, word?.execution?.after], ['Applied', 'after']);
});

test('what is in place and needs no nudge is finished without any right', async () => {
  const { did, finish } = anExecutor();
  assert.equal((await finish())?.phase, 'Applied');
  assert.deepEqual(did, ['lock', 'read again', 'end of lock']);
});

test('a rehearsal holds its rights under the same lock', async () => {
  const { server, clock, fix, config } = undoWorld();
  const did: string[] = [];
  const deps = {
    api: server.client(),
    clock,
    log: silent,
    current: () => config,
    namespace: 'tapfix',
    history: createHistory(),
  };
  const lock = <T>(work: () => Promise<T>): Promise<T> => (did.push('lock'), work());
  const withRights: WithRights = (_fix, _role, work) => (did.push('rights'), work(server.client()));
  const never = async () => assert.fail('not asked for');
  const rehearse = createRehearsal({ ...deps, readHealth: never, derive: async () => undefined, lock, withRights });
  const word = await rehearse(fix(), parseAction(fix().spec.action!), undefined);
  assert.deepEqual([did, word.conditions[0]?.status], [['lock', 'rights'], 'True']);
});

const others: [string, (fix: Remediation) => Remediation | undefined][] = [
  ['was deleted', () => undefined],
  ['is another of the same name', (fix) => ({ ...fix, metadata: { ...fix.metadata, uid: 'another' } })],
  ['was moved on by another process', (fix) => ({ ...fix, status: { ...fix.status, phase: 'Failed' } })],
];
for (const [name, fresh] of others)
  test(`nothing is written for a record that ${name} meanwhile`, async () => {
    const { did, act } = anExecutor(fresh);
    assert.equal(await act(), undefined);
    assert.deepEqual(did, ['lock', 'read again', 'end of lock']);
  });

test('applied is when the change was made, however long the nudging takes', async () => {
  const world = await proposed(quotaWorld);
  let changedAtMs = 0;
  world.server.hooks.after = ({ kind, verb, dryRun }) => {
    if (kind === 'ResourceQuota' && verb === 'delete' && !dryRun) changedAtMs = world.clock.now();
  };
  world.approve();
  await world.clock.advance(20_000);
  const { appliedAt, after } = world.fix().status!.execution!;
  assert.deepEqual([Date.parse(appliedAt!), after], [changedAtMs, '']);
});

/* One Remediation per target at a time. */

const busy: [string, object, boolean][] = [
  ['one that is being applied', { phase: 'Applying' }, true],
  ['one whose change is being watched', { phase: 'Applied' }, true],
  ['one that is only approved', { phase: 'Approved' }, false],
  ['one of another Deployment', { phase: 'Applied', name: 'payments' }, false],
  ['one of a quota that has the same name', { phase: 'Applied', quota: true }, false],
];
for (const [name, { phase, name: target = 'checkout', quota }, want] of busy as [
  string,
  { phase: string; name?: string; quota?: true },
  boolean,
][])
  test(`${name} ${want ? 'holds' : 'does not hold'} the target`, async () => {
    const world = await proposed(undoWorld);
    const { server, clock, config } = world;
    const { rolloutUndo } = world.fix().spec.action as unknown as { rolloutUndo: object };
    const action = quota
      ? { type: 'DeleteResourceQuota', deleteResourceQuota: { name: target, uid: 'q' } }
      : { type: 'RolloutUndo', rolloutUndo: { ...rolloutUndo, name: target } };
    server.seed('Remediation', 'shop', {
      metadata: { name: 'other' },
      spec: { ...world.fix().spec, action },
      status: { phase },
    });
    const fix = { ...world.fix(), status: { ...world.fix().status, phase: 'Approved' as const } };
    // The record itself, as another process has moved it on, is no rival.
    server.change('Remediation', 'shop', fix.metadata.name, { status: { phase: 'Applying' } });
    const deps = {
      api: server.client(),
      clock,
      log: silent,
      current: () => config,
      namespace: 'tapfix',
      history: createHistory(),
    };
    const never = async () => assert.fail('not asked for');
    const facts = await gather({ ...deps, readHealth: async () => health({ healthy: false }), derive: never }, fix, {
      attempts: 0,
    });
    assert.equal(facts.busy, want ? 'other' : undefined);
  });

test('a Deployment that is deleted after the fix has not recovered', async () => {
  const isGood = (world: World) => imageOf(world.server) !== bad;
  const world: World = undoWorld();
  world.start({}, { readHealth: async () => (isGood(world) ? health({ gone: true }) : health({ healthy: false })) });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(700_000);
  assert.deepEqual(ended(world), ['Failed', 'NotRecovered']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /no longer there/);
});

test('the window that Applying persists fits the resource', () => {
  const plan = { before: '', blocked: [], undo: '' } as unknown as ActionPlan;
  const config = aConfig({ recovery: { stableFor: 3_600_000, timeout: 1 } });
  assert.equal(beginExecution(undoWorld().fix(), plan, health(), config, 0).stableSeconds, 600);
});
