import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ActionPlan, markAnnotation } from '../../../src/actions/action.ts';
import { perform } from '../../../src/actions/perform.ts';
import { actionOf, parseAction } from '../../../src/actions/table.ts';
import { restartedAt } from '../../../src/kube/template-secrets.ts';
import { jsonPatch, mergePatch } from '../../../src/sim/api/patching.ts';
import {
  foreign,
  foreignInTemplate,
  imageWorld,
  initImageWorld,
  podWorld,
  restartWorld,
  scaleWorld,
  stuckSetWorld,
  undoWorldOf,
} from '../controller/action-worlds.ts';
import { good, type World } from '../controller/world.ts';

/* What a person reads before approving, how to put it back, and what is there afterwards. */

const atMs = Date.parse('2026-11-16T03:12:00Z');
const context = ({ server, fix }: World) => ({
  namespace: 'shop',
  fixUid: fix().metadata.uid,
  reader: server.client(),
  atMs,
});

async function planned(world: World): Promise<ActionPlan> {
  const { action, params } = parseAction(world.fix().spec.action!);
  const plan = await action.prepare(params, context(world));
  assert.ok(plan.ok);
  return plan;
}

const change = (kind: 'Deployment' | 'Pod', patch: object) => (world: World) =>
  void world.server.change(kind, 'shop', kind === 'Pod' ? 'checkout-x2x4z' : 'checkout', patch);
const says = (line: string, ...more: string[]) => [line, ...more].join('\n');
const annotation = (from: string) => `pod annotation ${restartedAt}  ${from} → the time of the restart`;

const cases: [string, () => World, ((world: World) => void) | undefined, string, string][] = [
  [
    'an image',
    imageWorld,
    undefined,
    'app image  shop/checkout:1.42 → shop/checkout:1.41',
    'kubectl -n shop set image deploy/checkout app=shop/checkout:1.42',
  ],
  [
    'the image of an init container',
    initImageWorld,
    undefined,
    'migrate image  shop/migrate:typo → shop/migrate:3',
    'kubectl -n shop set image deploy/checkout migrate=shop/migrate:typo',
  ],
  [
    'an image that is a trick',
    imageWorld,
    change('Deployment', { spec: { template: { spec: { containers: [{ name: 'app', image: "x'; rm -rf ~ #" }] } } } }),
    "app image  x'; rm -rf ~ # → shop/checkout:1.41",
    String.raw`kubectl -n shop set image deploy/checkout app='x'\''; rm -rf ~ #'`,
  ],
  ['a scaling', scaleWorld, undefined, 'replicas  10 → 3', 'kubectl -n shop scale deploy/checkout --replicas=10'],
  [
    'a restart',
    restartWorld('Deployment'),
    undefined,
    says('replace all 3 pods of Deployment checkout, step by step', annotation('2026-11-01T09:00:00+01:00')),
    '# nothing to undo: the new pods run what the old ones ran',
  ],
  [
    'a restart that stops all',
    restartWorld('Deployment'),
    change('Deployment', { spec: { strategy: { type: 'Recreate' } } }),
    says(
      'replace all 3 pods of Deployment checkout, all at once: none runs until the new ones do',
      annotation('2026-11-01T09:00:00+01:00'),
    ),
    '# nothing to undo: the new pods run what the old ones ran',
  ],
  [
    'the first restart of one pod',
    restartWorld('Deployment'),
    change('Deployment', { spec: { replicas: 1, template: { metadata: { annotations: null } } } }),
    says('replace the one pod of Deployment checkout', annotation('(none)')),
    '# nothing to undo: the new pods run what the old ones ran',
  ],
  [
    'a pod',
    podWorld('Deployment'),
    undefined,
    'evict pod checkout-x2x4z on node worker-1; ReplicaSet checkout makes a new one',
    '# nothing to undo: ReplicaSet checkout makes a new pod',
  ],
  [
    'a pod with something to lose',
    podWorld('StatefulSet'),
    change('Pod', {
      spec: {
        nodeName: null,
        volumes: [
          { name: 'cache', emptyDir: {} },
          { name: 'data', persistentVolumeClaim: {} },
        ],
      },
    }),
    says(
      'evict pod checkout-x2x4z; StatefulSet checkout makes a new one',
      'what it keeps in its emptyDir volumes is lost: cache',
    ),
    '# nothing to undo: StatefulSet checkout makes a new pod',
  ],
  [
    'an undo of a StatefulSet',
    undoWorldOf('StatefulSet'),
    undefined,
    'app image  shop/checkout:1.42 → shop/checkout:1.41',
    'kubectl -n shop rollout undo sts/checkout --to-revision=2',
  ],
  [
    'an undo of a DaemonSet',
    undoWorldOf('DaemonSet'),
    undefined,
    'app image  shop/checkout:1.42 → shop/checkout:1.41',
    'kubectl -n shop rollout undo ds/checkout --to-revision=2',
  ],
  [
    'an undo of one whose newest revision has no number yet',
    undoWorldOf('DaemonSet'),
    ({ server }) => void server.remove('ControllerRevision', 'shop', 'checkout-1'),
    'app image  shop/checkout:1.42 → shop/checkout:1.41',
    'kubectl -n shop rollout undo ds/checkout',
  ],
  [
    'an undo of a StatefulSet that waits',
    stuckSetWorld,
    undefined,
    says(
      'app image  shop/checkout:1.42 → shop/checkout:1.41',
      'then evict what StatefulSet checkout would wait for, pods that are not ready: checkout-2',
    ),
    'kubectl -n shop rollout undo sts/checkout --to-revision=2',
  ],
];
for (const [name, make, meddle, diff, undo] of cases)
  test(`the diff of ${name}, and how to put it back`, async () => {
    const world = make();
    meddle?.(world);
    const plan = await planned(world);
    assert.deepEqual([plan.diff, plan.undo], [diff, undo]);
  });

