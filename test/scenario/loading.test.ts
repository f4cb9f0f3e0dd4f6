import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import * as slack from '../support/fake-slack.ts';
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

/** A word that is in each vendor's library, and nowhere else. */
const marks = { Telegram: 'GrammyError', Slack: 'SocketModeReceiver' } as const;
const vendors = ['Telegram', 'Slack'] as const;

/** Found by what is in it, whatever the build calls the file. */
async function vendorFiles(vendor: keyof typeof marks): Promise<string[]> {
  const files = await readdir(join(root, 'dist'));
  const texts = await Promise.all(files.map((file) => readFile(join(root, 'dist', file), 'utf8')));
  return files.filter((_file, index) => texts[index]!.includes(marks[vendor]));
}

async function loadedWith(t: TestContext, channels: object): Promise<string[]> {
  const folder = await aFolder(t);
  const { url } = await startApiServer(t);
  const { words, env } = await aSetup(t, { server: url, channels });
  const tokens = { TELEGRAM_BOT_TOKEN: botToken, SLACK_BOT_TOKEN: slack.botToken, SLACK_APP_TOKEN: slack.appToken };
  const tapfix = startTapfix(t, words, { env: { ...env, ...tokens, NODE_V8_COVERAGE: folder } });
  await tapfix.until('readiness', async () => (await tapfix.readyz()).status === 200);
  tapfix.kill('SIGTERM');
  assert.equal((await tapfix.ended()).code, 0);
  return loadedIn(folder);
}

describe('what is not used is not loaded', { concurrency: 3 }, () => {
  const loadedOf = async (loaded: readonly string[]): Promise<string[]> => {
    const files = await Promise.all(vendors.map(vendorFiles));
    return vendors.filter((_vendor, index) => files[index]!.some((file) => loaded.includes(file)));
  };

  test('with the console alone, the libraries of Telegram and Slack stay on disk', async (t) => {
    for (const vendor of vendors)
      assert.equal((await vendorFiles(vendor)).length, 1, `${vendor} in one file of its own`);
    const loaded = await loadedWith(t, { console: {} });
    assert(loaded.includes('main.js'));
    assert.deepEqual(await loadedOf(loaded), []);
  });

  test('with Telegram configured only that is loaded', async (t) => {
    const telegram = await startFakeTelegram({ pollMs: 200 });
    t.after(() => telegram.close());
    const loaded = await loadedWith(t, { telegram: { chat: -100500, apiRoot: telegram.apiRoot } });
    assert.deepEqual(await loadedOf(loaded), ['Telegram']);
  });

  test('with Slack configured only that is loaded', async (t) => {
    const fake = await slack.startFakeSlack();
    t.after(() => fake.close());
    const loaded = await loadedWith(t, { slack: { channel: 'C0123456789', apiUrl: fake.apiUrl } });
    assert.deepEqual(await loadedOf(loaded), ['Slack']);
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
