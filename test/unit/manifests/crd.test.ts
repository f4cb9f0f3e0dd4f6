import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { transitions } from '../../../src/kube/remediation.ts';
import { customResourceDefinitions } from '../../../src/manifests/crd.ts';
import type { Schema } from '../../../src/manifests/structural.ts';

interface Definition {
  metadata: { name: string };
  spec: {
    names: { shortNames?: string[] };
    versions: {
      additionalPrinterColumns: { name: string }[];
      subresources: object;
      schema: { openAPIV3Schema: Schema };
    }[];
  };
}

const definitions = customResourceDefinitions(actions) as unknown as Definition[];
const remediation = definitions[0]!.spec.versions[0]!;
const root = remediation.schema.openAPIV3Schema;
const at = (...path: string[]): Schema => path.reduce((schema, name) => schema.properties![name]!, root);
const rulesAt = (...path: string[]) => at(...path)['x-kubernetes-validations'] ?? [];

/** Every schema in a schema, with its path. */
function* parts(schema: Schema, path: string): Generator<[string, Schema]> {
  yield [path, schema];
  for (const [name, one] of Object.entries(schema.properties ?? {})) yield* parts(one, `${path}.${name}`);
  if (schema.items) yield* parts(schema.items, `${path}[]`);
}

test('a Remediation is named and shown as people type and read it', () => {
  assert.deepEqual(
    definitions.map(({ metadata }) => metadata.name),
    ['remediations.tapfix.dev', 'notices.tapfix.dev'],
  );
  assert.deepEqual(definitions[0]!.spec.names.shortNames, ['fix', 'rem']);
  assert.deepEqual(remediation.subresources, { status: {} });
  const columns = remediation.additionalPrinterColumns.map(({ name }) => name);
  assert.deepEqual(columns, ['CLASS', 'SEVERITY', 'TARGET', 'ACTION', 'PHASE', 'READY', 'BY', 'AGE']);
});

for (const { metadata, spec } of definitions) {
  test(`everything in ${metadata.name} is bounded, or its rules would cost too much`, () => {
    const { spec: its, status } = spec.versions[0]!.schema.openAPIV3Schema.properties!;
    for (const [path, schema] of [...parts(its!, '.spec'), ...parts(status!, '.status')]) {
      if (schema.type === 'array') assert.ok(schema['maxItems'], `${path} has no maxItems`);
      const bounded = schema['maxLength'] ?? schema['enum'] ?? schema['format'];
      if (schema.type === 'string') assert.ok(bounded, `${path} has no maxLength`);
    }
  });
}

test('every action has its type, its params and its rule, and no action has more', () => {
  const types = actions.map(({ type }) => type);
  assert.deepEqual(at('spec', 'action', 'type')['enum'], types);
  assert.deepEqual(Object.keys(at('spec', 'action').properties!), ['type', ...actions.map(({ block }) => block)]);
  assert.equal(rulesAt('spec', 'action').length, types.length);
});

test('every field of the spec but the approval says that it cannot be changed', () => {
  const frozen = Object.keys(at('spec').properties!).filter((field) => field !== 'approval');
  assert.deepEqual(
    rulesAt('spec').map(({ message }) => message),
    frozen.map((field) => `spec.${field} cannot be changed after creation`),
  );
  assert.match(
    rulesAt('spec').find(({ message }) => message?.includes('spec.action '))!.rule,
    /^has\(self\.action\) ==/,
  );
});

test('the rule about phases lists every transition there is', () => {
  const [{ rule } = { rule: '' }] = root['x-kubernetes-validations'] ?? [];
  const listed = [...rule.matchAll(/'(\w*)>(\w+)'/g)].map(([, from, to]) => `${from}>${to}`);
  const known = Object.entries(transitions).flatMap(([from, targets]) => targets.map((to) => `${from}>${to}`));
  assert.deepEqual(listed, known);
});
