import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ActionPlan, markAnnotation } from '../../../src/actions/action.ts';
import { deleteResourceQuota } from '../../../src/actions/delete-resource-quota.ts';
import { rolloutUndo, templateDiff } from '../../../src/actions/rollout-undo.ts';
import type { LiveWorkload } from '../../../src/actions/workload-patch.ts';
import { template, undoWorld, type World } from '../controller/world.ts';

const prepare = (world: World, over: object = {}) => {
  const { uid } = world.server.get('Deployment', 'shop', 'checkout')!.metadata;
  const params = { kind: 'Deployment' as const, name: 'checkout', uid, toRevision: 1, ...over };
  return rolloutUndo.prepare(params, { namespace: 'shop', fixUid: 'f', reader: world.server.client() });
};

const refusals = [
  { name: 'a paused Deployment', patch: { spec: { paused: true } }, want: 'Paused' },
  { name: 'a revision that is no longer kept', params: { toRevision: 7 }, want: 'RevisionGone' },
  { name: 'a revision that runs already', params: { toRevision: 2 }, want: 'AlreadyThere' },
];
for (const { name, patch, params, want } of refusals) {
  test(`${name} is refused as ${want}`, async () => {
    const world = undoWorld();
    if (patch) world.server.change('Deployment', 'shop', 'checkout', patch);
    const prepared = await prepare(world, params);
    assert.equal(!prepared.ok && prepared.reason, want);
  });
}

test('a revision that differs only in when it was restarted would run the very same: refused', async () => {
  const world = undoWorld();
  const restarted = (time: string) => template('shop/checkout:1.42', { 'kubectl.kubernetes.io/restartedAt': time });
  world.server.change('Deployment', 'shop', 'checkout', { spec: { template: restarted('2026-11-16T03:00:00Z') } });
  world.server.change('ReplicaSet', 'shop', 'checkout-0', { spec: { template: restarted('2026-10-01T03:00:00Z') } });
  const prepared = await prepare(world);
  assert.equal(!prepared.ok && prepared.reason, 'AlreadyThere');
});

test("a ReplicaSet of another Deployment is not this one's history", async () => {
  const world = undoWorld();
  world.server.change('ReplicaSet', 'shop', 'checkout-0', { metadata: { ownerReferences: [] } });
  const prepared = await prepare(world);
  assert.equal(!prepared.ok && prepared.reason, 'RevisionGone');
});

test('it can be put back with kubectl', async () => {
  const prepared = await prepare(undoWorld());
  assert.equal(prepared.ok && prepared.undo, 'kubectl -n shop rollout undo deploy/checkout --to-revision=2');
});

