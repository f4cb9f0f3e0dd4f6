import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { configIn } from '../../../src/config/load.ts';
import { writtenConfigIn } from '../../../src/config/written-config.ts';

const inner = `cluster: prod
namespaces:
  include: ['*']
channels:
  console: {}
`;
const indented = (text: string): string => text.replaceAll(/^/gm, '    ').trimEnd();
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: tapfix-config }\n';
const manifest = (text: string): string => `${head}data:\n  config.yaml: |\n${indented(text)}\n`;

const problemsIn = (text: string): string => {
  try {
    writtenConfigIn(text, 'f');
    return '';
  } catch (error) {
    assert(error instanceof Error);
    return error.message;
  }
};

describe('a configuration as people have it', () => {
  const forms = [
    { name: 'by itself', text: inner },
    { name: 'in a ConfigMap', text: manifest(inner) },
    {
      name: 'in a ConfigMap among other documents',
      text: `---\nkind: Namespace\nmetadata: {}\n---\n${manifest(inner)}`,
    },
    {
      name: 'in a ConfigMap as JSON',
      text: JSON.stringify({ apiVersion: 'v1', data: { 'config.yaml': inner }, kind: 'ConfigMap' }, null, 2),
    },
  ];
  for (const { name, text } of forms)
    test(`${name} is read`, () => assert.deepEqual(writtenConfigIn(text, 'f'), configIn(inner, 'f')));

  test('the manifest that tapfix writes is read', () => {
    const text = readFileSync(new URL('../../../deploy/manifests/40-config.yaml', import.meta.url), 'utf8');
    assert.equal(writtenConfigIn(text, 'f').cluster, 'my-cluster');
  });

  test('a mistake is reported with its line in the manifest', () => {
    const text = manifest(`\n# a comment\n${inner.replace('console: {}', 'konsole: {}')}`);
    const line = text.split('\n').findIndex((one) => one.includes('konsole')) + 1;
    assert.match(problemsIn(text), new RegExp(`^f:${line} channels\\.konsole: is not a known key`, 'm'));
  });

  test('of a quoted text the line of its key is reported', () => {
    const text = `${head}data:\n  config.yaml: ${JSON.stringify(inner.replace('console', 'konsole'))}\n`;
    assert.match(problemsIn(text), /^f:5 channels\.konsole: is not a known key/m);
  });

  test('a ConfigMap of something else is refused in one line', () =>
    assert.equal(
      problemsIn(`${head}data: { other: x }\n`),
      'f is a ConfigMap without data["config.yaml"], which holds the configuration of tapfix',
    ));

  test('two configurations in one file are refused', () =>
    assert.equal(
      problemsIn(`${manifest(inner)}---\n${manifest(inner)}`),
      'f has more than one ConfigMap with data["config.yaml"]: keep one',
    ));

  test('what is no YAML is reported as such', () =>
    assert.match(problemsIn(`${head}data: [\n`), /^f:\d+ not valid YAML/));

  test('a token inside is refused and not repeated', () => {
    const text = manifest(
      inner.replace('console: {}', 'telegram: { chat: "123456789:AAE2etesttokenAAE2etesttokenAAE2e" }'),
    );
    assert.match(problemsIn(text), /a token does not belong in this file/);
    assert.doesNotMatch(problemsIn(text), /AAE2/);
  });
});
