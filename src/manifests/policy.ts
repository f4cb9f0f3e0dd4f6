import type { Manifest } from './manifest.ts';

export const apiVersion = 'admissionregistration.k8s.io/v1';

export interface ResourceRule {
  apiGroups: string[];
  apiVersions: string[];
  operations: ('CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT')[];
  resources: string[];
}

export interface Validation {
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

export const named = (entries: Record<string, string> = {}): { name: string; expression: string }[] =>
  Object.entries(entries).map(([name, expression]) => ({ name, expression }));

/** The policy and its binding: it refuses, and an expression that fails refuses as well. */
export const policyAndBinding = ({ name, rules, when, variables, validations }: Policy): Manifest[] => [
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
export const holds = (verb: string): string =>
  `authorizer.group('tapfix.dev').resource('remediations').namespace(request.namespace).check('${verb}').allowed()`;

/** CEL for: user "ada" may not ... in namespace shop: that takes the verb "approve" on remediations.tapfix.dev */
export const lacksVerb = (what: string, verb: string): string =>
  `'user "' + request.userInfo.username + '" may not ${what} in namespace ' + request.namespace + ': that takes the verb "${verb}" on remediations.tapfix.dev'`;
