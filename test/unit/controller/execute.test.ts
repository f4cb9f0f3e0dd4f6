import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Action, Prepared, Trace } from '../../../src/actions/action.ts';
import { createExecutor } from '../../../src/controller/execute.ts';
import { createHistory } from '../../../src/health/history.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { aConfig } from '../../support/config.ts';
import { aFix as aWholeFix, executed } from '../../support/fixes.ts';
import { quotaWorld, silent } from './world.ts';

/* The executor: what it does, in which order, and under which lock. */

const prepared: Prepared = { ok: true, targetHash: 'abc', before: '{}', diff: '', undo: '', blocked: [], write: { do: 'delete', ref: { kind: 'ResourceQuota', namespace: 'shop', name: 'q' }, preconditions: {} } }; // prettier-ignore
function anExecutor(fresh: (fix: Remediation) => Remediation | undefined = (fix) => fix, trace: Trace = 'untouched') {
  const did: string[] = [];
  const note = (what: string) => void did.push(what);
  const world = quotaWorld();
  const fix = aWholeFix({ phase: 'Applying', status: { execution: executed } });
  const api = {
    ...world.server.client(),
    get: async () => (note('read again'), fresh(structuredClone(fix))),
    list: async () => (note('who else'), []),
  } as never;
  const around =
    (what: string) =>
    async <T>(work: () => Promise<T>): Promise<T> => {
      note(what);
      const result = await work();
      note(`end of ${what}`);
      return result;
    };
  const hand = { delete: async () => note('write'), patch: async () => note('write') } as never;
  const action = {
    role: 'tapfix-writer-quotas',
    noun: 'x',
    target: () => ({ kind: 'ResourceQuota', name: 'q', uid: 'q' }),
    prepare: async () => prepared,
    inspect: async () => trace,
    snapshot: async () => 'after',
  } as unknown as Action<unknown>;
  const deps = {
    api,
    clock: world.clock,
    log: silent,
    current: aConfig,
    namespace: 'tapfix',
    history: createHistory(),
    patienceMs: () => 0,
  };
  const never = async () => assert.fail('not asked for');
  const executor = createExecutor({
    ...deps,
    readHealth: never,
    derive: never,
    lock: around('lock'),
    withRights: (_fix, _role, work) => around('rights')(() => work(hand)),
  });
  return {
    did,
    act: () => executor.act(fix, { action, params: {} }),
    finish: () => executor.finish(fix, { action, params: {} }, true),
  };
}

test('an execution reads the record again, under the lock, and holds rights only while it writes', async () => {
  const { did, act } = anExecutor();
  const word = await act();
  assert.deepEqual(did, ['lock', 'read again', 'who else', 'rights', 'write', 'end of rights', 'end of lock']);
  assert.deepEqual([word?.phase, word?.execution?.after], ['Applied', 'after']);
});

test('what is in place and needs no nudge is finished without any right', async () => {
  const { did, finish } = anExecutor();
  assert.equal((await finish())?.phase, 'Applied');
  assert.deepEqual(did, ['lock', 'read again', 'end of lock']);
});

const others: [string, (fix: Remediation) => Remediation | undefined][] = [
  ['was deleted', () => undefined],
  ['is another of the same name', (fix) => ({ ...fix, metadata: { ...fix.metadata, uid: 'another' } })],
  ['was moved on by another process', (fix) => ({ ...fix, status: { ...fix.status, phase: 'Failed' } })],
];
for (const [name, fresh] of others)
  test(`nothing is written for a record that ${name} meanwhile`, async () => {
    const { did, act } = anExecutor(fresh);
    assert.equal(await act(), undefined);
    assert.deepEqual(did, ['lock', 'read again', 'end of lock']);
  });
