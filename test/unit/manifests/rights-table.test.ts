import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { historyNames } from '../../../src/kube/history-maps.ts';
import { declaredRights, rightsTable, writerRoles } from '../../../src/manifests/rights-table.ts';

const table = rightsTable(actions);
const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const line = ({ group, resource, verb }: { group: string; resource: string; verb: string }) =>
  `${verb} ${group}/${resource}`;

test('nobody reads Secrets, and there are no wildcards', () => {
  for (const row of table) {
    assert.ok(!row.resources.includes('secrets'), row.who);
    assert.ok(![row.group, ...row.resources, ...row.verbs].includes('*'), row.who);
  }
});

test('what talks to the internet can change no workload, and what changes them holds no such right itself', () => {
  const outside = (identity: 'watcher' | 'controller') =>
    declaredRights(identity, actions)
      .filter(({ verb, group }) => writing.has(verb) && group !== 'tapfix.dev')
      .map(line);
  const lease = ['patch coordination.k8s.io/leases', 'update coordination.k8s.io/leases'];
  assert.deepEqual(outside('watcher'), [
    'create authorization.k8s.io/subjectaccessreviews',
    ...['mutes', ...historyNames('watcher')].map(() => 'patch /configmaps'),
    ...lease,
  ]);
  assert.deepEqual(outside('controller'), [
    'create rbac.authorization.k8s.io/rolebindings',
    'delete rbac.authorization.k8s.io/rolebindings',
    'create /events',
    'create /serviceaccounts/token',
    ...historyNames('controller').map(() => 'patch /configmaps'),
    ...lease,
  ]);
});

test('the watcher alone may attest, the controller alone control; neither does the other', () => {
  const verbs = (identity: 'watcher' | 'controller' | 'writer') =>
    declaredRights(identity, actions)
      .filter(({ resource, verb }) => resource === 'remediations' && !['get', 'list', 'watch'].includes(verb))
      .map(({ verb }) => verb);
  assert.deepEqual(verbs('watcher'), ['create', 'patch', 'propose', 'attest', 'approve', 'observe']);
  assert.deepEqual(verbs('controller'), ['control', 'delete']);
  assert.deepEqual(verbs('writer'), []);
});

test("the writer's rights are the actions' rights, and only minted", () => {
  const declared = declaredRights('writer', actions);
  const wanted = new Set(actions.flatMap(({ rights }) => rights.map(line)));
  assert.deepEqual(new Set(declared.map(line)), wanted);
  assert.ok(declared.every(({ scope }) => scope === 'minted'));
});

test('the controller may bind exactly the roles of the writer and mint tokens for it alone', () => {
  const minting = ['clusterroles', 'serviceaccounts/token'];
  const named = declaredRights('controller', actions).filter(({ resource }) => minting.includes(resource));
  assert.deepEqual(
    named.map((right) => `${line(right)} ${right.name} ${right.scope}`),
    [
      ...writerRoles.map((role) => `bind rbac.authorization.k8s.io/clusterroles ${role} cluster`),
      'create /serviceaccounts/token tapfix-writer own',
    ],
  );
});

for (const identity of ['watcher', 'controller'] as const)
  test(`the ${identity} holds its own Lease, and no other`, () => {
    const leases = declaredRights(identity, actions).filter(({ resource }) => resource === 'leases');
    assert.deepEqual(
      leases.map(({ verb, scope, name }) => `${verb} ${name} ${scope}`),
      ['get', 'patch', 'update'].map((verb) => `${verb} tapfix-${identity} own`),
    );
  });

test('the ConfigMaps that a role may write are its own history and, of the watcher, the mutes', () => {
  const maps = (identity: 'watcher' | 'controller'): string[] =>
    declaredRights(identity, actions)
      .filter(({ resource }) => resource === 'configmaps')
      .map(({ verb, scope, name }) => `${verb} ${name} ${scope}`);
  const both = (names: string[]): string[] =>
    ['get', 'patch'].flatMap((verb) => names.map((name) => `${verb} ${name} own`));
  const history = (role: string): string[] => [0, 1, 2, 3].map((n) => `tapfix-${role}-history-${n}`);
  assert.deepEqual(maps('watcher'), both(['tapfix-mutes', ...history('watcher')]));
  assert.deepEqual(maps('controller'), both(history('controller')));
});

function readByNobody(resource: string, role: string): void {
  const rows = table.filter(({ resources, scope }) => resources.includes(resource) && scope === 'cluster');
  assert.deepEqual(rows, [{ who: role, scope: 'cluster', group: '', resources: [resource], verbs: ['get'] }]);
  assert.equal(table.filter(({ who }) => who === role).length, 1);
  for (const identity of ['watcher', 'controller', 'writer'] as const)
    assert.ok(
      !declaredRights(identity, actions).some((right) => right.resource === resource && right.scope !== 'own'),
      identity,
    );
}

test('logs are read by nobody until the role for it, which can do nothing else, is bound', () =>
  readByNobody('pods/log', 'tapfix-logs'));

test('ConfigMaps are read by nobody until the role for it, which can do nothing else, is bound', () =>
  readByNobody('configmaps', 'tapfix-configmaps'));
