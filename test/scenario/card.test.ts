import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFix } from '../support/fixes.ts';
import { startApiServer } from './support/api-server.ts';
import { aSetup, startTapfix } from './support/tapfix.ts';

test('a proposal in the cluster becomes a card on the console, once', async (t) => {
  const now = new Date().toISOString();
  const fix = aFix();
  fix.metadata.creationTimestamp = now;
  const server = await startApiServer(t, { remediations: [fix] });
  const { words, env } = await aSetup(t, { server: server.url });
  const tapfix = startTapfix(t, [...words, '--role', 'watcher'], { env });
  const patched = (): string[] => server.seen.filter((call) => /^PATCH .*\/notices\/[^/]+\/status$/.test(call));
  await tapfix.until('completed notice', () => patched().length > 0);

  const card = tapfix.stdout();
  for (const words of ['checkout', 'prod-eu', 'Container app exits 1', 'Fix: roll back to 1.41'])
    assert(card.includes(words), `no "${words}" in:\n${card}`);
  assert.equal(card.split('🔴').length - 1, 1);
  assert.equal(server.seen.filter((call) => /^POST .*\/notices$/.test(call)).length, 1);
  tapfix.kill('SIGTERM');
  assert.equal((await tapfix.ended()).code, 0);
});
