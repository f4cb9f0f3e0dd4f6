import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { botToken } from '../support/fake-telegram.ts';
import { aSetup, startTapfix } from './support/tapfix.ts';

const broken = `clustr: prod-eu
namespaces:
  include: ["shop-*"]
notices:
  coalesce: 2m
channels:
  telegram: {chat: oncall}
server:
  port: http
`;

const contexts = 'no context "nope" in the kubeconfig; it has prod, staging';

describe('mistakes, as the person who made them meets them', { concurrency: 3 }, () => {
  test('a broken configuration: every problem, with its line and path', async (t) => {
    const { folder, env } = await aSetup(t);
    const file = join(folder, 'broken.yaml');
    await writeFile(file, broken);
    const { code, stdout, stderr } = await startTapfix(t, ['run', '--config', file], { env }).ended();
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    const where = stderr.split('\n').map((line) => line.replace(file, 'FILE').split(': ')[0]);
    assert.deepEqual(where, [
      'FILE:1 cluster',
      'FILE:1 clustr',
      'FILE:5 notices.coalesce',
      'FILE:7 channels.telegram.chat',
      'FILE:9 server.port',
      '',
    ]);
  });

  test('a configuration that does not exist', async (t) => {
    const { env } = await aSetup(t);
    const { code, stdout, stderr } = await startTapfix(t, ['run', '--config', 'no-such.yaml'], { env }).ended();
    assert.deepEqual({ code, stdout, stderr }, { code: 2, stdout: '', stderr: 'no-such.yaml does not exist\n' });
  });

  test('a token in the configuration is refused and not repeated', async (t) => {
    const { env, configFile, words } = await aSetup(t);
    await writeFile(configFile, `${broken}token: ${botToken}\n`);
    const { code, stdout, stderr } = await startTapfix(t, words, { env }).ended();
    assert.equal(code, 2);
    assert.match(stderr, /config\.yaml:10 token: /);
    assert.equal(`${stdout}${stderr}`.includes(botToken), false);
  });

  test('a context that is not in the kubeconfig: which ones are', async (t) => {
    const { words, env } = await aSetup(t);
    const { code, stdout, stderr } = await startTapfix(t, [...words, '--context', 'nope'], { env }).ended();
    assert.deepEqual({ code, stdout, stderr }, { code: 2, stdout: '', stderr: `${contexts}\n` });
  });

  test('no kubeconfig: where it was looked for', async (t) => {
    const { words, folder } = await aSetup(t);
    const { code, stdout, stderr } = await startTapfix(t, words, { env: { HOME: folder } }).ended();
    const looked = `no kubeconfig, and not running in a cluster: looked for ${join(folder, '.kube', 'config')}\n`;
    assert.deepEqual({ code, stdout, stderr }, { code: 2, stdout: '', stderr: looked });
  });

  test('a port that somebody else has: which one, and which key changes it', async (t) => {
    const other = createServer().listen(0, '127.0.0.1');
    t.after(() => other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { words, env } = await aSetup(t, { config: { server: { host: '127.0.0.1', port } } });
    const { code, stdout, stderr } = await startTapfix(t, words, { env }).ended();
    const sentence = `127.0.0.1:${port} is already in use: set server.port to another one\n`;
    assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: sentence });
  });
});
