import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ActionContext, Plan } from '../../../src/actions/action.ts';
import { markAnnotation } from '../../../src/actions/action.ts';
import { perform } from '../../../src/actions/perform.ts';
import { parseAction } from '../../../src/actions/table.ts';
import type { ApiError, KubeObject } from '../../../src/kube/api.ts';
import type { World } from '../controller/world.ts';
import { quotaWorld, undoWorld } from '../controller/world.ts';

/** What every action promises, whatever it does. */
const subjects = {
  RolloutUndo: {
    make: undoWorld,
    target: ['Deployment', 'checkout'] as const,
    otherwise: { spec: { template: { metadata: { labels: { app: 'other' } } } } },
  },
  DeleteResourceQuota: {
    make: quotaWorld,
    target: ['ResourceQuota', 'tight'] as const,
    otherwise: { spec: { hard: { pods: '2' } } },
  },
};

async function prepared(world: World) {
  const { action, params } = parseAction(world.fix().spec.action!);
  const api = world.server.client();
  const context: ActionContext = { namespace: 'shop', fixUid: world.fix().metadata.uid, reader: api };
  const plan = await action.prepare(params, context);
  assert.ok(plan.ok);
  const inspect = () => action.inspect(params, plan.before, context);
  const again = async (): Promise<Plan> => {
    const next = await action.prepare(params, context);
    assert.ok(next.ok);
    return next;
  };
  return { action, params, api, plan, again, inspect, context };
}

for (const [type, { make, target, otherwise }] of Object.entries(subjects)) {
  describe(type, () => {
    const change = (world: World, patch: object) => world.server.change(target[0], 'shop', target[1], patch);
    const live = (world: World) => world.server.get(target[0], 'shop', target[1]) as KubeObject | undefined;

    test('the hash ignores resourceVersion, generation, status and foreign annotations', async () => {
      const world = make();
      const { plan, again } = await prepared(world);
      change(world, { metadata: { generation: 9, annotations: { a: 'b' } }, status: { used: { pods: '9' } } });
      assert.equal((await again()).targetHash, plan.targetHash);
    });

    test('the hash knows a value that the action replaces', async () => {
      const world = make();
      const { plan, again } = await prepared(world);
      change(world, otherwise);
      assert.notEqual((await again()).targetHash, plan.targetHash);
    });

    test('a dry run changes nothing and sends what the real run sends', async () => {
      const world = make();
      const { api, plan } = await prepared(world);
      const before = structuredClone(live(world));
      await perform(api, plan.write, true);
      assert.deepEqual(live(world), before);
      await perform(api, plan.write, false);
      const [dry, real] = world.server.calls.slice(-2);
      assert.deepEqual({ ...dry, dryRun: false }, real);
      assert.notDeepEqual(live(world), before);
    });

    test('a write planned from an older reading is refused and changes nothing', async () => {
      const world = make();
      const { api, plan } = await prepared(world);
      const before = change(world, { status: { moved: true } });
      await assert.rejects(perform(api, plan.write, false), (error: ApiError) => [409, 422].includes(error.code));
      assert.deepEqual(live(world), before);
    });

    test('inspect tells untouched, ours and other apart', async () => {
      const untouched = make();
      const first = await prepared(untouched);
      change(untouched, { status: { moved: true } });
      assert.equal(await first.inspect(), 'untouched');
      await perform(first.api, (await first.again()).write, false);
      assert.equal(await first.inspect(), 'ours');
      const other = make();
      const second = await prepared(other);
      change(other, otherwise);
      assert.equal(await second.inspect(), 'other');
    });

    test('a target that is gone, or another of the same name, is refused', async () => {
      const world = make();
      const { action, params, context } = await prepared(world);
      const { metadata: _metadata, ...rest } = live(world)!;
      world.server.remove(target[0], 'shop', target[1]);
      const reason = async () => (await action.prepare(params, context) as { reason?: string }).reason; // prettier-ignore
      assert.equal(await reason(), 'TargetGone');
      world.server.seed(target[0], 'shop', { metadata: { name: target[1] }, ...rest });
      assert.equal(await reason(), 'TargetGone');
    });

    const refusals = [
      { reason: 'Protected', metadata: { labels: { 'tapfix.dev/protected': 'true' } } },
      { reason: 'GitOpsOwned', metadata: { labels: { 'argocd.argoproj.io/instance': 'shop' } } },
      { reason: 'GitOpsOwned', metadata: { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/x:shop/y' } } },
      { reason: 'GitOpsOwned', metadata: { labels: { 'kustomize.toolkit.fluxcd.io/name': 'shop' } } },
    ];
    for (const { reason, metadata } of refusals) {
      test(`${reason} for ${JSON.stringify(metadata)}`, async () => {
        const world = make();
        const { action, params, context } = await prepared(world);
        change(world, { metadata });
        const answer = await action.prepare(params, context);
        assert.equal(!answer.ok && answer.reason, reason);
      });
    }

    test('what it keeps and shows fits the resource', async () => {
      const { plan } = await prepared(make());
      assert.ok(plan.undo.length <= 4096 && plan.diff.length <= 8192 && plan.targetHash.length <= 64);
      // oxlint-disable-next-line no-control-regex
      assert.doesNotMatch(plan.undo + plan.diff, /[\x00-\x08\x0b-\x1f\x7f]/);
    });
  });
}

test('an undo leaves every foreign annotation as it is, byte for byte, and sets its own mark', async () => {
  const world = undoWorld();
  const before = world.server.get('Deployment', 'shop', 'checkout')!.metadata.annotations;
  const { api, plan } = await prepared(world);
  await perform(api, plan.write, false);
  const after = world.server.get('Deployment', 'shop', 'checkout')!;
  assert.deepEqual(after.metadata.annotations, { ...before, [markAnnotation]: world.fix().metadata.uid });
  const { template } = after['spec'] as { template: { metadata: { annotations: object } } };
  assert.deepEqual(template.metadata.annotations, { 'sidecar.example.com/injected': 'yes' });
});
