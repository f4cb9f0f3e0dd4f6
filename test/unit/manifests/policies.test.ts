import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { remediationStatusSchema } from '../../../src/kube/remediation.ts';
import type { Manifest } from '../../../src/manifests/manifest.ts';
import { admissionPolicies } from '../../../src/manifests/policies.ts';

const objects = admissionPolicies({ namespace: 'ops', image: 'x', actions });
const specs = (kind: string) => objects.filter((object) => object.kind === kind).map(({ spec }) => spec as Spec);
const policy = (name: string): Manifest => objects.find(({ metadata }) => metadata.name === name)!;

interface Spec {
  failurePolicy: string;
  policyName: string;
  validationActions: string[];
  validations: { expression: string; messageExpression: string }[];
}

test('every policy refuses, also when it cannot tell, and says why in words', () => {
  const policies = specs('ValidatingAdmissionPolicy');
  assert.equal(policies.length, 7);
  for (const { failurePolicy, validations } of policies) {
    assert.equal(failurePolicy, 'Fail');
    for (const { messageExpression } of validations) assert.match(messageExpression, /'.*\w.*'/);
  }
});

test('every policy is bound, and denies', () => {
  const names = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy').map(({ metadata }) => metadata.name);
  const bindings = specs('ValidatingAdmissionPolicyBinding');
  assert.deepEqual(
    bindings.map(({ policyName }) => policyName),
    names,
  );
  assert.ok(bindings.every(({ validationActions }) => validationActions.join() === 'Deny'));
});

test('accounts are known by name in their own two policies only, and those follow the namespace', () => {
  const naming = objects.filter((object) => JSON.stringify(object).includes('system:serviceaccount:ops:'));
  assert.deepEqual(
    naming.map(({ metadata }) => metadata.name),
    ['tapfix-writer-ops', 'tapfix-controller-ops'],
  );
  assert.match(JSON.stringify(policy('tapfix-writer-ops')), /'kube-system', 'kube-public', 'kube-node-lease', 'ops'/);
});

test('every field of the status has an owner', () => {
  const text = JSON.stringify(policy('tapfix-status'));
  for (const field of Object.keys(remediationStatusSchema.shape)) {
    assert.ok(text.includes(`variables.before.?${field}`), field);
  }
});
