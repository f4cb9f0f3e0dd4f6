import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Prepared } from '../../../src/actions/action.ts';
import { actionOf, parseAction } from '../../../src/actions/table.ts';
import { restartedAt } from '../../../src/kube/template-secrets.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import {
  aPodOf,
  imageWorld,
  podWorld,
  restartWorld,
  scaleWorld,
  stuckSetWorld,
  undoWorldOf,
} from '../controller/action-worlds.ts';
import type { World } from '../controller/world.ts';

/* Why an action is not done: each reason by its name. */

function prepare({ server, fix }: World, over: object = {}): Promise<Prepared> {
  const { action, params } = parseAction(fix().spec.action!);
  const given = { ...(params as object), ...over };
  return action.prepare(given, { namespace: 'shop', fixUid: fix().metadata.uid, reader: server.client() });
}
const checkout = (kind: 'Deployment' | 'StatefulSet' | 'DaemonSet', patch: object) => (world: World) =>
  void world.server.change(kind, 'shop', 'checkout', patch);
const pod = (patch: object) => (world: World) => void world.server.change('Pod', 'shop', 'checkout-x2x4z', patch);
const ownedBy = (apiVersion: string, kind: string) =>
  pod({ metadata: { ownerReferences: [{ apiVersion, kind, name: 'own', uid: 'o', controller: true }] } });
const autoscaler = (target: object) => (world: World) =>
  void world.server.seed('HorizontalPodAutoscaler', 'shop', {
    metadata: { name: 'auto' },
    spec: { scaleTargetRef: target },
  });
/** A budget, and so many healthy pods besides the one in question. */
const budget =
  ({ others, minAvailable }: { others: number; minAvailable: number }, spec: object = {}, name = 'keep') =>
  ({ server }: World) => {
    const labels = { app: 'checkout' };
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    for (let n = 0; n < others; n++)
      server.seed('Pod', 'shop', { metadata: { name: `healthy-${name}-${n}`, labels }, status });
    server.seed('PodDisruptionBudget', 'shop', {
      metadata: { name },
      spec: { minAvailable, selector: { matchLabels: labels }, ...spec },
    });
  };
const exhausted = { others: 2, minAvailable: 3 };
const running = pod({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });
const both =
  (...steps: ((world: World) => void)[]) =>
  (world: World) =>
    steps.forEach((step) => step(world));
const ofA = podWorld('Deployment');

