import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startApiServer } from './support/api-server.ts';
import { aSetup, startTapfix } from './support/tapfix.ts';

for (const role of ['watcher', 'controller'])
  test(`${role}: a change of the file is in force without a restart, a mistake is not, and SIGHUP does not end it`, async (t) => {
    const server = await startApiServer(t, {});
    const { words, env, configFile } = await aSetup(t, { server: server.url });
    const tapfix = startTapfix(t, [...words, '--role', role], { env });
    await tapfix.says('tapfix started');
    const detail = async (): Promise<string> => (await tapfix.readyz()).checks['config']?.detail ?? '';
    const before = await detail();
    const whole = JSON.parse(await readFile(configFile, 'utf8')) as object;

    await writeFile(configFile, JSON.stringify({ ...whole, namespaces: { include: ['shop'] } }));
    tapfix.kill('SIGHUP');
    const { changes, hash } = await tapfix.says('configuration changed');
    assert.deepEqual(changes, [{ field: 'namespaces.include[0]', from: '"*"', to: '"shop"' }]);
    assert.equal(await detail(), `in force: ${hash as string}`);
    assert.notEqual(await detail(), before);
    assert.match(
      (await tapfix.page('/metrics')).text,
      new RegExp(`tapfix_config_info\\{hash="${hash as string}"\\} 1`),
    );
    await tapfix.until('a watch of that namespace', () =>
      server.seen.some((call) => /namespaces\/shop\/remediations/.test(call)),
    );

    await writeFile(configFile, JSON.stringify({ ...whole, cluster: 7 }));
    const { reason } = await tapfix.says('configuration change refused, the old one stays');
    assert.equal(reason, 'cluster must be a name, not a number (line 1)');
    assert.match(
      await detail(),
      new RegExp(`^in force: ${hash as string}; the change in the file is refused: cluster`),
    );
    assert.match((await tapfix.page('/metrics')).text, /tapfix_config_trouble\{what="refused"\} 1\n/);
    assert.equal((await tapfix.readyz()).checks['config']?.ok, false);

    await writeFile(configFile, JSON.stringify({ ...whole, notices: { maxPerMinute: 7 } }));
    await tapfix.until('the next change', () => tapfix.logged('configuration changed').length === 2);
    assert.equal((await tapfix.readyz()).checks['config']?.ok, true);
    tapfix.kill('SIGTERM');
    assert.equal((await tapfix.ended()).code, 0);
  });

test('SIGHUP does not end one that still waits for the API server', async (t) => {
  const { words, env } = await aSetup(t);
  const tapfix = startTapfix(t, words, { env });
  await tapfix.says('not connected to the API server, trying again');
  tapfix.kill('SIGHUP');
  assert.equal((await tapfix.page('/healthz')).status, 200);
  tapfix.kill('SIGTERM');
  const { code, signal } = await tapfix.ended();
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
});

test('a pipe is read once: that is said, its end is no change, and nothing waits for it', async (t) => {
  const server = await startApiServer(t, {});
  const { env, configFile, folder } = await aSetup(t, { server: server.url });
  const pipe = join(folder, 'pipe');
  await promisify(execFile)('mkfifo', [pipe]);
  const writer = spawn('sh', ['-c', `cat "${configFile}" > "${pipe}"`]);
  t.after(() => writer.kill());
  const tapfix = startTapfix(t, ['run', '--config', pipe], { env });
  await tapfix.says('tapfix started');
  const { reason } = await tapfix.says('the configuration cannot be reloaded');
  assert.equal(reason, `${pipe} is a pipe or a device, not a file: it was read once, and changes to it are not seen`);
  const { ok, detail } = (await tapfix.readyz()).checks['config']!;
  assert.equal(ok, false);
  assert.match(detail, /^in force: \w{12}; .* is a pipe or a device, not a file/);
  tapfix.kill('SIGHUP');
  assert.doesNotMatch((await tapfix.page('/metrics')).text, /tapfix_config_reloads_total\{/);
  tapfix.kill('SIGTERM');
  assert.equal((await tapfix.ended()).code, 0);
});

test('a pipe in the place of the file: one clear line, and nothing waits for it', async (t) => {
  const server = await startApiServer(t, {});
  const { words, env, configFile } = await aSetup(t, { server: server.url });
  const tapfix = startTapfix(t, words, { env });
  await tapfix.says('tapfix started');
  const text = await readFile(configFile, 'utf8');
  await rm(configFile);
  await promisify(execFile)('mkfifo', [configFile]);
  const { reason } = await tapfix.says('configuration change refused, the old one stays');
  assert.equal(reason, `${configFile} is a pipe or a device, not a file`);
  await rm(configFile);
  await writeFile(configFile, text.replace('prod-eu', 'prod-us'));
  await tapfix.says('configuration changed');
  tapfix.kill('SIGTERM');
  assert.equal((await tapfix.ended()).code, 0);
});
