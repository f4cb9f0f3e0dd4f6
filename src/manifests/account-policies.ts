import type { Right } from '../actions/action.ts';
import { protectedLabel } from '../actions/ownership.ts';
import { overPhases } from '../kube/remediation.ts';
import { accounts, type Install, nameFor, protectedNamespaces, userOf } from './manifest.ts';
import { type Policy, remediations } from './policies.ts';
import { declaredRights, writerRoles } from './rights-table.ts';

const quoted = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');
const isUser = (namespace: string, account: string): Record<string, string> => ({
  'is-this-account': `request.userInfo.username == '${userOf(namespace, account)}'`,
});

/** Admission knows operations, not verbs; reading never comes here. */
const operationOf: Record<string, string> = {
  create: 'CREATE',
  update: 'UPDATE',
  patch: 'UPDATE',
  delete: 'DELETE',
  deletecollection: 'DELETE ALL',
};
const pairOf = ({ group, resource, verb }: Right): string[] =>
  operationOf[verb] ? [`${operationOf[verb]} ${group}/${resource}`] : [];

const isProtected = (object: string): string =>
  `${object}.?metadata.?labels[?'${protectedLabel}'].orValue('') == 'true'`;

const same = (part: string, field: string): string => `object.${part}.?${field} == oldObject.${part}.?${field}`;

/** Every field of the specs of which an action owns a part: CEL cannot compare "all but one". */
const specFields: Readonly<Record<string, readonly string[]>> = {
  'apps/deployments': ['replicas', 'selector', 'template', 'strategy', 'minReadySeconds', 'revisionHistoryLimit', 'paused', 'progressDeadlineSeconds'],
  'apps/statefulsets': ['replicas', 'selector', 'template', 'volumeClaimTemplates', 'serviceName', 'podManagementPolicy', 'updateStrategy', 'revisionHistoryLimit', 'minReadySeconds', 'persistentVolumeClaimRetentionPolicy', 'ordinals'],
  'apps/daemonsets': ['selector', 'template', 'updateStrategy', 'minReadySeconds', 'revisionHistoryLimit'],
}; // prettier-ignore

const nameOf = ({ group, resource }: Right): string => `${group}/${resource}`;

/** The parts of its spec that actions own, each action its own; empty when they only annotate it. */
function ownedParts(resource: string, rights: readonly Right[]): string[][] {
  const parts = rights.flatMap((right) => (nameOf(right) === resource && right.owns ? [[...right.owns]] : []));
  return [...new Map(parts.map((part) => [part.join(), part])).values()];
}

function keepsAllBut(part: readonly string[], resource: string): string {
  const fields = specFields[resource];
  if (!fields) throw new Error(`which fields does the spec of ${resource} have?`);
  const others = fields.filter((field) => !part.includes(field));
  return others.map((field) => same('spec', field)).join(' && ');
}

/** What must stay as it was when the writer patches one of these: all but what one action owns, never two at once. */
function keeps(resource: string, rights: readonly Right[]): string {
  const parts = ownedParts(resource, rights);
  const spec = parts.map((part) => `(${keepsAllBut(part, resource)})`).join(' ||\n') || 'object.spec == oldObject.spec';
  const metadata = ['labels', 'ownerReferences', 'finalizers'].map((field) => same('metadata', field));
  return [`(${spec})`, ...metadata].join(' && ');
}

function ownedInWords(resource: string, rights: readonly Right[]): string {
  const parts = ownedParts(resource, rights).map((part) => part.map((field) => `spec.${field}`).join(' and '));
  return ['annotations', ...(parts.length > 0 ? [parts.join(' or ')] : [])].join(' and ');
}

/** What else the rights insist on, each thing once. */
const insistences = (rights: readonly Right[]): { right: Right; hold: string; say: string }[] => [
  ...new Map(
    rights.flatMap((right) =>
      right.must ? [[`${pairOf(right)[0]} ${right.must.hold}`, { right, ...right.must }]] : [],
    ),
  ).values(),
];

