import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Api, KubeObject } from '../../../src/kube/api.ts';
import { conditionOf, phaseOf } from '../../../src/kube/remediation.ts';
import { aGround, place } from './ground.ts';
import { recoveringShapes } from './recoveries.ts';
import type { Shape } from './shapes.ts';

const bunch = 15;
const bunches = Array.from({ length: Math.ceil(recoveringShapes.length / bunch) }, (_, n) =>
  recoveringShapes.slice(n * bunch, (n + 1) * bunch),
);

type Counted = KubeObject & { spec: { replicas?: number }; status?: Record<string, number | string> };
type Pod = KubeObject & { status?: { containerStatuses?: { restartCount: number }[] } };

/** What a person would look at: all pods there, new, available, and how often they were restarted; undefined: not whole. */
async function wholeness(api: Api, namespace: string, { site }: Shape): Promise<string | undefined> {
  const live = (await api.get<Counted>({ kind: site.kind, namespace, name: 'checkout' }))!;
  const { status = {}, spec } = live;
  const [wanted, updated, available] =
    site.kind === 'DaemonSet'
      ? [status['desiredNumberScheduled'], status['updatedNumberScheduled'], status['numberAvailable']]
      : [spec.replicas, status['updatedReplicas'], status['availableReplicas']];
  const isWhole =
    status['observedGeneration'] === live.metadata.generation && wanted === updated && wanted === available;
  const pods = (await api.list<Pod>('Pod', namespace)).filter(({ metadata }) => !metadata.deletionTimestamp);
  const restarts = pods.map(
    ({ metadata, status }) => `${metadata.uid} ${status?.containerStatuses?.[0]?.restartCount}`,
  );
  const isAlone = site.kind === 'DaemonSet' || (status['replicas'] ?? 0) === wanted;
  return isWhole && isAlone ? restarts.sort().join() : undefined;
}

describe('a fix that helps', () => {
  test('there are a hundred of them', () => assert.ok(recoveringShapes.length >= 100, String(recoveringShapes.length)));

  for (const [n, shapes] of bunches.entries())
    test(`is told within 5 s after it has held for its window, and not before (${n + 1} of ${bunches.length})`, async (t) => {
      const ground = await aGround(t, shapes);
      const { api, clock } = ground;
      ground.start();
      await ground.propose();
      await ground.approve();
      const since = new Map<number, { what: string; atMs: number }>();
      const isOver = async (): Promise<boolean> => {
        for (const [index, shape] of shapes.entries()) {
          const what = await wholeness(api, place(index), shape);
          if (what === undefined) since.delete(index);
          else if (since.get(index)?.what !== what) since.set(index, { what, atMs: clock.now() });
        }
        return (await ground.fixes()).every((fix) => ['Recovered', 'Failed', 'Resolved'].includes(phaseOf(fix)));
      };
      await ground.until('ends', isOver, 400_000);
      for (const fix of await ground.fixes()) {
        const index = shapes.findIndex((_, one) => place(one) === fix.metadata.namespace);
        const { name } = shapes[index]!;
        const { message, lastTransitionTime } = conditionOf(fix, phaseOf(fix))!;
        assert.equal(phaseOf(fix), 'Recovered', `${name}: ${message}`);
        const windowMs = fix.status!.execution!.stableSeconds! * 1000;
        const lateMs = Date.parse(lastTransitionTime) - since.get(index)!.atMs - windowMs;
        assert.ok(lateMs >= -1_000 && lateMs <= 5_000, `${name}: ${lateMs} ms after its window of ${windowMs}`);
      }
    });
});
