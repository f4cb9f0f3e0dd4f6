import { accounts, type Install, type Manifest, nameFor } from './manifest.ts';
import { type Holder, rightsTable, type RightsRow, type RightsScope, writerRoles } from './rights-table.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;

/**
 * Every role of the table, and who holds it. The roles of the writer, of approvers, and for logs and ConfigMaps are not
 * bound here.
 */
export function accessControl({ namespace, actions }: Install): Manifest[] {
  const table = rightsTable(actions);
  const clusterRoles: Holder[] = [
    ...([
      'tapfix-reader',
      'tapfix-watcher',
      'tapfix-controller',
      'tapfix-approver',
      'tapfix-logs',
      'tapfix-configmaps',
    ] as const),
    ...writerRoles,
  ];
  return [
    ...clusterRoles.map((who) => clusterRole(who, rulesOf(table, who, 'cluster'))),
    clusterRoleBinding('tapfix-reader', namespace, [accounts.watcher, accounts.controller]),
    clusterRoleBinding('tapfix-watcher', namespace, [accounts.watcher]),
    clusterRoleBinding('tapfix-controller', namespace, [accounts.controller]),
    ...roleAndBinding('tapfix-watcher', namespace, rulesOf(table, 'tapfix-watcher', 'own'), accounts.watcher),
    ...roleAndBinding('tapfix-controller', namespace, rulesOf(table, 'tapfix-controller', 'own'), accounts.controller),
  ];
}

interface PolicyRule {
  apiGroups: string[];
  resources: readonly string[];
  resourceNames?: readonly string[];
  verbs: readonly string[];
}

const rulesOf = (table: readonly RightsRow[], who: Holder, scope: RightsScope): PolicyRule[] =>
  table
    .filter((row) => row.who === who && row.scope === scope)
    .map(({ group, resources, names, verbs }) => ({
      apiGroups: [group],
      resources,
      verbs,
      ...(names && { resourceNames: names }),
    }));

const clusterRole = (name: string, rules: PolicyRule[]): Manifest => ({
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name },
  rules,
});

const clusterRoleBinding = (role: string, namespace: string, names: readonly string[]): Manifest => ({
  apiVersion,
  kind: 'ClusterRoleBinding',
  metadata: { name: nameFor(role, namespace) },
  roleRef: { apiGroup, kind: 'ClusterRole', name: role },
  subjects: names.map((name) => ({ kind: 'ServiceAccount', name, namespace })),
});

const roleAndBinding = (name: string, namespace: string, rules: PolicyRule[], account: string): Manifest[] => [
  { apiVersion, kind: 'Role', metadata: { name, namespace }, rules },
  {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
  },
];
