import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restartedAt } from '../../../src/kube/template-secrets.ts';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { ApiError } from '../../../src/kube/api.ts';
import { conditionOf } from '../../../src/kube/remediation.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import { actionWorlds, aPodOf, podWorld, restartWorld, scaleWorld, stuckSetWorld } from './action-worlds.ts';
import { health, type World } from './world.ts';

/* What the controller does with each action: whom it may concern, what stands in its way, when it has helped. */

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
async function applied(make: () => World, over = {}, by?: string): Promise<World> {
  const world = await proposed(make, over);
  world.approve(by);
  await world.clock.advance(3_000);
  assert.equal(world.phase(), 'Applied');
  return world;
}

for (const [name, make] of Object.entries(actionWorlds))
  test(`${name}: rehearsed, approved, applied by the request that was rehearsed, recovered, and no right is left`, async () => {
    const world = await proposed(make);
    assert.deepEqual(verdict(world, 'Rehearsed'), ['True', 'Accepted']);
    assert.equal(world.changes().length, 0);
    world.approve();
    await world.clock.advance(36_000);
    assert.equal(world.phase(), 'Recovered');
    assert.equal(world.server.list('RoleBinding').length, 0);
    const sent = world.server.calls.filter(({ identity }) => identity);
    const as = (dryRun: boolean) =>
      sent
        .filter((call) => call.dryRun === dryRun)
        .map(({ verb, kind, name, subresource }) => ({ verb, kind, name, subresource }));
    assert.ok(as(false).length === (name.includes('stuck') ? 2 : 1));
    assert.deepEqual(as(true), as(false));
  });

/* The incident must name what is changed, or what the pod belongs to. */

const about = (object: object) => (world: World) =>
  void world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { incident: { object } } });
const pod = ({ server }: World) => server.get('Pod', 'shop', 'checkout-x2x4z')!.metadata;
const targets: [string, (world: World) => void, string][] = [
  ['the Deployment of its ReplicaSet', () => undefined, 'Accepted'],
  [
    'the ReplicaSet itself',
    (world) => about({ kind: 'ReplicaSet', name: 'checkout', uid: pod(world).ownerReferences![0]!.uid })(world),
    'Accepted',
  ],
  ['another Deployment', about({ kind: 'Deployment', name: 'payments', uid: 'p' }), 'WrongTarget'],
  [
    'a Deployment of that name that came later',
    about({ kind: 'Deployment', name: 'checkout', uid: 'later' }),
    'WrongTarget',
  ],
  ['a StatefulSet of that name', about({ kind: 'StatefulSet', name: 'checkout', uid: '' }), 'WrongTarget'],
  [
    'its Deployment, but the pod is another of the same name',
    ({ server }) => {
      const { uid } = server.get('ReplicaSet', 'shop', 'checkout')!.metadata;
      server.remove('Pod', 'shop', 'checkout-x2x4z');
      aPodOf(server, 'ReplicaSet', uid, 'checkout-x2x4z');
    },
    'TargetGone',
  ],
];
for (const [name, meddle, want] of targets)
  test(`a pod is deleted for an incident of ${name}: ${want}`, async () => {
    const world = podWorld('Deployment')();
    meddle(world);
    world.start();
    await world.clock.advance(3_000);
    assert.equal(verdict(world, 'Rehearsed')[1], want);
    world.approve('ada@example.com');
    await world.clock.advance(3_000);
    assert.equal(world.changes().length, want === 'Accepted' ? 1 : 0);
  });

