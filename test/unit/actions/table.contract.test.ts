import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ActionContext, type ActionPlan, markAnnotation } from '../../../src/actions/action.ts';
import { deleteResourceQuota } from '../../../src/actions/delete-resource-quota.ts';
import { perform } from '../../../src/actions/perform.ts';
import { rolloutUndo } from '../../../src/actions/rollout-undo.ts';
import { actions, createTargetReader, parseAction } from '../../../src/actions/table.ts';
import { actionNames } from '../../../src/config/schema.ts';
import type { ApiError, KubeObject } from '../../../src/kube/api.ts';
import { quotaWorld, undoWorld, type World } from '../controller/world.ts';
import { subjects } from './subjects.ts';

/* What every action promises, whatever it does. */

test('the table has the actions that the configuration knows, and each of them is a subject here', () => {
  const named = new Set<string>(actionNames);
  assert.deepEqual(new Set(actions.map(({ type }) => type)), named);
  assert.deepEqual(new Set(Object.values(subjects).map(({ type }) => type)), named);
});

const atMs = Date.parse('2026-11-16T03:12:00Z');

async function prepared(world: World) {
  const { action, params } = parseAction(world.fix().spec.action!);
  const api = world.server.client();
  const context: ActionContext = { namespace: 'shop', fixUid: world.fix().metadata.uid, reader: api, atMs };
  const plan = await action.prepare(params, context);
  assert.ok(plan.ok);
  const inspect = () => action.inspect(params, plan.before, context);
  const again = async (): Promise<ActionPlan> => {
    const next = await action.prepare(params, context);
    assert.ok(next.ok);
    return next;
  };
  return { action, params, api, plan, again, inspect, context };
}

/** Without what every write moves, our mark, and these paths. */
function withoutOwn(object: object | undefined, paths: readonly string[]): object {
  const rest = structuredClone(object ?? {});
  const mark = `metadata.annotations.${markAnnotation}`;
  for (const path of ['metadata.resourceVersion', 'metadata.generation', 'metadata.managedFields', mark, ...paths]) {
    // The last key may have dots of its own: it is what is left after the known ones.
    const known = /^(metadata\.annotations|spec\.template\.metadata\.annotations)\.(.+)$/.exec(path);
    const keys = known ? [...known[1]!.split('.'), known[2]!] : path.split('.');
    const parent = keys
      .slice(0, -1)
      .reduce<Record<string, unknown> | undefined>((node, key) => node?.[key] as never, rest as never);
    delete parent?.[keys.at(-1)!];
  }
  return rest;
}

