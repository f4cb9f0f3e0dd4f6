import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
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
