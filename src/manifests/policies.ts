import type { Right } from '../actions/action.ts';
import { protectedLabel } from '../actions/ownership.ts';
import { historyKey, historyNames, type HistoryRole, mostCharacters } from '../kube/history-maps.ts';
import { overPhases, remediationStatusSchema } from '../kube/remediation.ts';
import { accounts, type Install, type Manifest, nameFor, protectedNamespaces, userOf } from './manifest.ts';
import { declaredRights, writerRoles } from './rights-table.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

interface ResourceRule {
  apiGroups: string[];
  apiVersions: string[];
  operations: ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[];
  resources: string[];
}

interface Validation {
  expression: string;
  /** CEL that gives the message a person reads. */
  messageExpression: string;
}

interface Policy {
  name: string;
  rules: ResourceRule[];
  /** Name to CEL: all must be true, or the policy does not apply. */
  when?: Record<string, string>;
  /** Name to CEL. */
  variables?: Record<string, string>;
  validations: Validation[];
}

const named = (entries: Record<string, string> = {}): { name: string; expression: string }[] =>
  Object.entries(entries).map(([name, expression]) => ({ name, expression }));

/** The policy and its binding: it refuses, and an expression that fails refuses as well. */
const policyAndBinding = ({ name, rules, when, variables, validations }: Policy): Manifest[] => [
  {
    apiVersion,
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules: rules },
      ...(when && { matchConditions: named(when) }),
      ...(variables && { variables: named(variables) }),
      validations: validations.map((validation) => ({ ...validation, reason: 'Forbidden' })),
    },
  },
  {
    apiVersion,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  },
];

const remediations = (operations: ResourceRule['operations'], resource = 'remediations'): ResourceRule[] => [
  { apiGroups: ['tapfix.dev'], apiVersions: ['*'], operations, resources: [resource] },
];

/** Whether the requester holds one of our verbs in the namespace of the request. */
const holds = (verb: string): string =>
  `authorizer.group('tapfix.dev').resource('remediations').namespace(request.namespace).check('${verb}').allowed()`;

/** CEL for: user "ada" may not ... in namespace shop: that takes the verb "approve" on remediations.tapfix.dev */
const lacksVerb = (what: string, verb: string): string =>
  `'user "' + request.userInfo.username + '" may not ${what} in namespace ' + request.namespace + ': that takes the verb "${verb}" on remediations.tapfix.dev'`;

/**
 * The requests that the API server refuses. The rules use our own verbs on `remediations` and not account names, so
 * that a cluster-admin, who holds all verbs, is never refused when acting in its own name. Only the writer and the
 * controller are identified by name.
 */
export function admissionPolicies(install: Install): Manifest[] {
  const ofAccounts = [writerPolicy(install), controllerPolicy(install), retentionPolicy(install)];
  const policies = [propose, decide, record, acknowledge, status, ...ofAccounts, historyPolicy(install)];
  return policies.flatMap(policyAndBinding);
}

/**
 * Each role remembers which revisions were healthy. A fix rests on that, so nobody else writes it. An installer creates the maps
 * without data, and may label them. Their content has the one key, and a bound.
 */
