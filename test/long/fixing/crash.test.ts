import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { conditionOf, phaseOf, type Remediation } from '../../../src/kube/remediation.ts';
import { aGround, type Ground, place } from './ground.ts';
import { mortal, recorded, type WriteSeen } from './mortal.ts';
import { type Shape, type SiteName, sites } from './shapes.ts';

/**
 * The controller dies before and after every write from the proposal to Recovered, its rehearsal among them, and another
 * takes over: the fix is done once, and no right is left. The writes are those of a clean run, so that a new one gets its cases by itself. Undo
 * and quota are killed for real, on a real cluster (e2e).
 */
const subjects: Partial<Record<SiteName, string>> = {
  image: 'writer patch Deployment',
  'image of an init container': 'writer patch Deployment',
  scaling: 'writer patch Deployment',
  'restart of a Deployment': 'writer patch Deployment',
  'restart of a StatefulSet': 'writer patch StatefulSet',
  "deletion of a Deployment's pod": 'writer create Pod/eviction',
};

const shapeOf = (site: SiteName): Shape => ({
  name: site,
  site: sites[site],
  class: 'ProbeFailing',
  before: (n) => ((site.startsWith('deletion') ? n === 0 : site !== 'scaling' || n === 2) ? 'unready' : 'run'),
  after: () => 'run',
});

/** Proposed, with nobody there yet to look at it. */
async function proposedGround(t: TestContext, site: SiteName): Promise<Ground & { writes: WriteSeen[] }> {
  const ground = await aGround(t, [shapeOf(site)]);
  await ground.create();
  return { ...ground, writes: [] };
}

const count = ({ writes }: { writes: WriteSeen[] }) => ({
  before() {},
  after: (write: WriteSeen) => void writes.push(write),
});
const fixOf = async ({ fixes }: Ground): Promise<Remediation> => (await fixes())[0]!;
const isRecovered = (ground: Ground) => async () => phaseOf(await fixOf(ground)) === 'Recovered';

/** Time passes until that; somebody approves as soon as it has been rehearsed. */
async function live(ground: Ground, what: string, isOver: () => Promise<boolean>): Promise<void> {
  await ground.until(what, async () => {
    const { spec } = await fixOf(ground);
    if (spec.approval.state === 'Pending' && (await ground.isRehearsed())) await ground.approve();
    return isOver();
  });
}

async function writesOf(t: TestContext, site: SiteName): Promise<string[]> {
  const ground = await proposedGround(t, site);
  ground.start(recorded(ground.api, count(ground)));
  await live(ground, 'recovery', isRecovered(ground));
  return ground.writes.map(({ what }) => what);
}

const rights = ['create RoleBinding', 'create ServiceAccount/token', 'delete RoleBinding'];
/** Of any life, in this order; the fix itself comes with the second rights. */
const ofEveryLife = ['Proposed', rights, 'preview', 'Approved', 'Applying', rights, 'Applied', 'Recovered'].flatMap(
  (one) => (typeof one === 'string' ? `patch Remediation/status ${one}` : one),
);

const occurrence = (list: readonly string[], index: number): number =>
  list.slice(0, index + 1).filter((other) => other === list[index]).length;

describe('killed at every write', { concurrency: 2 }, () => {
  for (const [site, theWrite] of Object.entries(subjects) as [SiteName, string][])
    test(`${site}: one execution, recovered, and no rights left`, async (t) => {
      const writes = await writesOf(t, site);
      assert.deepEqual(
        writes.filter((what) => ofEveryLife.includes(what)),
        ofEveryLife,
      );
      assert.equal(writes.filter((what) => what === theWrite).length, 1);
      for (const [index, what] of writes.entries())
        for (const when of ['before', 'after'] as const)
          await t.test(`${when} ${what} (${occurrence(writes, index)})`, async (t) => {
            const ground = await proposedGround(t, site);
            const death = mortal(what, occurrence(writes, index), when);
            const stop = ground.start(recorded(recorded(ground.api, count(ground)), death));
            await live(ground, 'death', async () => death.isDead());
            stop();
            ground.start(recorded(ground.api, count(ground)));
            await live(ground, 'recovery', isRecovered(ground));
            await ground.clock.advance(130_000); // two sweeps
            const done = ground.writes.filter((write) => write.byWriter && write.what === theWrite);
            assert.equal(done.length, 1, ground.writes.map((write) => write.what).join('\n'));
            assert.deepEqual(await ground.api.list<KubeObject>('RoleBinding', place(0)), []);
            assert.equal(conditionOf(await fixOf(ground), 'Failed'), undefined);
          });
    });
});
