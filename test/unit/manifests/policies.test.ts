import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { phases, remediationStatusSchema, transitions } from '../../../src/kube/remediation.ts';
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
  assert.equal(policies.length, 9);
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

test('accounts are known by name in their own three policies only, and those follow the namespace', () => {
  const naming = objects.filter((object) => JSON.stringify(object).includes('system:serviceaccount:ops:'));
  assert.deepEqual(
    naming.map(({ metadata }) => metadata.name),
    ['tapfix-writer-ops', 'tapfix-controller-ops', 'tapfix-retention-ops'],
  );
  assert.match(JSON.stringify(policy('tapfix-writer-ops')), /'kube-system', 'kube-public', 'kube-node-lease', 'ops'/);
});

test('every field of the status has an owner', () => {
  const text = JSON.stringify(policy('tapfix-status'));
  for (const field of Object.keys(remediationStatusSchema.shape)) {
    assert.ok(text.includes(`variables.before.?${field}`), field);
  }
});

const writer = specs('ValidatingAdmissionPolicy')[5]!.validations.map(({ expression }) => expression);
const about = (resource: string): string =>
  writer.find((text) => text.startsWith(`variables.resource != '${resource}'`))!;

test('of a workload the writer may change what one action owns, never what two do', () => {
  const deployment = about('apps/deployments');
  const [template, replicas] = deployment.split('||\n').slice(1) as [string, string];
  assert.ok(template.includes('spec.?replicas') && !template.includes('spec.?template'));
  assert.ok(replicas.includes('spec.?template') && !replicas.includes('spec.?replicas'));
  for (const kept of ['paused', 'selector', 'strategy'])
    for (const alternative of [template, replicas]) assert.ok(alternative.includes(`spec.?${kept}`), kept);
  for (const resource of ['apps/statefulsets', 'apps/daemonsets']) {
    assert.ok(about(resource).includes('spec.?updateStrategy'));
    assert.ok(!about(resource).includes('spec.?template'));
  }
  assert.match(about('apps/statefulsets'), /spec\.\?replicas == .*volumeClaimTemplates/s);
  for (const resource of ['apps/replicasets', 'batch/jobs'])
    assert.match(about(resource), /object\.spec == oldObject\.spec/);
});

test('what a right insists on is said once, however many actions have it', () => {
  const evictions = writer.filter((text) =>
    text.startsWith("(variables.operation + ' ' + variables.resource) != 'CREATE /pods/eviction'"),
  );
  assert.equal(evictions.length, 1);
  assert.match(evictions[0]!, /preconditions\.\?uid/);
  assert.ok(writer.some((text) => text.includes("!= 'UPDATE apps/deployments'") && text.includes('replicas <= 50')));
});

test('the controller deletes a Remediation only when it is over and cleared', () => {
  const { expression } = specs('ValidatingAdmissionPolicy')[7]!.validations[0]!;
  const [phase, cleared] = expression.split('&&\n') as [string, string];
  const over = [...phase.matchAll(/'(\w+)'/g)].map(([, name]) => name);
  assert.deepEqual(
    over,
    phases.filter((name) => transitions[name].length === 0 || name === 'Failed'),
  );
  assert.match(cleared, /IncidentCleared' && c\.status == 'True'/);
});