test('a revision that will not be kept is not promised back', async () => {
  const world = undoWorld();
  world.server.change('Deployment', 'shop', 'checkout', { spec: { revisionHistoryLimit: 0 } });
  const prepared = await prepare(world);
  assert.match((prepared.ok && prepared.undo) || '', /^# what it runs now will not be kept /);
});

test('a Deployment without annotations gets them with the mark', async () => {
  const world = undoWorld();
  world.server.change('Deployment', 'shop', 'checkout', { metadata: { annotations: null } });
  const prepared = await prepare(world);
  assert.ok(prepared.ok && prepared.write.do === 'patch');
  assert.deepEqual(prepared.write.body.at(-1), {
    op: 'add',
    path: '/metadata/annotations',
    value: { [markAnnotation]: 'f' },
  });
});

const app = (over: object) => ({ spec: { containers: [{ name: 'app', image: 'a:2', ...over }] } });
const diffs = [
  { name: 'an image', from: app({}), to: app({ image: 'a:1' }), want: 'app image  a:2 → a:1' },
  {
    name: 'images come first, then by path',
    from: app({ args: ['--x=1'], resources: { limits: { memory: '64Mi' } } }),
    to: app({ args: ['--x=2'], image: 'a:1', resources: { limits: { memory: '256Mi' } } }),
    want: 'app image  a:2 → a:1\napp args.0  changed (value not shown)\napp resources.limits.memory  64Mi → 256Mi',
  },
  {
    name: 'a literal of the environment is never shown',
    from: app({ env: [{ name: 'DSN', value: 'postgres://u:hunter2@h' }] }),
    to: app({
      env: [
        { name: 'DSN', value: 'x' },
        { name: 'NEW', value: 'y' },
      ],
    }),
    want: 'app env.DSN  changed (value not shown)\napp env.NEW  added (value not shown)',
  },
  {
    name: 'nor an argument, whatever it looks like',
    from: app({ args: ['--password', 'hunter2', '-pSECRET'], command: ['sh', '-c', 'mysql -psecret'] }),
    to: app({ args: ['--password', 'hunter3', '-pSECRET'], command: ['sh', '-c', 'mysql -pother'] }),
    want: 'app args.1  changed (value not shown)\napp command.2  changed (value not shown)',
  },
  {
    name: 'nor a command of a probe or a hook',
    from: app({
      livenessProbe: { exec: { command: ['curl', '-u', 'a:b'] }, periodSeconds: 5 },
      lifecycle: { preStop: { exec: { command: ['x'] } } },
    }),
    to: app({
      livenessProbe: { exec: { command: ['curl', '-u', 'a:c'] }, periodSeconds: 10 },
      lifecycle: { preStop: { exec: { command: ['y'] } } },
    }),
    want:
      'app lifecycle.preStop.exec.command.0  changed (value not shown)\n' +
      'app livenessProbe.exec.command.2  changed (value not shown)\napp livenessProbe.periodSeconds  5 → 10',
  },
  {
    name: 'nor the query of a probe',
    from: app({ readinessProbe: { httpGet: { path: '/ready?k=a', port: 80 } } }),
    to: app({ readinessProbe: { httpGet: { path: '/ready?k=b', port: 81 } } }),
    want: 'app readinessProbe.httpGet.path  changed (value not shown)\napp readinessProbe.httpGet.port  80 → 81',
  },
  {
    name: 'nor an annotation',
    from: { metadata: { annotations: { 'vault/token': 'a' } } },
    to: { metadata: { annotations: { 'vault/token': 'b' } } },
    want: 'pod annotation vault/token  changed (value not shown)',
  },
  {
    name: 'nor the header of a probe',
    from: app({ readinessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: 'Bearer a' }] } } }),
    to: app({ readinessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: 'Bearer b' }] } } }),
    want: 'app readinessProbe.httpGet.httpHeaders.Authorization  changed (value not shown)',
  },
  {
    name: 'a reference is shown',
    from: app({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'new' } } }] }),
    to: app({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'old' } } }] }),
    want: 'app env.A.valueFrom.secretKeyRef.key  new → old',
  },
  {
    name: 'control bytes and newlines do not get through',
    from: app({ workingDir: 'a' }),
    to: app({ workingDir: 'b\u0007\r\nc' }),
    want: 'app workingDir  a → b c',
  },
  {
    name: 'a container that was added',
    from: app({}),
    to: {
      spec: {
        containers: [
          { name: 'app', image: 'a:2' },
          { name: 'log', image: 'l:1' },
        ],
      },
    },
    want: 'log image  (none) → l:1\nlog  (none) → container',
  },
  {
    name: 'moving containers about is no change',
    from: { spec: { containers: [{ name: 'a' }, { name: 'b' }] } },
    to: { spec: { containers: [{ name: 'b' }, { name: 'a' }] } },
    want: '',
  },
];
for (const { name, from, to, want } of diffs) {
  test(`the diff: ${name}`, () => assert.equal(templateDiff(from, to), want));
}

test('the diff fits a phone', () => {
  const many = app({ args: Array.from({ length: 30 }, (_, i) => `--n=${i}`) });
  const lines = templateDiff(template('a:2'), many).split('\n');
  assert.equal(lines.length, 21);
  assert.match(lines.at(-1)!, /^and \d+ more changes$/);
});