const cases: [string, () => World, ((world: World) => unknown) | undefined, object, string | undefined][] = [
  ['an image of a paused Deployment', imageWorld, checkout('Deployment', { spec: { paused: true } }), {}, 'Paused'],
  ['an image of a container that is not there', imageWorld, undefined, { container: 'sidecar' }, 'UnknownContainer'],
  ['an image that is there already', imageWorld, undefined, { image: 'shop/checkout:1.42' }, 'AlreadyThere'],
  ['a number of replicas that is there already', scaleWorld, undefined, { replicas: 10 }, 'AlreadyThere'],
  [
    'replicas that an autoscaler sets',
    scaleWorld,
    autoscaler({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'checkout' }),
    {},
    'Autoscaled',
  ],
  [
    'replicas beside an autoscaler of another Deployment',
    scaleWorld,
    autoscaler({ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }),
    {},
    undefined,
  ],
  [
    'replicas beside an autoscaler of a StatefulSet of that name',
    scaleWorld,
    autoscaler({ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'checkout' }),
    {},
    undefined,
  ],
  ['replicas of a paused Deployment', scaleWorld, checkout('Deployment', { spec: { paused: true } }), {}, undefined],
  [
    'a restart of a paused Deployment',
    restartWorld('Deployment'),
    checkout('Deployment', { spec: { paused: true } }),
    {},
    'Paused',
  ],
  [
    'a restart with OnDelete',
    restartWorld('StatefulSet'),
    checkout('StatefulSet', { spec: { updateStrategy: { type: 'OnDelete' } } }),
    {},
    'OnDelete',
  ],
  [
    'a restart of a DaemonSet with OnDelete',
    restartWorld('DaemonSet'),
    checkout('DaemonSet', { spec: { updateStrategy: { type: 'OnDelete' } } }),
    {},
    'OnDelete',
  ],
  [
    'a restart in stages',
    restartWorld('StatefulSet'),
    checkout('StatefulSet', { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } } }),
    {},
    'Partitioned',
  ],
  [
    'an undo with OnDelete',
    undoWorldOf('DaemonSet'),
    checkout('DaemonSet', { spec: { updateStrategy: { type: 'OnDelete' } } }),
    {},
    'OnDelete',
  ],
  ['an undo to a revision that is not kept', undoWorldOf('StatefulSet'), undefined, { toRevision: 7 }, 'RevisionGone'],
  ['an undo to what runs', undoWorldOf('DaemonSet'), undefined, { toRevision: 2 }, 'AlreadyThere'],
  [
    'an undo to one of two revisions of that number',
    undoWorldOf('StatefulSet'),
    ({ server }) => server.change('ControllerRevision', 'shop', 'checkout-1', { revision: 1 }),
    {},
    'RevisionGone',
  ],
  [
    "an undo to another workload's revision",
    undoWorldOf('StatefulSet'),
    ({ server }) => server.change('ControllerRevision', 'shop', 'checkout-0', { metadata: { ownerReferences: [] } }),
    {},
    'RevisionGone',
  ],
  ['a pod without an owner', ofA, pod({ metadata: { ownerReferences: [] } }), {}, 'NoOwner'],
  ["a Job's pod", ofA, ownedBy('batch/v1', 'Job'), {}, 'JobPod'],
  ['a static pod', ofA, ownedBy('v1', 'Node'), {}, 'StaticPod'],
  ['a mirror pod', ofA, pod({ metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }), {}, 'StaticPod'],
  ['a pod of an operator', ofA, ownedBy('postgresql.cnpg.io/v1', 'Cluster'), {}, 'UnknownOwner'],
  ["a pod of somebody else's StatefulSet", ofA, ownedBy('apps.kruise.io/v1', 'StatefulSet'), {}, 'UnknownOwner'],
  ['a pod whose owner is gone', ofA, ({ server }) => server.remove('ReplicaSet', 'shop', 'checkout'), {}, 'OwnerGone'],
  [
    'a pod whose owner is going',
    ofA,
    ({ server }) => server.change('ReplicaSet', 'shop', 'checkout', { metadata: { deletionTimestamp: 'x' } }),
    {},
    'OwnerGone',
  ],
  [
    'a pod of a protected Deployment',
    ofA,
    checkout('Deployment', { metadata: { labels: { 'tapfix.dev/protected': 'true' } } }),
    {},
    'Protected',
  ],
  ['a pod that a budget keeps', ofA, budget(exhausted), {}, 'BudgetExhausted'],
  ['a pod that a budget of everything keeps', ofA, budget(exhausted, { selector: {} }), {}, 'BudgetExhausted'],
  ['a pod beside a budget of nothing', ofA, budget(exhausted, { selector: null }), {}, undefined],
  [
    'a pod beside a budget of others',
    ofA,
    budget(exhausted, { selector: { matchLabels: { app: 'web' } } }),
    {},
    undefined,
  ],
  ['a pod that a budget lets go', ofA, both(running, budget({ ...exhausted, minAvailable: 2 })), {}, undefined],
  ['a pod that is not ready, and enough others are', ofA, budget({ ...exhausted, others: 3 }), {}, undefined],
  ['a ready pod, and just enough are', ofA, both(running, budget(exhausted)), {}, 'BudgetExhausted'],
  [
    'a pod that is not ready, and its budget minds only ready ones',
    ofA,
    budget(exhausted, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }),
    {},
    undefined,
  ],
  [
    'a pod that has not begun to run',
    ofA,
    both(pod({ status: { phase: 'Pending' } }), budget(exhausted)),
    {},
    undefined,
  ],
  [
    'a pod under two budgets',
    ofA,
    both(budget({ others: 2, minAvailable: 1 }), budget({ others: 0, minAvailable: 1 }, {}, 'too')),
    {},
    'SeveralBudgets',
  ],
  ['a StatefulSet that waits for a pod which a budget keeps', stuckSetWorld, budget(exhausted), {}, 'BudgetExhausted'],
  [
    'a StatefulSet that waits for a protected pod',
    stuckSetWorld,
    ({ server }) =>
      server.change('Pod', 'shop', 'checkout-2', { metadata: { labels: { 'tapfix.dev/protected': 'true' } } }),
    {},
    'Protected',
  ],
];
for (const [name, make, meddle, over, want] of cases)
  test(`${name}: ${want ?? 'no refusal'}`, async () => {
    const world = make();
    meddle?.(world);
    const prepared = await prepare(world, over);
    assert.equal(prepared.ok ? undefined : prepared.reason, want);
    if (!prepared.ok) assert.match(prepared.say, /checkout.*\.$/);
  });

test('a budget that is still being worked out is no verdict: ask again', async () => {
  const world = ofA();
  budget(exhausted)(world);
  world.server.hooks.before = ({ kind }) => {
    if (kind === 'PodDisruptionBudget') world.server.change(kind, 'shop', 'keep', { spec: { minAvailable: 1 } });
  };
  await assert.rejects(prepare(world), RetryLater);
});

