import type { Manifest } from './manifest.ts';
import { apiVersion, named, remediations } from './policy.ts';

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