function historyPolicy({ namespace }: Install): Policy {
  const roles = { watcher: 'observe', controller: 'control' } as const;
  const name = "object.metadata.?name.orValue('')";
  const isOf = (role: HistoryRole): string => `${name} in [${quoted(historyNames(role))}]`;
  const same = (field: string): string =>
    `object.?${field} == (oldObject == null ? optional.none() : oldObject.?${field})`;
  return {
    name: nameFor('tapfix-history', namespace),
    rules: [{ apiGroups: [''], apiVersions: ['*'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }],
    when: {
      'is-a-history': [`request.namespace == '${namespace}'`, `(${isOf('watcher')} || ${isOf('controller')})`].join(
        ' && ',
      ),
    },
    variables: { isKept: ['data', 'binaryData', 'immutable'].map(same).join(' && ') },
    validations: [
      ...(['watcher', 'controller'] as const).map((role) => ({
        expression: `variables.isKept || !(${isOf(role)}) || ${holds(roles[role])}`,
        messageExpression: lacksVerb(`write what the ${role} has seen`, roles[role]),
      })),
      {
        expression: [
          '!has(object.binaryData)',
          '!object.?immutable.orValue(false)',
          `object.?data.orValue({}).all(key, key == '${historyKey}' && object.data[key].size() <= ${mostCharacters})`,
        ].join(' &&\n'),
        messageExpression: `'ConfigMap ' + object.metadata.name + ' holds nothing but ${historyKey}, of ${mostCharacters} characters at most'`,
      },
    ],
  };
}

const isServiceAccount = "request.userInfo.username.startsWith('system:serviceaccount:')";

const propose: Policy = {
  name: 'tapfix-propose',
  rules: remediations(['CREATE']),
  validations: [
    { expression: holds('propose'), messageExpression: lacksVerb('propose a Remediation', 'propose') },
    {
      expression: "object.spec.approval.state == 'Pending' && !has(object.spec.approval.by)",
      messageExpression: "'a Remediation is created undecided: spec.approval must be {state: Pending}'",
    },
    {
      expression: 'object.spec.proposedBy == request.userInfo.username',
      messageExpression: `'spec.proposedBy must be who creates it, "' + request.userInfo.username + '", not "' + object.spec.proposedBy + '"'`,
    },
    {
      expression: "object.spec.incident.key.startsWith(request.namespace + '/')",
      messageExpression: `'spec.incident.key must begin with its own namespace, "' + request.namespace + '/", not "' + object.spec.incident.key + '"'`,
    },
  ],
};

const decide: Policy = {
  name: 'tapfix-decide',
  rules: remediations(['UPDATE']),
  when: { 'approval-changes': 'object.spec.approval != oldObject.spec.approval' },
  variables: { by: "object.spec.approval.?by.orValue('')" },
  validations: [
    { expression: holds('approve'), messageExpression: lacksVerb('decide', 'approve') },
    {
      expression: `!${isServiceAccount} || ${holds('attest')}`,
      messageExpression: `'service account "' + request.userInfo.username + '" may not decide: people do, or who holds the verb "attest" for them'`,
    },
    {
      expression: [
        `variables.by == request.userInfo.username && !${isServiceAccount}`,
        `variables.by.matches('^(telegram|slack):') && ${holds('attest')}`,
      ].join(' ||\n'),
      messageExpression: `'spec.approval.by must be who decides, "' + request.userInfo.username + '", not "' + variables.by + '" (who holds the verb "attest" may name telegram:ID or slack:ID)'`,
    },
  ],
};

const added = (field: string): string =>
  `object.metadata.?${field}.orValue([]).all(one, oldObject != null && one in oldObject.metadata.?${field}.orValue([]))`;

/** The record of who decided what must not be deleted with an owner that never existed, nor be made undeletable. */
const record: Policy = {
  name: 'tapfix-record',
  rules: remediations(['CREATE', 'UPDATE']),
  validations: [
    {
      expression: `(${added('ownerReferences')} && ${added('finalizers')}) || ${holds('control')}`,
      messageExpression: "'a Remediation has no owner and no finalizer: it stays until it is deleted'",
    },
  ],
};

const acknowledgedBy = (object: string): string =>
  `${object}.metadata.?annotations[?'tapfix.dev/acknowledged-by'].orValue('')`;

const acknowledge: Policy = {
  name: 'tapfix-acknowledge',
  rules: remediations(['CREATE', 'UPDATE']),
  variables: {
    before: `oldObject == null ? '' : ${acknowledgedBy('oldObject')}`,
    after: acknowledgedBy('object'),
  },
  validations: [
    {
      expression: [
        'variables.after == variables.before',
        'variables.after == request.userInfo.username',
        // The person who took it may give it back.
        "variables.after == '' && variables.before == request.userInfo.username",
        holds('attest'),
      ].join(' ||\n'),
      messageExpression: `'the annotation tapfix.dev/acknowledged-by must name who sets it, "' + request.userInfo.username + '", not "' + variables.after + '"'`,
    },
  ],
};

/**
 * The parts of the status that the watcher writes. Everything else, and every future field, belongs to the controller.
 */
const watchersCondition = 'IncidentCleared';
const watchersField = 'sightings';
const controllersFields = Object.keys(remediationStatusSchema.shape).filter(
  (field) => field !== watchersField && field !== 'conditions',
);

const statusOf = (object: string): string => `${object}.?status.orValue({})`;
const conditions = (status: string, comparison: '==' | '!='): string =>
  `variables.${status}.?conditions.orValue([]).filter(c, c.type ${comparison} '${watchersCondition}')`;
const changes = (field: string): string => `variables.before.?${field} != variables.after.?${field}`;

const status: Policy = {
  name: 'tapfix-status',
  rules: remediations(['UPDATE'], 'remediations/status'),
  variables: {
    before: statusOf('oldObject'),
    after: statusOf('object'),
    watchers: [changes(watchersField), `${conditions('before', '==')} != ${conditions('after', '==')}`].join(' ||\n'),
    controllers: [
      ...controllersFields.map(changes),
      `${conditions('before', '!=')} != ${conditions('after', '!=')}`,
    ].join(' ||\n'),
  },
  validations: [
    {
      expression: `!variables.controllers || ${holds('control')}`,
      messageExpression: lacksVerb(
        `change more of the status than ${watchersField} and ${watchersCondition}`,
        'control',
      ),
    },
    {
      expression: `!variables.watchers || ${holds('observe')}`,
      messageExpression: lacksVerb(`change ${watchersField} or ${watchersCondition}`, 'observe'),
    },
  ],
};

const name = 'tapfix-stamp';

const by = "JSONPatch{op: 'add', path: '/spec/approval/by', value: request.userInfo.username}";
const via = "JSONPatch{op: 'add', path: '/spec/approval/via', value: 'kubernetes'}";

/**
 * Writes who decides, if a person did not: with it, a patch of the state alone is a complete decision. It only fills in
 * what tapfix-decide then checks, so a cluster without it (older than 1.36) is just as safe, but less convenient.
 */
export const stampingPolicy = (): Manifest[] => [
  {
    apiVersion,
    kind: 'MutatingAdmissionPolicy',
    metadata: { name },
    spec: {
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: { resourceRules: remediations(['UPDATE']) },
      matchConditions: named({
        'is-a-decision':
          "oldObject.spec.approval.state == 'Pending' && object.?spec.?approval.?state.orValue('Pending') != 'Pending'",
        'names-nobody': "object.?spec.?approval.?by.orValue('') == ''",
        'is-a-person': "!request.userInfo.username.startsWith('system:serviceaccount:')",
      }),
      mutations: [
        {
          patchType: 'JSONPatch',
          jsonPatch: { expression: `has(object.spec.approval.via) ? [${by}] : [\n  ${by},\n  ${via}\n]` },
        },
      ],
    },
  },
  {
    apiVersion,
    kind: 'MutatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name },
  },
];

const quoted = (values: readonly string[]): string => values.map((value) => `'${value}'`).join(', ');
const isUser = (namespace: string, account: string): Record<string, string> => ({
  'is-this-account': `request.userInfo.username == '${userOf(namespace, account)}'`,
});

/** Admission knows operations, not verbs; reads never get here. */
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

/** The parts of its spec that actions own, separately for each action; empty if they only annotate it. */
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

/**
 * The fields that must not change when the writer patches one of these: everything except the part of one action, never
 * of two at once.
 */
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

/** The additional conditions of the rights, each once. */
const insistences = (rights: readonly Right[]): { right: Right; hold: string; say: string }[] => [
  ...new Map(
    rights.flatMap((right) =>
      right.must ? [[`${pairOf(right)[0]} ${right.must.hold}`, { right, ...right.must }]] : [],
    ),
  ).values(),
];

/** Limits the use of the writer's temporary rights, whatever else the account might ever be bound to. */
function writerPolicy({ namespace, actions }: Install): Policy {
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
    // In a request, an empty field is absent.
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

/** The controller grants rights to the writer, and to nobody else. */
function controllerPolicy({ namespace }: Install): Policy {
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

/**
 * The record of who decided what: the controller deletes it when it is over and cleared, and nothing else in tapfix may
 * delete it.
 */
function retentionPolicy({ namespace }: Install): Policy {
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
