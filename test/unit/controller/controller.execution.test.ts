import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import { derive } from '../../../src/proposals/derive.ts';
import { type Call, dyingAt } from '../../support/fake-api.ts';
import { bad, good, health, imageOf, quotaWorld, silent, template, undoWorld, type World } from './world.ts';

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

const real = { readHealth, derive };

const counts = (ready: number) => ({
  observedGeneration: 9,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: ready,
  availableReplicas: ready,
});
/** The quota refuses nobody any more; as many of their pods are ready. */
function makeRoom({ server }: World, ready: number): void {
  for (const name of ['api', 'web']) {
    server.change('ReplicaSet', 'shop', `${name}-5bbc`, { status: { replicas: 2, conditions: [] } });
    server.change('Deployment', 'shop', name, { status: counts(ready) });
  }
}
const sighted = ({ server, fix }: World, affected: string[]): unknown =>
  server.change('Remediation', 'shop', fix().metadata.name, {
    status: { sightings: { count: 1, lastSeen: '2026-11-16T03:00:00Z', affected } },
  });

test('a quota that refuses nobody is not deleted, whatever the watcher calls affected', async () => {
  const world = quotaWorld();
  makeRoom(world, 2);
  world.server.seed('Namespace', undefined, { metadata: { name: 'shop' } });
  sighted(world, ['Namespace/shop', 'Deployment/nobody']);
  world.start({}, real);
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'False');
  world.approve();
  await world.clock.advance(90_000);
  assert.equal(world.phase(), 'Failed');
  assert.deepEqual(world.changes(), []);
});

test('room that came between the card and the tap: nothing is deleted, and nothing is called healthy that is not', async () => {
  const world = quotaWorld();
  sighted(world, ['Deployment/api', 'Deployment/web']);
  world.start({}, real);
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Confirmed')?.status, 'True');
  makeRoom(world, 0);
  world.approve();
  await world.clock.advance(90_000);
  assert.notEqual(world.phase(), 'Recovered');
  assert.deepEqual(world.changes(), []);
});

test('room that came, and a StatefulSet that stays short for reasons of its own: the approval does not wait for ever', async () => {
  const world = quotaWorld();
  world.start({}, real);
  await world.clock.advance(3_000);
  makeRoom(world, 2);
  const { uid } = world.server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 2 },
    status: {},
  }).metadata;
  const involvedObject = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid };
  const message = 'exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
  world.server.seed('Event', 'shop', { metadata: { name: 'db.1' }, reason: 'FailedCreate', message, involvedObject });
  world.server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '0' } } });
  world.approve('grace');
  await world.clock.advance(90_000);
  assert.equal(world.phase(), 'Resolved');
  assert.deepEqual(world.changes(), []);
});

for (const how of ['killed', 'cut off'] as const)
  test(`${how} in Applying for hours, and the world has moved on: nothing is changed any more`, async () => {
    const world = undoWorld();
    let healthy = false;
    const over = { readHealth: async () => health({ healthy, why: 'x' }) };
    const first = world.start({}, over);
    await world.clock.advance(3_000);
    let isDown = false;
    world.server.hooks.before = ({ verb, kind }) => {
      isDown ||= verb === 'create' && kind === 'RoleBinding';
      if (isDown) throw new Unreachable('down');
    };
    world.approve();
    await world.clock.advance(3_000);
    assert.equal(world.phase(), 'Applying');
    if (how === 'killed') first.stop();
    healthy = true;
    await world.clock.advance(20 * 60_000);
    delete world.server.hooks.before;
    isDown = false;
    if (how === 'killed') world.start({}, over);
    await world.clock.advance(60_000);
    assert.deepEqual([world.phase(), reason(world)], ['Failed', 'TooLate']);
    assert.equal(imageOf(world.server), bad);
  });

test('an older revision that was edited since it was shown is not put back', async () => {
  const world = undoWorld();
  world.start();
  await world.clock.advance(3_000);
  world.server.change('ReplicaSet', 'shop', 'checkout-0', { spec: { template: template('evil/miner:1') } });
  world.approve();
  await world.clock.advance(3_000);
  assert.deepEqual([world.phase(), reason(world)], ['Failed', 'TargetChanged']);
  assert.equal(imageOf(world.server), bad);
});