describe('an undo checks for itself', () => {
  const context = ({ server }: World) => ({ namespace: 'shop', fixUid: 'f', reader: server.client() });
  function undo(world: World, uid = world.server.get('Deployment', 'shop', 'checkout')!.metadata.uid) {
    const params = { kind: 'Deployment' as const, name: 'checkout', uid, toRevision: 1 };
    return {
      prepare: () => rolloutUndo.prepare(params, context(world)),
      inspect: (before: string) => rolloutUndo.inspect(params, before, context(world)),
    };
  }
  function deletion(world: World) {
    const { uid } = world.server.get('ResourceQuota', 'shop', 'tight')!.metadata;
    return deleteResourceQuota.prepare({ name: 'tight', uid }, context(world));
  }
  async function planned(prepared: ReturnType<typeof deletion>): Promise<ActionPlan> {
    const plan = await prepared;
    assert.ok(plan.ok);
    return plan;
  }
  const change = ({ server }: World, patch: object) => server.change('Deployment', 'shop', 'checkout', patch);

  const refusals: [string, (world: World) => unknown, string][] = [
    [
      'a Deployment on its way out',
      (world) => change(world, { metadata: { deletionTimestamp: '2026-11-16T03:12:00Z' } }),
      'TargetGone',
    ],
    [
      'a template too large to keep',
      (world) => change(world, { spec: { template: template('x'.repeat(262_144)) } }),
      'TooLarge',
    ],
    [
      'two ReplicaSets of that revision',
      ({ server }) => {
        const { annotations, ownerReferences } = server.get('ReplicaSet', 'shop', 'checkout-0')!.metadata;
        server.seed('ReplicaSet', 'shop', {
          metadata: { name: 'planted', annotations, ownerReferences },
          spec: { template: template('evil:1') },
        });
      },
      'RevisionGone',
    ],
  ];
  for (const [name, prepare, want] of refusals)
    test(`an undo is refused for ${name}`, async () => {
      const world = undoWorld();
      prepare(world);
      const prepared = await undo(world).prepare();
      assert.equal(!prepared.ok && prepared.reason, want);
    });

  test('an undo is bound to what it puts there, not only to what it replaces', async () => {
    const world = undoWorld();
    const { targetHash } = await planned(undo(world).prepare());
    world.server.change('ReplicaSet', 'shop', 'checkout-0', { spec: { template: template('evil/miner:1') } });
    assert.notEqual((await planned(undo(world).prepare())).targetHash, targetHash);
  });

  test('the snapshot of an undo carries no literal of env', async () => {
    const { before } = await planned(undo(undoWorld()).prepare());
    assert.match(before, /"name":"LEVEL"/);
    assert.doesNotMatch(before, /"info"/);
  });

  const traces: [string, (world: World) => unknown, string][] = [
    [
      'the mark of an earlier fix',
      (world) => change(world, { metadata: { annotations: { [markAnnotation]: 'another' } } }),
      'untouched',
    ],
    ['our own mark', (world) => change(world, { metadata: { annotations: { [markAnnotation]: 'f' } } }), 'ours'],
    [
      'an earlier mark and another template',
      (world) =>
        change(world, {
          metadata: { annotations: { [markAnnotation]: 'another' } },
          spec: { template: template('x:9') },
        }),
      'other',
    ],
    [
      'a value that no snapshot shows, changed',
      (world) => {
        const { spec } = world.server.get('Deployment', 'shop', 'checkout') as unknown as LiveWorkload;
        const containers = spec.template.spec!.containers!.map((one) => ({
          ...one,
          env: [{ name: 'LEVEL', value: 'x' }],
        }));
        change(world, { spec: { template: { spec: { containers } } } });
      },
      'other',
    ],
    ['a Deployment that is gone', ({ server }) => server.remove('Deployment', 'shop', 'checkout'), 'other'],
  ];
  for (const [name, meddle, want] of traces)
    test(`after a crash, ${name}: ${want}`, async () => {
      const world = undoWorld();
      const { inspect, prepare } = undo(world);
      const { before } = await planned(prepare());
      meddle(world);
      assert.equal(await inspect(before), want);
    });
});
