import type { Right, WriterRole } from '../actions/action.ts';
import { historyNames } from '../kube/history-maps.ts';
import { mutesName } from '../kube/mutes.ts';
import { group } from '../kube/remediation.ts';
import { accounts, type ActionRow } from './manifest.ts';

/**
 * The only table of who may do what. RBAC (rbac.ts), the writer's admission policy (policies.ts) and the can-i test
 * come from it. Nobody in it has the right to read Secrets.
 */
export type Holder =
  | 'tapfix-reader'
  | 'tapfix-watcher'
  | 'tapfix-controller'
  | 'tapfix-approver'
  | 'tapfix-logs'
  | 'tapfix-configmaps'
  | WriterRole;

/** `own`: only in the namespace tapfix is installed in. */
export type RightsScope = 'cluster' | 'own';

export interface RightsRow {
  readonly who: Holder;
  readonly scope: RightsScope;
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Only these objects; all objects if absent. */
  readonly names?: readonly string[];
}

export const writerRoles: readonly WriterRole[] = [
  'tapfix-writer-quotas',
  'tapfix-writer-workloads',
  'tapfix-writer-pods',
];

const read = ['get', 'list', 'watch'];
/** The Leases are installed, so that nobody needs the right to create one. */
const holdLease = ['get', 'patch', 'update'];
const coordination = 'coordination.k8s.io';
const rbac = 'rbac.authorization.k8s.io';

const cluster = (
  who: Holder,
  group: string,
  resources: string[],
  verbs: string[],
  names?: readonly string[],
): RightsRow => ({
  who,
  scope: 'cluster',
  group,
  resources,
  verbs,
  ...(names && { names }),
});
const own = (...row: Parameters<typeof cluster>): RightsRow => ({ ...cluster(...row), scope: 'own' });

const fixedRows: readonly RightsRow[] = [
  cluster('tapfix-reader', '', ['events', 'pods', 'resourcequotas', 'limitranges', 'persistentvolumeclaims'], read),
  cluster('tapfix-reader', '', ['nodes', 'namespaces'], read),
  cluster('tapfix-reader', 'apps', ['deployments', 'replicasets', 'statefulsets', 'daemonsets'], read),
  cluster('tapfix-reader', 'apps', ['controllerrevisions'], read),
  cluster('tapfix-reader', 'batch', ['jobs', 'cronjobs'], read),
  cluster('tapfix-reader', 'autoscaling', ['horizontalpodautoscalers'], read),
  cluster('tapfix-reader', 'storage.k8s.io', ['storageclasses'], read),
  cluster('tapfix-reader', 'policy', ['poddisruptionbudgets'], read),
  // Changes near pods that fail their health checks: only asked when that happens, never watched.
  cluster('tapfix-reader', '', ['services'], ['get', 'list']),
  cluster('tapfix-reader', 'networking.k8s.io', ['networkpolicies'], ['get', 'list']),
  cluster('tapfix-reader', group, ['remediations'], read),

  // The watcher proposes, and records what people decided in chat: `approve` to decide at all, `attest` to name them.
  cluster('tapfix-watcher', group, ['remediations'], ['create', 'patch']),
  cluster('tapfix-watcher', group, ['remediations'], ['propose', 'attest', 'approve', 'observe']),
  cluster('tapfix-watcher', group, ['remediations/status'], ['patch']),
  cluster('tapfix-watcher', 'authorization.k8s.io', ['subjectaccessreviews'], ['create']),
  own('tapfix-watcher', '', ['configmaps'], ['get', 'patch'], [mutesName, ...historyNames('watcher')]),
  own('tapfix-watcher', coordination, ['leases'], holdLease, [accounts.watcher]),
  own('tapfix-watcher', group, ['notices'], [...read, 'create', 'patch', 'delete']),
  own('tapfix-watcher', group, ['notices/status'], ['patch']),

  // The controller grants the writer's rights and holds none of them; it deletes Remediations that are over and no
  // longer needed (retention).
  cluster('tapfix-controller', group, ['remediations'], ['control', 'delete']),
  cluster('tapfix-controller', group, ['remediations/status'], ['patch']),
  cluster('tapfix-controller', rbac, ['rolebindings'], ['create', 'get', 'list', 'delete']),
  cluster('tapfix-controller', rbac, ['clusterroles'], ['bind'], writerRoles),
  cluster('tapfix-controller', '', ['events'], ['create']),
  own('tapfix-controller', '', ['serviceaccounts/token'], ['create'], [accounts.writer]),
  own('tapfix-controller', '', ['configmaps'], ['get', 'patch'], historyNames('controller')),
  own('tapfix-controller', coordination, ['leases'], holdLease, [accounts.controller]),

  // For people: bind it in the namespaces a person may decide for.
  cluster('tapfix-approver', group, ['remediations'], [...read, 'patch', 'approve']),

  // For `diagnosis.logs`: bind it to the watcher where the last lines of a container may be shown in chat.
  cluster('tapfix-logs', '', ['pods/log'], ['get']),

  // For "what changed last": bind it to the watcher where cards may say who edited a ConfigMap, and when.
  cluster('tapfix-configmaps', '', ['configmaps'], ['get']),
];

export const rightsTable = (actions: readonly ActionRow[]): readonly RightsRow[] => [
  ...fixedRows,
  ...writerRoles.flatMap((role) => writerRows(role, actions)),
];

function writerRows(role: WriterRole, actions: readonly ActionRow[]): RightsRow[] {
  const verbsOf = new Map<string, RightsRow & { verbs: string[] }>();
  for (const right of actions.filter((action) => action.role === role).flatMap(({ rights }) => rights)) {
    const key = `${right.group}/${right.resource}`;
    const row = verbsOf.get(key) ?? { ...cluster(role, right.group, [right.resource], []), verbs: [] };
    if (!row.verbs.includes(right.verb)) row.verbs.push(right.verb);
    verbsOf.set(key, row);
  }
  return [...verbsOf.values()];
}

/** A right as one line of a can-i test. */
interface DeclaredRight extends Right {
  scope: RightsScope | 'minted';
  name?: string;
}

type Identity = keyof typeof accounts;

const holdersOf = {
  watcher: ['tapfix-reader', 'tapfix-watcher'],
  controller: ['tapfix-reader', 'tapfix-controller'],
  writer: writerRoles,
} satisfies Record<Identity, readonly Holder[]>;

/** Every right of an identity, one verb per line. The writer's are `minted`: it has them only while a fix runs. */
export function declaredRights(identity: Identity, actions: readonly ActionRow[]): DeclaredRight[] {
  const holders: readonly Holder[] = holdersOf[identity];
  return rightsTable(actions)
    .filter(({ who }) => holders.includes(who))
    .flatMap((row) =>
      row.resources.flatMap((resource) =>
        row.verbs.flatMap((verb) =>
          (row.names ?? [undefined]).map((name) => ({
            group: row.group,
            resource,
            verb,
            scope: identity === 'writer' ? ('minted' as const) : row.scope,
            ...(name !== undefined && { name }),
          })),
        ),
      ),
    );
}
