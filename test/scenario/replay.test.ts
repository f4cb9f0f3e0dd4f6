import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { aFolder, root, startTapfix } from './support/tapfix.ts';

/* `tapfix replay` as built: no cluster, no network, no kubeconfig. */

const config = { cluster: 'prod-eu', namespaces: { include: ['*'] }, channels: { console: {} } };
const env = { TZ: 'UTC' };

describe('tapfix replay', { concurrency: 3 }, () => {
  for (const [file, golden] of [
    ['events', 'control-plane'],
    ['node-events', 'real-node'],
  ])
    test(`${file}.json gives what is written down`, async (t) => {
      const configFile = join(await aFolder(t), 'config.yaml');
      await writeFile(configFile, JSON.stringify(config));
      const words = ['replay', `test/fixtures/recorded/${file}.json`, '--config', configFile];
      const { code, stdout, stderr } = await startTapfix(t, words, { env }).ended();
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.equal(stdout, await readFile(join(root, `test/golden/replay-${golden}.txt`), 'utf8'));
    });

  test('what is piped in is read with every default, in all namespaces', async (t) => {
    const input = await readFile(join(root, 'test/fixtures/recorded/events.json'), 'utf8');
    const { code, stdout, stderr } = await startTapfix(t, ['replay', '-'], { env, input }).ended();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    const written = await readFile(join(root, 'test/golden/replay-control-plane.txt'), 'utf8');
    assert.equal(stdout.replace(/^standard input/, ''), written.replace(/^[^:]+/, '').replaceAll('prod-eu', 'unknown'));
  });

  test('garbage is counted, and no failure of the command', async (t) => {
    const folder = await aFolder(t);
    const [file, configFile] = [join(folder, 'garbage.json'), join(folder, 'config.yaml')];
    await writeFile(configFile, JSON.stringify(config));
    await writeFile(file, Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0x7b, 0x22, 0x0a, 0x5b]));
    const { code, stdout, stderr } = await startTapfix(t, ['replay', file, '--config', configFile], { env }).ended();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^2 things in it could not be read as an event; the first in line 1$/m);
  });

  const refusals: [string, string, RegExp][] = [
    ['a file that is not there', 'nowhere.json', /^nowhere\.json does not exist\n$/],
    ['a directory', 'test', /^test is a directory: name the file in it\n$/],
  ];
  for (const [name, file, line] of refusals)
    test(`${name} is one line and exit code 2`, async (t) => {
      const words = ['replay', file, '--config', 'config.example.yaml'];
      const { code, stdout, stderr } = await startTapfix(t, words).ended();
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, line);
    });
});
