import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import type { Call } from '../../support/fake-api.ts';
import type { World } from './world.ts';
import { bad, good, health, imageOf, quotaWorld, template, undoWorld } from './world.ts';

const realChange = ({ dryRun, kind, verb }: Call): boolean =>
  !dryRun && ((verb === 'patch' && kind === 'Deployment') || (verb === 'delete' && kind === 'ResourceQuota'));

async function proposed(make: () => World): Promise<World> {
  const world = make();
  world.start();
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Proposed');
  return world;
}

const reason = (world: World): string | undefined => conditionOf(world.fix(), world.phase() ?? '')?.reason;

/** Runs once, at the first real change of the target. */
function once(world: World, when: 'before' | 'after', work: () => void): void {
  let done = false;
  const hook = world.server.hooks[when];
  world.server.hooks[when] = async (call) => {
    await hook?.(call);
    if (done || !realChange(call)) return;
    done = true;
    work();
  };
}

const lost = (): never => {
  throw new Unreachable('connection reset');
};

for (const [name, make] of Object.entries({ undo: undoWorld, 'quota deletion': quotaWorld })) {
  for (const when of ['before', 'after'] as const) {
    test(`${name}: a connection lost ${when} the change arrived still ends in exactly one change`, async () => {
      const world = await proposed(make);
      once(world, when, lost);
      world.approve();
      await world.clock.advance(45_000);
      assert.equal(world.phase(), 'Recovered');
      assert.equal(world.changes().filter(realChange).length, 1);
      assert.equal(world.server.list('RoleBinding').length, 0);
    });
  }
}

test('a status update of the target between reading and writing is no obstacle', async () => {
  const world = await proposed(undoWorld);
  once(world, 'before', () => world.server.change('Deployment', 'shop', 'checkout', { status: { replicas: 2 } }));
  world.approve();
  await world.clock.advance(5_000);
  assert.equal(world.phase(), 'Applied');
  assert.equal(imageOf(world.server), good);
});

test('nor are many of them: a busy namespace is no reason to give an approval up', async () => {
  const world = await proposed(undoWorld);
  let updates = 0;
  world.server.hooks.before = (call) => {
    if (realChange(call) && updates < 12)
      world.server.change('Deployment', 'shop', 'checkout', { status: { replicas: updates++ } });
  };
  world.approve();
  await world.clock.advance(10_000);
  assert.deepEqual([world.phase(), updates], ['Applied', 12]);
  assert.equal(world.changes().filter(realChange).length, 1);
});

test('a rollout between reading and writing is never overwritten', async () => {
  const world = await proposed(undoWorld);
  const theirs = template('shop/checkout:1.43');
  once(world, 'before', () => world.server.change('Deployment', 'shop', 'checkout', { spec: { template: theirs } }));
  world.approve();
  await world.clock.advance(5_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'Interrupted']);
  assert.equal(imageOf(world.server), 'shop/checkout:1.43');
});

test('a Deployment that changed since it was shown is left alone', async () => {
  const world = await proposed(undoWorld);
  world.server.change('Deployment', 'shop', 'checkout', { spec: { template: template('shop/checkout:1.43') } });
  world.approve();
  await world.clock.advance(5_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'TargetChanged']);
  assert.equal(world.changes().length, 0);
});

test('a quota of the same name but another uid is not the one that was shown', async () => {
  const world = await proposed(quotaWorld);
  world.server.remove('ResourceQuota', 'shop', 'tight');
  world.server.seed('ResourceQuota', 'shop', { metadata: { name: 'tight' }, spec: { hard: { pods: '1' } } });
  world.approve();
  await world.clock.advance(5_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'TargetGone']);
  assert.equal(world.changes().length, 0);
});

test('what healed between tap and execution is resolved, and nothing is changed', async () => {
  const world = await proposed(quotaWorld);
  world.server.remove('ResourceQuota', 'shop', 'tight');
  world.approve();
  await world.clock.advance(20_000);
  assert.equal(world.phase(), 'Approved');
  await world.clock.advance(15_000);
  assert.equal(world.phase(), 'Resolved');
  assert.equal(world.changes().length, 0);
});

test('an authorizer that learns of the binding late is waited for', async () => {
  const world = await proposed(undoWorld);
  const untilMs = world.clock.now() + 4_000;
  world.server.hooks.before = (call) => {
    if (realChange(call) && world.clock.now() < untilMs)
      throw new ApiError(
        `deployments.apps "admission-desk" is forbidden: User "w" cannot ${call.verb} resource "deployments" in API group "apps"`,
        403,
        'Forbidden',
      );
  };
  world.approve();
  await world.clock.advance(6_000);
  assert.equal(world.phase(), 'Applied');
});

