import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markAnnotation } from '../../../src/actions/action.ts';
import { rolloutUndo, templateDiff } from '../../../src/actions/rollout-undo.ts';
import { mergeTemplate, withoutEnvValues } from '../../../src/actions/template.ts';
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

const labelled = (labels: Record<string, string>, annotations?: Record<string, string>) => ({
  metadata: { labels, ...(annotations && { annotations }) },
  spec: { containers: [] },
});
const merges = [
  {
    name: 'the older value wins where both have a key',
    older: labelled({ app: 'a', tier: 'old' }),
    current: labelled({ app: 'a', tier: 'new' }),
    want: labelled({ app: 'a', tier: 'old' }),
  },
  {
    name: 'a key that only the current one has stays',
    older: labelled({ app: 'a' }),
    current: labelled({ app: 'a', team: 'x' }, { 'kubectl.kubernetes.io/restartedAt': 't' }),
    want: labelled({ app: 'a', team: 'x' }, { 'kubectl.kubernetes.io/restartedAt': 't' }),
  },
  {
    name: 'pod-template-hash never comes along',
    older: labelled({ app: 'a', 'pod-template-hash': '1' }),
    current: labelled({ app: 'a', 'pod-template-hash': '2' }),
    want: labelled({ app: 'a' }),
  },
];
for (const { name, older, current, want } of merges) {
  test(name, () => assert.deepEqual(mergeTemplate(older, current), want));
}

const app = (over: object) => ({ spec: { containers: [{ name: 'app', image: 'a:2', ...over }] } });
const diffs = [
  { name: 'an image', from: app({}), to: app({ image: 'a:1' }), want: 'app image  a:2 → a:1' },
  {
    name: 'images come first, then by path',
    from: app({ args: ['--x=1'], resources: { limits: { memory: '64Mi' } } }),
    to: app({ args: ['--x=2'], image: 'a:1', resources: { limits: { memory: '256Mi' } } }),
    want: 'app image  a:2 → a:1\napp args.0  --x=1 → --x=2\napp resources.limits.memory  64Mi → 256Mi',
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
    name: 'nor an argument that looks like a password',
    from: app({ args: ['--password=hunter2'] }),
    to: app({ args: ['--password=hunter3'] }),
    want: 'app args.0  changed (value not shown)',
  },
  {
    name: 'nor the one that follows it',
    from: app({ args: ['--password', 'hunter2', '--level', 'info'] }),
    to: app({ args: ['--password', 'hunter3', '--level', 'debug'] }),
    want: 'app args.1  changed (value not shown)\napp args.3  info → debug',
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
    from: app({ args: ['a'] }),
    to: app({ args: ['b\u0007\r\nc'] }),
    want: 'app args.0  a → b c',
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

test('the snapshot keeps no literal of env, and still tells a changed one', async () => {
  const secret = (value: string) => ({ spec: { containers: [{ name: 'app', env: [{ name: 'PASSWORD', value }] }] } });
  const hidden = withoutEnvValues(secret('hunter2'));
  assert.doesNotMatch(JSON.stringify(hidden), /hunter2/);
  assert.deepEqual(hidden, secret('(hidden)'));
  const reference = {
    spec: { containers: [{ name: 'app', env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }] },
  };
  assert.deepEqual(withoutEnvValues(reference), reference);
});