const sentences: [string, object, string, string][] = [
  ['PatchDeploymentImage', { name: 'api', uid: 'u', container: 'app', image: 'a:1' }, 'set the image of container app in api to a:1', 'change the image of app in api'],
  ['ScaleDeployment', { name: 'api', uid: 'u', replicas: 3 }, 'scale api to 3 replicas', 'scale api to 3'],
  ['ScaleDeployment', { name: 'api', uid: 'u', replicas: 1 }, 'scale api to 1 replica', 'scale api to 1'],
  ['ScaleDeployment', { name: 'api', uid: 'u', replicas: 0 }, 'scale api to zero: none of it runs any more', 'scale api to 0'],
  ['RolloutRestart', { kind: 'StatefulSet', name: 'db', uid: 'u' }, 'restart StatefulSet db: new pods of the same version', 'restart db'],
  ['DeletePod', { name: 'api-x', uid: 'u' }, 'evict pod api-x; its owner makes a new one', 'delete pod api-x'],
]; // prettier-ignore
for (const [type, params, summary, consequence] of sentences)
  test(`how ${type} is talked about: ${summary}`, () => {
    const action = actionOf(type)!;
    assert.deepEqual([action.summary(params), action.consequence(params)], [summary, consequence]);
  });

test('two actions, one after the other on one Deployment: both changes stand, the last mark too, all else is as it was', async () => {
  const world = imageWorld();
  const { server } = world;
  await perform(server.client(), (await planned(world)).write, false);
  const { uid } = server.get('Deployment', 'shop', 'checkout')!.metadata;
  const second = { kind: 'Deployment', name: 'checkout', uid };
  const plan = await actionOf('RolloutRestart')!.prepare(second, { ...context(world), fixUid: 'second' });
  assert.ok(plan.ok);
  await perform(server.client(), plan.write, false);
  const { metadata, spec } = server.get('Deployment', 'shop', 'checkout') as unknown as {
    metadata: object;
    spec: { replicas: number; template: { metadata: object; spec: { containers: { image: string }[] } } };
  };
  assert.equal(spec.template.spec.containers[0]?.image, good);
  assert.deepEqual((metadata as typeof foreign).annotations, { ...foreign.annotations, [markAnnotation]: 'second' });
  assert.deepEqual((metadata as typeof foreign).labels, foreign.labels);
  assert.deepEqual(spec.template.metadata, {
    labels: { app: 'checkout' },
    annotations: { ...foreignInTemplate, [restartedAt]: '2026-11-16T03:12:00.000Z' },
  });
  const trace = (fixUid: string) =>
    actionOf('RolloutRestart')!.inspect(second, plan.before, { ...context(world), fixUid });
  assert.equal(await trace('second'), 'ours');
  assert.equal(await trace('third'), 'other');
});

test('a pod that another workload has adopted is not the one that was shown', async () => {
  const world = podWorld('Deployment')();
  const shown = await planned(world);
  const { uid } = world.server.seed('ReplicaSet', 'shop', { metadata: { name: 'other' } }).metadata;
  const adopted = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'other', uid, controller: true }];
  change('Pod', { metadata: { ownerReferences: adopted } })(world);
  assert.notEqual((await planned(world)).targetHash, shown.targetHash);
});

test('a template without metadata can be restarted', async () => {
  const world = restartWorld('DaemonSet')();
  // This API version of a DaemonSet needs labels there, so the server is not asked to hold one without.
  const bare = mergePatch(world.server.get('DaemonSet', 'shop', 'checkout')!, {
    spec: { template: { metadata: null } },
  });
  const { action, params } = parseAction(world.fix().spec.action!);
  const reader = { ...world.server.client(), get: async () => bare as never };
  const plan = await action.prepare(params, { ...context(world), reader });
  assert.ok(plan.ok && plan.write.do === 'patch');
  const { spec } = jsonPatch(bare, plan.write.body) as { spec: { template: { metadata: object } } };
  assert.deepEqual(spec.template.metadata, { annotations: { [restartedAt]: '2026-11-16T03:12:00.000Z' } });
});