/** What the minted rights may be used for, whatever else the account should ever be bound to. */
export function writerPolicy({ namespace, actions }: Install): Policy {
  const rights = actions.flatMap((action) => action.rights);
  const pairs = [...new Set(declaredRights('writer', actions).flatMap(pairOf))];
  const patched = [...new Set(rights.filter(({ verb }) => verb === 'patch').map(nameOf))];
  return {
    name: nameFor('tapfix-writer', namespace),
    rules: [
      {
        apiGroups: ['*'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
        resources: ['*/*'],
      },
    ],
    when: isUser(namespace, accounts.writer),
    // Empty fields of a request are absent ones.
    variables: {
      name: "request.?name.orValue('')",
      where: "request.?namespace.orValue('')",
      resource: [
        "request.resource.group + '/' + request.resource.resource +",
        "(request.?subResource.orValue('') == '' ? '' : '/' + request.subResource)",
      ].join(' '),
      operation: "request.operation == 'DELETE' && variables.name == '' ? 'DELETE ALL' : request.operation",
    },
    validations: [
      {
        expression: `(variables.operation + ' ' + variables.resource) in [${quoted(pairs)}]`,
        messageExpression: `'tapfix-writer may not ' + variables.operation + ' ' + variables.resource + ': no action of tapfix does that'`,
      },
      {
        expression: [
          `!(variables.where in [${quoted(protectedNamespaces(namespace))}])`,
          `(namespaceObject == null || !(${isProtected('namespaceObject')}))`,
        ].join(' &&\n'),
        messageExpression: "'namespace ' + variables.where + ' is protected: tapfix changes nothing in it'",
      },
      {
        expression: ['object', 'oldObject'].map((o) => `(${o} == null || !(${isProtected(o)}))`).join(' &&\n'),
        messageExpression: `variables.resource + ' ' + variables.name + ' is protected by its label ${protectedLabel}: tapfix does not change it'`,
      },
      ...patched.map((resource) => ({
        expression: `variables.resource != '${resource}' || request.operation != 'UPDATE' ||\n(${keeps(resource, rights)})`,
        messageExpression: `'${resource} ' + variables.name + ': tapfix-writer may change only ${ownedInWords(resource, rights)}'`,
      })),
      ...insistences(rights).map(({ right, hold, say }) => ({
        expression: `(variables.operation + ' ' + variables.resource) != '${pairOf(right)[0]}' ||\n(${hold})`,
        messageExpression: `'${nameOf(right)} ' + variables.name + ': ${say}'`,
      })),
    ],
  };
}

const uuid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** The controller mints rights for the writer, and for nobody else. */
export function controllerPolicy({ namespace }: Install): Policy {
  const subject = 'variables.binding.subjects[0]';
  return {
    name: nameFor('tapfix-controller', namespace),
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: ['*'],
      },
    ],
    when: isUser(namespace, accounts.controller),
    variables: { binding: 'object == null ? oldObject : object' },
    validations: [
      {
        expression: `request.resource.resource == 'rolebindings' && variables.binding.metadata.name.matches('^tapfix-${uuid}$')`,
        messageExpression: `'tapfix-controller touches only RoleBindings named tapfix-<uid of a Remediation>, not ' + request.resource.resource + ' ' + variables.binding.metadata.name`,
      },
      {
        expression: [
          'variables.binding.?subjects.orValue([]).size() == 1',
          `${subject}.kind == 'ServiceAccount'`,
          `${subject}.name == '${accounts.writer}'`,
          `${subject}.?namespace.orValue('') == '${namespace}'`,
        ].join(' &&\n'),
        messageExpression: `'a RoleBinding of tapfix-controller has one subject, the service account ${accounts.writer} of namespace ${namespace}'`,
      },
      {
        expression: [
          `has(variables.binding.roleRef) && variables.binding.roleRef.kind == 'ClusterRole'`,
          `variables.binding.roleRef.name in [${quoted(writerRoles)}]`,
        ].join(' &&\n'),
        messageExpression: `'a RoleBinding of tapfix-controller refers to one of the ClusterRoles ${writerRoles.join(', ')}'`,
      },
    ],
  };
}

/** The record of who decided what: the controller deletes it when it is over and cleared, nobody else of tapfix at all. */
export function retentionPolicy({ namespace }: Install): Policy {
  return {
    name: nameFor('tapfix-retention', namespace),
    rules: remediations(['DELETE']),
    when: isUser(namespace, accounts.controller),
    validations: [
      {
        expression: [
          `oldObject.?status.?phase.orValue('') in [${quoted(overPhases)}]`,
          "oldObject.?status.?conditions.orValue([]).exists(c, c.type == 'IncidentCleared' && c.status == 'True')",
        ].join(' &&\n'),
        messageExpression: `'tapfix-controller deletes only Remediations that are over and cleared, not ' + oldObject.metadata.name`,
      },
    ],
  };
}