test('a second ReplicaSet of the same revision: which was meant is not guessed', async () => {
  const world = undoWorld();
  const { metadata } = world.server.get('ReplicaSet', 'shop', 'checkout-0')!;
  const { annotations, ownerReferences } = metadata;
  world.server.seed('ReplicaSet', 'shop', {
    metadata: { name: 'planted', annotations, ownerReferences },
    spec: { template: template('evil/miner:1') },
  });
  world.start();
  await world.clock.advance(3_000);
  assert.equal(conditionOf(world.fix(), 'Rehearsed')?.reason, 'RevisionGone');
});

/** Nobody is refused at this moment but a StatefulSet that would be let in: no plan can be made of that. */
function makeRoomForAMoment(world: World): void {
  makeRoom(world, 2);
  const { uid } = world.server.seed('StatefulSet', 'shop', {
    metadata: { name: 'db' },
    spec: { replicas: 2 },
    status: {},
  }).metadata;
  const involvedObject = { kind: 'StatefulSet', name: 'db', namespace: 'shop', uid };
  const message = 'exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
  world.server.seed('Event', 'shop', { metadata: { name: 'db.1' }, reason: 'FailedCreate', message, involvedObject });
  world.server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '0' } } });
}

test('an approval for which no plan can be made at this moment is still looked at, and its clock runs', async () => {
  const world = quotaWorld();
  const warned: string[] = [];
  world.start({}, { log: { ...silent, warn: (_fields: object, message: string) => void warned.push(message) } });
  await world.clock.advance(3_000);
  makeRoomForAMoment(world);
  world.approve();
  await world.clock.advance(10_000);
  assert.deepEqual([world.phase(), warned], ['Approved', []]);
});

test('in Applying, room for a moment is no answer of the API server: it is not counted as one', async () => {
  const world = quotaWorld();
  world.start();
  await world.clock.advance(3_000);
  world.server.hooks.before = ({ kind, verb }) => {
    if (kind !== 'RoleBinding' || verb !== 'create' || world.phase() !== 'Applying') return;
    delete world.server.hooks.before;
    makeRoomForAMoment(world);
  };
  world.approve();
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Applying');
  world.server.change('ResourceQuota', 'shop', 'tight', { status: { used: { pods: '1' } } });
  await world.clock.advance(31_000);
  assert.equal(world.server.get('ResourceQuota', 'shop', 'tight'), undefined);
});

const word = (world: World, type: string) => conditionOf(world.fix(), type);

test('the quota is gone, and nobody may be nudged: applied all the same, and watched', async () => {
  const world = quotaWorld();
  delete world.server.hooks.after;
  const isTheDelete = dyingAt(
    ({ kind, verb, dryRun }) => kind === 'ResourceQuota' && verb === 'delete' && !dryRun,
    'after',
  );
  const first = world.start(isTheDelete);
  await world.clock.advance(3_000);
  world.approve();
  await world.clock.advance(5_000);
  first.stop();
  for (const { metadata } of world.server.list('RoleBinding'))
    world.server.remove('RoleBinding', 'shop', metadata.name);
  world.server.hooks.before = ({ kind, verb }) => {
    if (kind === 'RoleBinding' && verb === 'create')
      throw new ApiError('admission webhook "rbac-guard" denied the request', 403, 'Forbidden');
  };
  world.start();
  await world.clock.advance(60_000);
  assert.equal(world.phase(), 'Applying');
  // How soon the tries are used up is a matter of chance: the pauses between them are.
  for (let n = 0; n < 22 && world.phase() === 'Applying'; n++) await world.clock.advance(30_000);
  assert.equal(world.phase(), 'Applied');
});

test('approved with kubectl while nothing had been shown: what a colleague rolled out meanwhile is not undone', async () => {
  const world = undoWorld();
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy: 'ben@example.com' } });
  world.approve('ada@example.com');
  world.server.change('Deployment', 'shop', 'checkout', { spec: { template: template('shop/checkout:1.43-hotfix') } });
  world.start({}, { derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: 'no' }) });
  await world.clock.advance(10_000);
  assert.equal(imageOf(world.server), 'shop/checkout:1.43-hotfix');
  assert.equal(word(world, 'Failed')?.reason, 'NotConfirmed');
});

describe('at the moment of the change', () => {
  const ended = (world: World) => [world.phase(), conditionOf(world.fix(), world.phase() ?? '')?.reason];
  async function proposed(make: () => World, over = {}): Promise<World> {
    const world = make();
    world.start({}, over);
    await world.clock.advance(3_000);
    return world;
  }

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
