import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { namespacesNow, runCheckConfig } from '../../../src/cli/check-config.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { classNames } from '../../../src/config/schema.ts';
import { ApiError, type Reader } from '../../../src/kube/api.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { aConfig } from '../../support/config.ts';

const cluster = (names: string[]): Pick<Reader, 'list'> => ({
  list: (async () => names.map((name) => ({ metadata: { name, uid: name } }))) as unknown as Reader['list'],
});
const config = (include: string[], exclude: string[] = []) => aConfig({ namespaces: { include, exclude } });

test('which namespaces match now, as the rules of selection have it', async () => {
  const reader = cluster(['shop-b', 'shop-a', 'shop-test', 'kube-system', 'tapfix', 'payments']);
  assert.deepEqual(await namespacesNow(reader, config(['shop-*'], ['shop-test']), 'tapfix'), [
    '# 2 namespaces of 6 match now:',
    '#   shop-a',
    '#   shop-b',
  ]);
  assert.deepEqual(await namespacesNow(reader, config(['*', 'kube-system']), 'tapfix'), [
    '# 5 namespaces of 6 match now:',
    ...['kube-system', 'payments', 'shop-a', 'shop-b', 'shop-test'].map((name) => `#   ${name}`),
  ]);
});

test('a name that is nobody’s is said: it may be mistyped, or not be there yet', async () => {
  assert.deepEqual(await namespacesNow(cluster(['shop']), config(['shop', 'shopp', 'x-*']), 'tapfix'), [
    '# 1 namespace of 1 match now:',
    '#   shop',
    '# there is no namespace shopp (yet)',
  ]);
});

test('whoever may not list namespaces is told so', async () => {
  const refusing = {
    list: (async () => Promise.reject(new ApiError('no', 403, 'Forbidden'))) as unknown as Reader['list'],
  };
  assert.deepEqual(await namespacesNow(refusing, config(['*']), 'tapfix'), [
    '# which namespaces match now is not known: you may not list namespaces',
  ]);
});

test('what is printed is what is in force: patience and severity of every class, and it loads to the same again', async () => {
  const file = new URL('../../fixtures/config/full.yaml', import.meta.url).pathname;
  let printed = '';
  await runCheckConfig({ file }, { print: (text) => void (printed = text) });
  assert.match(printed, /^  NodeDown:\n    enabled: true\n    for: 1m # at least critical$/m);
  assert.match(
    printed,
    /^  ProbeFailing:\n    enabled: true\n    for: 5m\n    severity: info$/m,
    'this one was chosen',
  );
  const text = printed.replace(/^ok\n/, '');
  const [before, after] = [readFileSync(file, 'utf8'), text].map((one) => {
    const parsed = parseConfig(one, file);
    assert.ok(parsed.ok, JSON.stringify(parsed));
    return parsed.config;
  });
  const names = [...classNames, ...before!.extraReasons.map((extra) => extra.class)];
  assert.deepEqual(Object.keys(after!.classes).sort(), [...new Set(names)].sort());
  for (const name of names) {
    assert.deepEqual(classOf(name, after!), classOf(name, before!), name);
    assert.equal(after!.classes[name]?.enabled, before!.classes[name]?.enabled ?? true, name);
  }
  assert.deepEqual({ ...after, classes: {} }, { ...before, classes: {} });
});

async function checked(text: string): Promise<string> {
  let printed = '';
  await runCheckConfig(
    { file: '-' },
    { print: (text) => void (printed = text) },
    (async function* () {
      yield Buffer.from(text);
    })(),
  );
  return printed;
}

test('ids of the example are warned about, one line for each', async () => {
  const example = readFileSync(new URL('../../../config.example.yaml', import.meta.url), 'utf8');
  const words = "is the id of the example, and nobody's of yours: put your own there";
  assert.deepEqual((await checked(example)).match(/^# warning.*$/gm), [
    `# warning: channels.telegram: -1001234567890 ${words}`,
    `# warning: channels.telegram: -1009876543210 ${words}`,
    `# warning: channels.slack: C0123456789 ${words}`,
    `# warning: channels.slack: C0123456780 ${words}`,
    `# warning: approver Ada: 123456789 ${words}`,
    `# warning: approver Ada: U012AB3CD ${words}`,
  ]);
  const own = "{cluster: a, namespaces: {include: ['*']}, channels: {telegram: {chat: -100987654}}}";
  assert.doesNotMatch(await checked(own), /# warning/);
});

test('standard input is named in what is wrong with it', async () =>
  assert.rejects(checked('cluster: a\n'), { message: /^standard input:1 / }));
