import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { actions } from '../../../src/actions/table.ts';
import { accessControl } from '../../../src/manifests/rbac.ts';
import { rightsTable } from '../../../src/manifests/rights-table.ts';

const table = rightsTable(actions);

test('nothing binds the approver or the writer, and every row of the table is in a role', () => {
  const objects = accessControl({ namespace: 'tapfix', image: 'x', actions });
  const bound = objects.filter(({ kind }) => kind.endsWith('Binding')).map(({ metadata }) => metadata.name);
  assert.deepEqual(bound, [
    'tapfix-reader',
    'tapfix-watcher',
    'tapfix-controller',
    'tapfix-watcher',
    'tapfix-controller',
  ]);
  const rulesOf = (name: string, kind: string): unknown[] =>
    objects
      .filter((object) => object.kind === kind && object.metadata.name === name)
      .flatMap(({ rules }) => rules ?? []);
  const wanted = table.map(({ who, scope, group, resources, verbs, names }) => ({
    who,
    kind: scope === 'own' ? 'Role' : 'ClusterRole',
    rule: { apiGroups: [group], resources, verbs, ...(names && { resourceNames: names }) },
  }));
  for (const { who, kind, rule } of wanted)
    assert.ok(
      rulesOf(who, kind).some((one) => isDeepStrictEqual(one, rule)),
      `${kind} ${who}: ${JSON.stringify(rule)}`,
    );
  const all = objects.flatMap(({ rules }) => (rules as object[] | undefined) ?? []);
  assert.equal(all.length, wanted.length, 'and no other');
});