test('while a pod of it is taken care of, nobody else changes the workload, and the other way round', async () => {
  const world = await applied(podWorld('StatefulSet'), { readHealth: async () => health({ healthy: false }) });
  const { uid } = world.server.get('StatefulSet', 'shop', 'checkout')!.metadata;
  const restart = { type: 'RolloutRestart', rolloutRestart: { kind: 'StatefulSet', name: 'checkout', uid } };
  world.server.seed('Remediation', 'shop', {
    metadata: { name: 'other' },
    spec: { ...world.fix().spec, action: restart, approval: { state: 'Pending' } },
  });
  await world.clock.advance(3_000);
  world.server.change('Remediation', 'shop', 'other', {
    spec: { approval: { state: 'Approved', by: 'ada' }, proposedBy: 'ben' },
  });
  await world.clock.advance(5_000);
  const other = () =>
    (world.server.get('Remediation', 'shop', 'other') as { status?: { phase?: string } }).status?.phase;
  assert.equal(other(), 'Approved');
  world.server.change('Remediation', 'shop', world.fix().metadata.name, {
    status: { phase: 'Failed', conditions: [] },
  });
  await world.clock.advance(5_000);
  assert.equal(other(), 'Applied');
});

/* A disruption budget. */

const noBudget = new ApiError(
  "Cannot evict pod as it would violate the pod's disruption budget.",
  429,
  'TooManyRequests',
);
const isEviction = (
  { subresource, dryRun }: { subresource?: string | undefined; dryRun: boolean },
  rehearsal: boolean,
): boolean => subresource === 'eviction' && dryRun === rehearsal;

test('a budget that says no when it comes to it: not done, and said', async () => {
  const world = await proposed(podWorld('Deployment'));
  world.server.hooks.before = (call) => {
    if (isEviction(call, false)) throw noBudget;
  };
  world.approve();
  await world.clock.advance(3_000);
  assert.deepEqual(ended(world), ['Failed', 'BudgetExhausted']);
  assert.match(conditionOf(world.fix(), 'Failed')?.message ?? '', /disruption budget does not let the pod go/);
  assert.ok(pod(world));
});

for (const [name, make] of Object.entries({ 'the pod': podWorld('Deployment'), 'a pod in the way': stuckSetWorld }))
  test(`a budget that says no to ${name} at the rehearsal is a verdict, not a reason to ask for ever`, async () => {
    const world = make();
    world.server.hooks.before = (call) => {
      if (isEviction(call, true)) throw noBudget;
    };
    world.start();
    await world.clock.advance(3_000);
    assert.deepEqual(verdict(world, 'Rehearsed'), ['False', 'BudgetExhausted']);
  });

test('a server that is merely busy is asked again', async () => {
  const world = await proposed(podWorld('Deployment'));
  let isBusy = true;
  world.server.hooks.before = (call) => {
    if (!isBusy || !isEviction(call, false)) return;
    isBusy = false;
    throw new ApiError('too many requests, please try again later', 429, 'TooManyRequests');
  };
  world.approve();
  await world.clock.advance(40_000);
  assert.equal(world.phase(), 'Recovered');
});

test('an authorizer that learns of the right to evict late is waited for', async () => {
  const world = await proposed(podWorld('Deployment'));
  const untilMs = world.clock.now() + 4_000;
  world.server.hooks.before = (call) => {
    if (isEviction(call, false) && world.clock.now() < untilMs)
      throw new ApiError('pods "x" is forbidden: User "w" cannot create resource "pods/eviction"', 403, 'Forbidden');
  };
  world.approve();
  await world.clock.advance(6_000);
  assert.equal(world.phase(), 'Applied');
});

test('a restart writes down when it was made, not when it was rehearsed', async () => {
  const world = await proposed(restartWorld('Deployment'));
  await world.clock.advance(60_000);
  const fromMs = world.clock.now();
  world.approve();
  await world.clock.advance(3_000);
  const { template } = world.server.get('Deployment', 'shop', 'checkout')!['spec'] as {
    template: { metadata: { annotations: Record<string, string> } };
  };
  const atMs = Date.parse(template.metadata.annotations[restartedAt]!);
  assert.ok(atMs >= fromMs && atMs <= world.clock.now(), new Date(atMs).toISOString());
});

/* Recovery, by the real reading of each kind. */

