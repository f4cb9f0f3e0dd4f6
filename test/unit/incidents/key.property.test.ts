import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { incidentKey } from '../../../src/incidents/key.ts';
import { createOwnerResolver, type OwnerResolver } from '../../../src/kube/owners.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { type Made, makeAll, plan, readerOf, type Thing } from '../../support/shapes.ts';

/* One workload, one key; two workloads, two keys: whatever they are called, and whatever of them is still there. */

const numRuns = 5_000;
const isCustom = ({ root }: Made): boolean => ['Rollout', 'Operator'].includes(root.kind);
const wanted = ({ root }: Made): string => incidentKey(root.namespace, root);

const refOf = ({ kind, metadata }: Thing, hasUid: boolean) => ({
  kind,
  name: metadata.name,
  uid: hasUid ? metadata.uid : '',
});

async function keyOf(owners: OwnerResolver, thing: Thing, hasUid = true): Promise<string | undefined> {
  const namespace = thing.metadata.namespace!;
  const root = await owners.rootOf(namespace, refOf(thing, hasUid));
  return root && incidentKey(namespace, root);
}

/** Of each made thing but the root: whether it is deleted. What is custom keeps what leads to it: nobody could know. */
const parts = ({ things }: Made): Thing[] => things.slice(1);
function surviving(made: readonly Made[], fate: readonly boolean[]): Thing[] {
  let n = 0;
  return made.flatMap((one) => {
    const [top, ...others] = one.things;
    const kept = others.filter((thing) => fate[n++ % fate.length] || (isCustom(one) && thing.kind !== 'Pod'));
    return [top!, ...kept];
  });
}

test('no two workloads share a key, and none has two, whatever of them was deleted', async () => {
  const seen = { keys: 0, nobody: 0, gone: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(plan, { minLength: 2, maxLength: 6 }),
      fc.array(fc.boolean(), { minLength: 5, maxLength: 12 }),
      fc.boolean(),
      async (plans, fate, isWarm) => {
        const made = makeAll(plans);
        let live = made.flatMap(({ things }) => things);
        const clock = fakeClock();
        const owners = createOwnerResolver(
          readerOf(() => live),
          clock,
          { max: 200 },
        );
        const each = made.flatMap((one) => parts(one).map((thing) => ({ one, thing })));
        for (const { one, thing } of isWarm ? each : []) assert.equal(await keyOf(owners, thing), wanted(one));
        live = surviving(made, fate);
        for (const { one, thing } of each) {
          const isThere = live.includes(thing);
          for (const hasUid of [true, false]) {
            const key = await keyOf(owners, thing, hasUid);
            seen.keys += key ? 1 : 0;
            seen.nobody += key ? 0 : 1;
            seen.gone += key && !isThere ? 1 : 0;
            const isCertain = (isWarm && hasUid) || one.things.every((it) => live.includes(it));
            if (key !== undefined || isCertain) assert.equal(key, wanted(one), `${thing.kind} ${thing.metadata.name}`);
          }
        }
      },
    ),
    { numRuns },
  );
  // The question was put often enough in each way, and "nobody" is not the usual answer.
  assert.ok(seen.gone > 10_000 && seen.nobody > 100 && seen.keys > 10 * seen.nobody, JSON.stringify(seen));
});

test('alone in its namespace a workload has its key by every view of it, as long as it is there', async () => {
  await fc.assert(
    fc.asyncProperty(plan, fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }), async (one, fate) => {
      const made = makeAll([one]);
      const live = surviving(made, fate);
      for (const hasUid of [true, false]) {
        const owners = createOwnerResolver(
          readerOf(() => live),
          fakeClock(),
          { max: 50 },
        );
        for (const thing of parts(made[0]!)) assert.equal(await keyOf(owners, thing, hasUid), wanted(made[0]!));
      }
    }),
    { numRuns: 2_000 },
  );
});
