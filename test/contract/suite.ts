import { after, before, describe, test } from 'node:test';
import { access } from './cases/access.ts';
import { custom } from './cases/custom.ts';
import { deletions } from './cases/deletions.ts';
import { disruptions } from './cases/disruptions.ts';
import { forgetting } from './cases/forgetting.ts';
import { lists } from './cases/lists.ts';
import { loop } from './cases/loop.ts';
import { manners } from './cases/manners.ts';
import { namespaces } from './cases/namespaces.ts';
import { objects } from './cases/objects.ts';
import { owners } from './cases/owners.ts';
import { patches } from './cases/patches.ts';
import { pods } from './cases/pods.ts';
import { quotas } from './cases/quotas.ts';
import { subresources } from './cases/subresources.ts';
import { tapfix } from './cases/tapfix.ts';
import { time } from './cases/time.ts';
import { watches } from './cases/watches.ts';
import { workloads } from './cases/workloads.ts';
import { writers } from './cases/writers.ts';
import type { Facts, Ground, Server } from './ground.ts';

const groups: Record<string, Facts> = {
  watches, owners, namespaces, writers, loop, objects, patches, deletions, lists, workloads, pods, subresources, quotas,
  disruptions, access, custom, manners, tapfix,
}; // prettier-ignore
/** Alone, because they touch what all others stand on: the server's clock, and what it remembers. */
const last: Record<string, Facts> = { time, forgetting };

/** Most of a case is waiting. */
const atOnce = 6;

/**
 * What tapfix takes for granted about an API server, one fact per case. It runs unchanged against the real one and
 * against the simulated one, and never asks which of the two it has before it.
 */
export function contractSuite(name: string, connect: () => Promise<Server>): void {
  describe(`the contract, kept by ${name}`, () => {
    let server: Server;
    let held = 0;
    before(async () => {
      server = await connect();
    });
    after(async () => {
      console.log(`${held} of ${countOf({ ...groups, ...last })} facts hold of ${name}`);
      await server?.close();
    });
    const hold = (facts: Record<string, Facts>): void => {
      for (const [group, cases] of Object.entries(facts))
        describe(group, { concurrency: atOnce }, () => holdAll(cases));
    };
    function holdAll(facts: Facts): void {
      let ground: Ground;
      before(async () => {
        ground = { ...server, ns: await server.freshNamespace() };
      });
      for (const [fact, holds] of Object.entries(facts)) {
        test(fact, async () => {
          await holds(ground);
          held += 1;
        });
      }
    }
    describe('at any time', { concurrency: 3 }, () => hold(groups));
    describe('afterwards', () => hold(last));
  });
}

const countOf = (all: Record<string, Facts>): number =>
  Object.values(all).reduce((sum, facts) => sum + Object.keys(facts).length, 0);
