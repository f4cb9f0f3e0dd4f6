import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { rolloutUndo } from '../../src/actions/rollout-undo.ts';
import type { PodTemplate } from '../../src/kube/views.ts';
import { plantedPair } from '../support/planted-templates.ts';
import { undoWorld } from '../unit/controller/world.ts';
import { checkPair } from '../unit/kube/planted.ts';

const seed = Number(process.env['SEED'] ?? 1);

test('100,000 secrets in every position of pod templates: none in a diff, snapshot, record, log line or message', () => {
  const planted = new Set<string>();
  fc.assert(
    fc.property(plantedPair, (pair) => {
      checkPair(pair);
      for (const secret of pair.secrets) planted.add(secret);
    }),
    { numRuns: 800, seed, endOnFailure: true },
  );
  console.log(`${planted.size} secrets in as many positions: none told`);
  assert.ok(planted.size >= 100_000, `only ${planted.size} secrets`);
});

test('the plan of an undo tells no secret of either revision', async () => {
  await fc.assert(
    fc.asyncProperty(plantedPair, async ({ before, after, secrets }) => {
      const { server } = undoWorld();
      // The labels stay, because the selectors need them.
      const planted = ({ metadata, spec }: PodTemplate) => ({
        metadata: { annotations: metadata!.annotations! },
        spec,
      });
      server.change('Deployment', 'shop', 'checkout', { spec: { template: planted(after) } });
      server.change('ReplicaSet', 'shop', 'checkout-0', { spec: { template: planted(before) } });
      const { uid } = server.get('Deployment', 'shop', 'checkout')!.metadata;
      const params = { kind: 'Deployment' as const, name: 'checkout', uid, toRevision: 1 };
      const plan = await rolloutUndo.prepare(params, { namespace: 'shop', fixUid: 'f', reader: server.client() });
      assert.ok(plan.ok, JSON.stringify(plan));
      const { write: _, ...told } = plan;
      assert.deepEqual(
        secrets.filter((secret) => JSON.stringify(told).includes(secret)),
        [],
      );
    }),
    { numRuns: 100, seed, endOnFailure: true },
  );
});
