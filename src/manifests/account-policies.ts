import type { Right } from '../actions/action.ts';
import { accounts, nameFor, protectedLabel, protectedNamespaces, userOf, type Install } from './manifest.ts';
import type { Policy } from './policy.ts';
import { declaredRights, writerRoles } from './rights.ts';

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

/** Owners that are only touched to make them retry: nothing but an annotation may differ. */
const nudged = ['apps/replicasets', 'apps/statefulsets', 'apps/daemonsets', 'batch/jobs'];
const same = (field: string): string => `object.${field} == oldObject.${field}`;
const sameMeta = (field: string): string => `object.metadata.?${field} == oldObject.metadata.?${field}`;

/** What the minted rights may be used for, whatever else the account should ever be bound to. */
export function writerPolicy({ namespace, actions }: Install): Policy {
  const pairs = [...new Set(declaredRights('writer', actions).flatMap(pairOf))];
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
      {
        expression: [
          `!(variables.resource in [${quoted(nudged)}]) || request.operation != 'UPDATE'`,
          [same('spec'), ...['labels', 'ownerReferences', 'finalizers'].map(sameMeta)].join(' && '),
        ].join(' ||\n'),
        messageExpression: "variables.resource + ' ' + variables.name + ' may only be annotated by tapfix-writer'",
      },
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