test('a policy that refuses the change fails the fix at once, in its own words', async () => {
  const world = await proposed(undoWorld);
  world.server.hooks.before = (call) => {
    if (realChange(call)) throw new ApiError('ValidatingAdmissionPolicy no-friday denied request', 403, 'Forbidden');
  };
  world.approve();
  await world.clock.advance(2_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'Refused']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /no-friday/);
});

test('a server that never takes the change is given up, and the target was not touched', async () => {
  const world = await proposed(undoWorld);
  world.server.hooks.before = (call) => {
    if (realChange(call)) throw new ApiError('failed calling webhook', 500, 'InternalError');
  };
  world.approve();
  await world.clock.advance(400_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'NoAnswer']);
  assert.match(
    conditionOf(world.fix(), 'Failed')?.message ?? '',
    /10 tries: failed calling webhook; nothing was changed$/,
  );
  assert.equal(imageOf(world.server), bad);
});

test('a rehearsal that the server refuses is said, and an approval of it fails', async () => {
  const world = undoWorld();
  world.server.hooks.before = ({ dryRun }) => {
    if (dryRun) throw new ApiError('admission webhook "x" denied the request: no', 400, 'BadRequest');
  };
  world.start();
  await world.clock.advance(3_000);
  const { status, reason: why } = conditionOf(world.fix(), 'Rehearsed')!;
  assert.deepEqual([status, why], ['False', 'Refused']);
  world.approve('ada@example.com');
  await world.clock.advance(3_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'RehearsalFailed']);
});

test('a fix that we would not propose is applied only for a Kubernetes user, and only if a person proposed it', async () => {
  for (const [by, proposedBy, phase] of [
    ['telegram:7', 'ben@example.com', 'Failed'],
    ['ada@example.com', 'system:serviceaccount:tapfix:tapfix-watcher', 'Failed'],
    ['ada@example.com', 'ben@example.com', 'Applied'],
  ] as const) {
    const world = undoWorld();
    world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy } });
    world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
    await world.clock.advance(3_000);
    world.approve(by);
    await world.clock.advance(5_000);
    assert.equal(world.phase(), phase);
  }
});

test('a derivation that cannot be read is tried again, the preview does not wait for it', async () => {
  const world = undoWorld();
  let tries = 0;
  const derive = async () => {
    if (++tries < 4) throw new Unreachable('no answer');
    return { diagnosis: '', changed: [], evidence: [], rationale: '', action: world.fix().spec.action! };
  };
  world.start({}, { derive });
  await world.clock.advance(1_000);
  assert.ok(world.fix().status?.preview);
  assert.equal(conditionOf(world.fix(), 'Confirmed'), undefined);
  await world.clock.advance(10_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'True');
});

test('a derivation that is never readable is not confirmed', async () => {
  const world = undoWorld();
  world.start({}, { derive: () => Promise.reject(new Unreachable('no answer')) });
  await world.clock.advance(20_000);
  assert.deepEqual(conditionOf(world.fix(), 'Confirmed')?.reason, 'NotDerived');
});

test('what does not recover fails in time, and may still recover within half an hour', async () => {
  const world = undoWorld();
  let healthy = false;
  world.start({}, { readHealth: async () => health({ healthy, why: '0/3 ready' }) });
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(640_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'NotRecovered']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /0\/3 ready/);
  healthy = true;
  await world.clock.advance(40_000);
  assert.equal(world.phase(), 'Recovered');
});

test('a fresh signal starts the window again', async () => {
  const world = await proposed(undoWorld);
  world.approve();
  await world.clock.advance(20_000);
  const sightings = { count: 2, lastSeen: new Date(world.clock.now()).toISOString() };
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { status: { sightings } });
  await world.clock.advance(20_000);
  assert.equal(world.phase(), 'Applied');
  await world.clock.advance(15_000);
  assert.equal(world.phase(), 'Recovered');
});

test('two proposals for one target are applied one after the other', async () => {
  const world = await proposed(undoWorld);
  const { spec } = world.fix();
  world.server.seed('Remediation', 'shop', { metadata: { name: 'twin' }, spec: { ...spec, follows: undefined } });
  await world.clock.advance(3_000);
  world.approve();
  world.server.change('Remediation', 'shop', 'twin', { spec: { approval: { state: 'Approved', by: 'telegram:7' } } });
  await world.clock.advance(50_000);
  assert.equal(world.changes().filter(realChange).length, 1);
  const phases = [world.fix(), world.server.get('Remediation', 'shop', 'twin')].map(
    (fix) => (fix as { status?: { phase?: string } }).status?.phase,
  );
  assert.deepEqual(phases.sort(), ['Recovered', 'Resolved']);
});