const real = { readHealth };
const broken = { observedGeneration: 1, replicas: 3, updatedReplicas: 3, readyReplicas: 0, availableReplicas: 0, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 0 }; // prettier-ignore
const well = { ...broken, observedGeneration: 9, readyReplicas: 3, availableReplicas: 3, numberAvailable: 3 };
const set = ({ server }: World, kind: Kind, status: object) => void server.change(kind, 'shop', 'checkout', { status });
/** Whoever proposes has looked: which failure class it is need not show in so small a world. */
function byAPerson(world: World): World {
  world.server.change('Remediation', 'shop', world.fix().metadata.name, { spec: { proposedBy: 'ben@example.com' } });
  return world;
}
const withStatus = (make: () => World, kind: Kind) => (): World => {
  const world = byAPerson(make());
  set(world, kind, broken);
  return world;
};

const kinds: [Kind, object][] = [
  ['Deployment', { updatedReplicas: 2 }],
  ['StatefulSet', { updatedReplicas: 2 }],
  ['DaemonSet', { updatedNumberScheduled: 2 }],
];
const healings = kinds.flatMap(([kind, halfway]): [string, () => World, Kind, object][] => [
  [`a restart of a ${kind}`, restartWorld(kind as 'Deployment'), kind, halfway],
  [
    `the deletion of a pod of a ${kind}`,
    podWorld(kind as 'Deployment'),
    kind,
    { availableReplicas: 2, numberAvailable: 2 },
  ],
]);
for (const [name, make, kind, halfway] of healings)
  test(`${name} has helped when the ${kind} is whole, and that has held`, async () => {
    const world = await applied(withStatus(make, kind), real, 'ada@example.com');
    for (const status of [
      { ...well, ...halfway },
      { ...well, availableReplicas: 2, numberAvailable: 2 },
    ]) {
      set(world, kind, status);
      await world.clock.advance(40_000);
      assert.equal(world.phase(), 'Applied', JSON.stringify(status));
    }
    set(world, kind, well);
    await world.clock.advance(25_000);
    assert.equal(world.phase(), 'Applied', 'not yet held');
    await world.clock.advance(10_000);
    assert.equal(world.phase(), 'Recovered');
  });

test('the deletion of a pod whose ReplicaSet has no Deployment has helped when the ReplicaSet is whole', async () => {
  const world = podWorld('Deployment')();
  const { uid } = world.server.change('ReplicaSet', 'shop', 'checkout', {
    metadata: { ownerReferences: [] },
    status: { ...broken, availableReplicas: 2 },
  }).metadata;
  about({ kind: 'ReplicaSet', name: 'checkout', uid })(world);
  const started = await applied(() => byAPerson(world), real, 'ada@example.com');
  await started.clock.advance(40_000);
  assert.equal(world.phase(), 'Applied');
  set(world, 'ReplicaSet', well);
  await world.clock.advance(35_000);
  assert.equal(world.phase(), 'Recovered');
});

/** Proposed by a person: nothing of the kind would be derived. */
function zeroWorld(): World {
  const world = withStatus(scaleWorld, 'Deployment')();
  const { type, scaleDeployment } = world.fix().spec.action as unknown as { type: string; scaleDeployment: object };
  const action = { type, scaleDeployment: { ...scaleDeployment, replicas: 0 } };
  world.server.change('Remediation', 'shop', world.fix().metadata.name, {
    spec: { action, proposedBy: 'ben@example.com' },
  });
  return world;
}

test('scaled to zero because that was asked for is done when nothing runs, and is not called healthy', async () => {
  const world = await applied(zeroWorld, real, 'ada@example.com');
  set(world, 'Deployment', { ...broken, observedGeneration: 9, replicas: 2 });
  await world.clock.advance(40_000);
  assert.equal(world.phase(), 'Applied', 'two still run');
  const none = { replicas: 0, updatedReplicas: 0, readyReplicas: 0, availableReplicas: 0 };
  set(world, 'Deployment', { observedGeneration: 9, ...none });
  await world.clock.advance(35_000);
  assert.deepEqual(ended(world), ['Recovered', 'SwitchedOff']);
  assert.equal(conditionOf(world.fix(), 'Recovered')?.message, 'it was scaled to zero, held 30 s');
});
