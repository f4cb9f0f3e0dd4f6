import { remediationStatusSchema } from '../kube/remediation.ts';
import { controllerPolicy, retentionPolicy, writerPolicy } from './account-policies.ts';
import type { Install, Manifest } from './manifest.ts';

const apiVersion = 'admissionregistration.k8s.io/v1';

interface ResourceRule {
  apiGroups: string[];
  apiVersions: string[];
  operations: ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[];
  resources: string[];
}

interface Validation {
  expression: string;
  /** CEL that gives the words a person reads. */
  messageExpression: string;
}

export interface Policy {
  name: string;
  rules: ResourceRule[];
  /** Name to CEL: all must be true, or the policy has nothing to say. */
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

export const remediations = (operations: ResourceRule['operations'], resource = 'remediations'): ResourceRule[] => [
  { apiGroups: ['tapfix.dev'], apiVersions: ['*'], operations, resources: [resource] },
];

/** Whether the requester holds a verb of ours in the namespace of the request. */
const holds = (verb: string): string =>
  `authorizer.group('tapfix.dev').resource('remediations').namespace(request.namespace).check('${verb}').allowed()`;

/** CEL for: user "ada" may not ... in namespace shop: that takes the verb "approve" on remediations.tapfix.dev */
const lacksVerb = (what: string, verb: string): string =>
  `'user "' + request.userInfo.username + '" may not ${what} in namespace ' + request.namespace + ': that takes the verb "${verb}" on remediations.tapfix.dev'`;

/**
 * What the API server refuses. By verbs of our own on `remediations`, never by account name, so that a cluster-admin,
 * who holds them all, is never refused in its own name; only the writer and the controller are known by name.
 */
export function admissionPolicies(install: Install): Manifest[] {
  const ofAccounts = [writerPolicy(install), controllerPolicy(install), retentionPolicy(install)];
  const policies = [propose, decide, record, acknowledge, status, ...ofAccounts];
  return policies.flatMap(policyAndBinding);
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

/** The record of who decided what is not to vanish with an owner that never was, nor to be made undeletable. */
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
        // Whoever took it may give it back.
        "variables.after == '' && variables.before == request.userInfo.username",
        holds('attest'),
      ].join(' ||\n'),
      messageExpression: `'the annotation tapfix.dev/acknowledged-by must name who sets it, "' + request.userInfo.username + '", not "' + variables.after + '"'`,
    },
  ],
};

/** The watcher's own words in the status; all else, and every field to come, is the controller's. */
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
 * Writes who decides, where a person did not: with it, a patch of the state alone is a complete decision. It only
 * fills in what tapfix-decide then checks, so a cluster without it (older than 1.36) is as safe, and less comfortable.
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
