import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { startFakeTelegram, botToken } from '../support/fake-telegram.ts';
import { startApiServer } from './support/api-server.ts';
import { aFolder, aSetup, root, startTapfix } from './support/tapfix.ts';

interface Coverage {
  result: { url: string }[];
}

/** The files of dist that were loaded: V8's coverage names every script that ran. */
async function loadedIn(coverageFolder: string): Promise<string[]> {
  const reports = await readdir(coverageFolder);
  assert.equal(reports.length, 1, 'one process, one report');
  const { result } = JSON.parse(await readFile(join(coverageFolder, reports[0]!), 'utf8')) as Coverage;
  return result.flatMap(({ url }) => (url.includes('/dist/') ? [basename(url)] : []));
}

/** Found by what is in it, whatever the build calls the file. */
async function vendorFiles(): Promise<string[]> {
  const files = await readdir(join(root, 'dist'));
  const texts = await Promise.all(files.map((file) => readFile(join(root, 'dist', file), 'utf8')));
  return files.filter((_file, index) => texts[index]!.includes('GrammyError'));
}

async function loadedWith(t: TestContext, channels: object): Promise<string[]> {
  const folder = await aFolder(t);
  const { url } = await startApiServer(t);
  const { words, env } = await aSetup(t, { server: url, channels });
  const secrets = { TELEGRAM_BOT_TOKEN: botToken, NODE_V8_COVERAGE: folder };
  const tapfix = startTapfix(t, words, { env: { ...env, ...secrets } });
  await tapfix.until('readiness', async () => (await tapfix.readyz()).status === 200);
  tapfix.kill('SIGTERM');
  assert.equal((await tapfix.ended()).code, 0);
  return loadedIn(folder);
}

describe('what is not used is not loaded', { concurrency: 3 }, () => {
  test("with the console alone, Telegram's library stays on disk", async (t) => {
    const vendor = await vendorFiles();
    assert.equal(vendor.length, 1, "Telegram's library is in one file of its own");
    const loaded = await loadedWith(t, { console: {} });
    assert(loaded.includes('main.js'));
    assert.deepEqual(
      loaded.filter((file) => vendor.includes(file)),
      [],
    );
  });

  test('with Telegram configured it is loaded (so the test above can see it)', async (t) => {
    const telegram = await startFakeTelegram({ pollMs: 200 });
    t.after(() => telegram.close());
    const loaded = await loadedWith(t, { telegram: { chat: -100500, apiRoot: telegram.apiRoot } });
    assert(loaded.includes((await vendorFiles())[0]!));
  });

  test('--version loads neither the program nor a Kubernetes client', async (t) => {
    const folder = await aFolder(t);
    const startMs = performance.now();
    const { stdout } = await startTapfix(t, ['--version'], { env: { NODE_V8_COVERAGE: folder } }).ended();
    t.diagnostic(`tapfix --version took ${Math.round(performance.now() - startMs)} ms, with coverage`);
    assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
    const loaded = await loadedIn(folder);
    const texts = await Promise.all(loaded.map((file) => readFile(join(root, 'dist', file), 'utf8')));
    assert.equal(
      texts.some((text) => /class KubeConfig\b|KubeConfig = class/.test(text)),
      false,
    );
  });
});
