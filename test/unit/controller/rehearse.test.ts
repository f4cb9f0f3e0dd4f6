import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAction } from '../../../src/actions/table.ts';
import { createRehearsal } from '../../../src/controller/rehearse.ts';
import type { WithRights } from '../../../src/controller/rights.ts';
import { createHistory } from '../../../src/health/history.ts';
import { silent, undoWorld } from './world.ts';

test('a rehearsal holds its rights under the same lock', async () => {
  const { server, clock, fix, config } = undoWorld();
  const did: string[] = [];
  const deps = {
    api: server.client(),
    clock,
    log: silent,
    current: () => config,
    namespace: 'tapfix',
    history: createHistory(),
    patienceMs: () => 0,
  };
  const lock = <T>(work: () => Promise<T>): Promise<T> => (did.push('lock'), work());
  const withRights: WithRights = (_fix, _role, work) => (did.push('rights'), work(server.client()));
  const never = async () => assert.fail('not asked for');
  const rehearse = createRehearsal({ ...deps, readHealth: never, derive: async () => undefined, lock, withRights });
  const said = rehearse(fix(), parseAction(fix().spec.action!), undefined);
  await clock.advance(1_000); // so that one that is refused, and waits, comes to an end as well
  const word = await said;
  assert.deepEqual([did, word.conditions[0]?.status], [['lock', 'rights'], 'True']);
});