const expression = (operator: string, values?: string[]) => ({
  selector: { matchExpressions: [{ key: 'app', operator, ...(values && { values }) }] },
});
const selectors: [string, object, boolean][] = [
  ['In', expression('In', ['web', 'checkout']), true],
  ['In, others', expression('In', ['web']), false],
  ['NotIn', expression('NotIn', ['checkout']), false],
  ['NotIn, others', expression('NotIn', ['web']), true],
  ['Exists', expression('Exists'), true],
  ['DoesNotExist', expression('DoesNotExist'), false],
  ['an operator to come', expression('Like', ['c*']), true],
];
for (const [name, spec, isKept] of selectors)
  test(`a budget that selects by ${name} ${isKept ? 'counts' : 'does not count'}`, async () => {
    const world = ofA();
    budget(exhausted, spec)(world);
    assert.equal((await prepare(world)).ok, !isKept);
  });

test('a StatefulSet that replaces its pods in parallel waits for nobody; nor is one evicted that is ready or going', async () => {
  const blocked = async (world: World) => {
    const plan = await prepare(world);
    assert.ok(plan.ok);
    return plan.blocked.map(({ name }) => name);
  };
  const world = stuckSetWorld();
  const { uid } = world.server.get('StatefulSet', 'shop', 'checkout')!.metadata;
  aPodOf(world.server, 'StatefulSet', uid, 'checkout-0', {
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  aPodOf(world.server, 'StatefulSet', 'other', 'other-0');
  aPodOf(world.server, 'StatefulSet', uid, 'checkout-1', { status: { phase: 'Failed' } });
  assert.deepEqual(await blocked(world), ['checkout-2']);
  checkout('StatefulSet', { spec: { podManagementPolicy: 'Parallel' } })(world);
  assert.deepEqual(await blocked(world), []);
  checkout('StatefulSet', { spec: { podManagementPolicy: 'OrderedReady' } })(world);
  world.server.change('Pod', 'shop', 'checkout-2', { metadata: { deletionTimestamp: 'x' } });
  assert.deepEqual(await blocked(world), []);
});

test('what others wrote at length is not kept at length', async () => {
  const long = 'x'.repeat(300_000);
  const restarted = restartWorld('Deployment')();
  checkout('Deployment', { spec: { template: { metadata: { annotations: { [restartedAt]: long } } } } })(restarted);
  const imaged = imageWorld();
  checkout('Deployment', { spec: { template: { spec: { containers: [{ name: 'app', image: long }] } } } })(imaged);
  for (const world of [restarted, imaged]) {
    const plan = await prepare(world);
    assert.ok(plan.ok && plan.before.length < 1024 && plan.diff.length < 2048 && plan.undo.length < 1024);
  }
});

const names = { name: 'checkout', uid: 'u' };
const digest = 'a'.repeat(64);
const limits: [string, object, boolean][] = [
  ...[
    'nginx',
    'nginx:1.27',
    'registry.example.com:5000/team/app_x/y:V1.2-rc_1',
    `ghcr.io/a/b@sha256:${digest}`,
    `localhost/app:1.0@sha256:${digest}`,
  ].map((image): [string, object, boolean] => ['PatchDeploymentImage', { ...names, container: 'app', image }, true]),
  ...[
    '',
    ' nginx',
    'nginx latest',
    'nginx:',
    'Nginx/App',
    'a//b',
    'a/b:c:d',
    'nginx;rm',
    'nginx\n',
    `x@sha256:${'a'.repeat(31)}`,
    `a:${'t'.repeat(129)}`,
    `a/${'b'.repeat(520)}`,
  ].map((image): [string, object, boolean] => ['PatchDeploymentImage', { ...names, container: 'app', image }, false]),
  ...['', 'App', '-a', 'a'.repeat(64), 'a.b'].map((container): [string, object, boolean] => [
    'PatchDeploymentImage',
    { ...names, container, image: 'a:1' },
    false,
  ]),
  ...[0, 1, 50].map((replicas): [string, object, boolean] => ['ScaleDeployment', { ...names, replicas }, true]),
  ...[-1, 51, 1.5, '3'].map((replicas): [string, object, boolean] => [
    'ScaleDeployment',
    { ...names, replicas },
    false,
  ]),
  ...['Deployment', 'StatefulSet', 'DaemonSet'].map((kind): [string, object, boolean] => [
    'RolloutRestart',
    { ...names, kind },
    true,
  ]),
  ...['Job', 'ReplicaSet', 'Pod'].map((kind): [string, object, boolean] => [
    'RolloutRestart',
    { ...names, kind },
    false,
  ]),
  ...[0, -1, 1.5].map((toRevision): [string, object, boolean] => [
    'RolloutUndo',
    { ...names, kind: 'StatefulSet', toRevision },
    false,
  ]),
];
for (const [type, params, isTaken] of limits)
  test(`${type} ${isTaken ? 'takes' : 'does not take'} ${JSON.stringify(params)}`, () =>
    assert.equal(actionOf(type)!.params.safeParse(params).success, isTaken));