for (const [name, { type, make, target, otherwise, owns, gitOps }] of Object.entries(subjects)) {
  describe(name, () => {
    const change = (world: World, patch: object) => world.server.change(target[0], 'shop', target[1], patch);
    const live = (world: World) => world.server.get(target[0], 'shop', target[1]) as KubeObject | undefined;

    test('it is the action that it says', async () => {
      const { action, params } = await prepared(make());
      assert.equal(action.type, type);
      assert.deepEqual([action.target(params).kind, action.target(params).name], target);
    });

    test('parameters are all needed, nothing else is taken, and names are names', () => {
      const { action, params } = parseAction(make().fix().spec.action!);
      const known = params as Record<string, unknown>;
      const isTaken = (given: object): boolean => action.params.safeParse(given).success;
      assert.ok(isTaken(known));
      assert.ok(!isTaken({ ...known, force: true }));
      for (const key of Object.keys(known)) {
        const { [key]: _, ...rest } = known;
        assert.ok(!isTaken(rest), `without ${key}`);
      }
      for (const wrong of ['', 'a/b', 'a b', 'a\u0007', 'x'.repeat(254)])
        assert.ok(!isTaken({ ...known, name: wrong }), wrong);
      assert.ok(!isTaken({ ...known, uid: '' }) && !isTaken({ ...known, uid: 'x'.repeat(65) }));
    });

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

    test('who only looks, at a press, comes to the same hash', async () => {
      const world = make();
      const { plan } = await prepared(world);
      const seen = await createTargetReader(world.server.client())(world.fix());
      assert.equal(seen.ok && seen.targetHash, plan.targetHash);
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

    test('it changes what it owns, sets its mark, and leaves all else as it is, byte for byte', async () => {
      const world = make();
      const { api, plan } = await prepared(world);
      const before = structuredClone(live(world));
      await perform(api, plan.write, false);
      assert.equal(world.changes().length, 1);
      if (owns.length === 0) return assert.equal(live(world), undefined);
      assert.equal(live(world)?.metadata.annotations?.[markAnnotation], world.fix().metadata.uid);
      assert.notDeepEqual(withoutOwn(live(world), []), withoutOwn(before, []));
      assert.equal(JSON.stringify(withoutOwn(live(world), owns)), JSON.stringify(withoutOwn(before, owns)));
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

    test('a target that is gone, going, or another of the same name, is refused', async () => {
      const world = make();
      const { action, params, context } = await prepared(world);
      const { metadata, ...rest } = live(world)!;
      const reason = async () => ((await action.prepare(params, context)) as { reason?: string }).reason;
      change(world, { metadata: { deletionTimestamp: '2026-11-16T03:12:00Z' } });
      assert.equal(await reason(), 'TargetGone');
      world.server.remove(target[0], 'shop', target[1]);
      assert.equal(await reason(), 'TargetGone');
      const { uid: _, ...same } = metadata;
      world.server.seed(target[0], 'shop', { metadata: same, ...rest });
      assert.equal(await reason(), 'TargetGone');
    });

    const argo = { labels: { 'argocd.argoproj.io/instance': 'shop' } };
    const owners = [argo, { annotations: { 'argocd.argoproj.io/tracking-id': 'shop:apps/x:shop/y' } }, { labels: { 'kustomize.toolkit.fluxcd.io/name': 'shop' } }]; // prettier-ignore
    const verdicts = [
      { want: 'Protected', metadata: { labels: { 'tapfix.dev/protected': 'true' } } },
      ...owners.map((metadata) => ({ want: gitOps ? 'GitOpsOwned' : undefined, metadata })),
      { want: undefined, metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' } } },
    ];
    for (const { want, metadata } of verdicts) {
      test(`${want ?? 'no refusal'} for ${JSON.stringify(metadata)}`, async () => {
        const world = make();
        const { action, params, context } = await prepared(world);
        change(world, { metadata });
        const answer = await action.prepare(params, context);
        assert.equal(answer.ok ? undefined : answer.reason, want);
      });
    }

    test('what it keeps, shows and says fits the resource and a phone', async () => {
      const { plan, action, params } = await prepared(make());
      assert.ok(plan.undo.length <= 4096 && plan.diff.length <= 8192 && plan.targetHash.length <= 64);
      const words = [action.noun, action.summary(params), action.consequence(params)];
      for (const text of [plan.undo, plan.diff, ...words]) {
        assert.ok(text.length > 2);
        // oxlint-disable-next-line no-control-regex
        assert.doesNotMatch(text, /[\x00-\x08\x0b-\x1f\x7f]|undefined|!/);
      }
      assert.ok(action.consequence(params).length <= 64);
    });

    test('no literal of env is kept or shown', async () => {
      const { plan } = await prepared(make());
      assert.doesNotMatch(plan.before + plan.diff + plan.undo, /"info"|hunter2/);
    });
  });
}

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

test('both writes stand under the uid and the resourceVersion that were read', async () => {
  const quotas = quotaWorld();
  const quota = quotas.server.get('ResourceQuota', 'shop', 'tight')!.metadata;
  const { write } = await planned(deletion(quotas));
  assert.deepEqual(write.do === 'delete' && write.preconditions, {
    uid: quota.uid,
    resourceVersion: quota.resourceVersion,
  });
  const world = undoWorld();
  const { uid, resourceVersion } = world.server.get('Deployment', 'shop', 'checkout')!.metadata;
  const patch = (await planned(undo(world).prepare())).write;
  assert.deepEqual(patch.do === 'patch' && patch.body.slice(0, 2), [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
  ]);
});
