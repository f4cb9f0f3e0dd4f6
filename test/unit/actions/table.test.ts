import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actionOf, actions, parseAction, specOf } from '../../../src/actions/table.ts';

test('a spec comes back as it went in', () => {
  const spec = { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'q', uid: 'u' } };
  const { action, params } = parseAction(spec);
  assert.deepEqual(specOf(action, params), spec);
  assert.equal(actionOf('DeleteResourceQuota'), action);
});

const wrong = [
  { name: 'an unknown type', spec: { type: 'RunShell' }, says: /unknown action RunShell; known: / },
  { name: 'no params block', spec: { type: 'RolloutUndo' }, says: /RolloutUndo has bad parameters/ },
  { name: 'a missing uid', spec: { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'q' } }, says: /uid/ },
  {
    name: 'a kind that cannot be undone',
    spec: { type: 'RolloutUndo', rolloutUndo: { kind: 'Job', name: 'n', uid: 'u', toRevision: 1 } },
    says: /kind/,
  },
  {
    name: 'a parameter that nobody reads',
    spec: { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'q', uid: 'u', all: true } },
    says: /all/,
  },
];
for (const { name, spec, says } of wrong) {
  test(`${name} is refused, saying what is wrong`, () => assert.throws(() => parseAction(spec), says));
}

test('types and params blocks are unique', () => {
  assert.equal(new Set(actions.map(({ type }) => type)).size, actions.length);
  assert.equal(new Set(actions.map(({ block }) => block)).size, actions.length);
});
