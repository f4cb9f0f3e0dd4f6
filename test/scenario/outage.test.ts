import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { botToken, startFakeTelegram } from '../support/fake-telegram.ts';
import { allWatches, freePort, startApiServer } from './support/api-server.ts';
import { aSetup, inAHurry, startTapfix, type Tapfix } from './support/tapfix.ts';

const trouble = 'telegram does not work';
const wrongToken = '987654321:AAWrongWrongWrongWrongWrongWrongWrongWro';

const isReady = (tapfix: Tapfix) => tapfix.until('readiness', async () => (await tapfix.readyz()).status === 200);

async function assertSilentAbout(tapfix: Tapfix, secrets: readonly string[]): Promise<void> {
  const pages = await Promise.all(['/readyz', '/metrics'].map((path) => tapfix.page(path)));
  const everything = [tapfix.stdout(), tapfix.stderr(), ...pages.map(({ text }) => text)].join('\n');
  for (const secret of secrets) assert.equal(everything.includes(secret), false, 'a token was shown');
}

async function withTelegram(t: TestContext) {
  const telegram = await startFakeTelegram({ pollMs: 200 });
  t.after(() => telegram.close());
  const { url } = await startApiServer(t);
  const channels = { telegram: { chat: -100500, apiRoot: telegram.apiRoot } };
  const setup = await aSetup(t, { server: url, channels });
  const tokenFile = join(setup.folder, 'token');
  /** As a whole, as kubelet does it: nobody reads half a token. */
  async function writeToken(token: string): Promise<void> {
    await writeFile(`${tokenFile}.next`, `${token}\n`);
    await rename(`${tokenFile}.next`, tokenFile);
  }
  return { ...setup, telegram, writeToken, env: { ...setup.env, TELEGRAM_BOT_TOKEN_FILE: tokenFile } };
}

describe('what is away is waited for', { concurrency: 3 }, () => {
  test('an API server that is not there yet: alive, not ready, and connected once it is up', async (t) => {
    const port = await freePort();
    const { words, env } = await aSetup(t, { server: `http://127.0.0.1:${port}` });
    const tapfix = startTapfix(t, words, { env, ...inAHurry });
    const line = await tapfix.says('not connected to the API server, trying again');
    assert.equal(line.level, 'error');
    assert.match(String(line['err']), new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED`));

    assert.equal((await tapfix.page('/healthz')).status, 200);
    const { status, checks } = await tapfix.readyz();
    assert.equal(status, 503);
    assert.equal(checks['api-server']?.ok, false);
    assert.match(checks['api-server'].detail, /ECONNREFUSED/);

    await sleep(1_200); // time for more attempts, of which nothing is to be heard
    const server = await startApiServer(t, { port });
    assert.equal((await tapfix.says('tapfix started'))['identity'], 'ada@example.com');
    await isReady(tapfix);
    await tapfix.until('watches', () => server.watched().join() === allWatches.join());
    assert.equal(tapfix.logged('not connected to the API server, trying again').length, 1, 'said once');
    assert.equal(tapfix.stderr(), '');
  });

  test('it is not ready before everything was listed', async (t) => {
    const { url } = await startApiServer(t, { stuck: /\/pods$/ });
    const { words, env } = await aSetup(t, { server: url });
    const tapfix = startTapfix(t, words, { env });
    await tapfix.says('operations server listens');
    const seen = new Set<number>();
    await tapfix.until('the first lists', async () => {
      const { status, checks } = await tapfix.readyz();
      seen.add(status);
      return checks['watch-events']?.ok === true && checks['watch-remediations']?.ok === true;
    });
    const { checks } = await tapfix.readyz();
    assert.deepEqual({ ok: checks['watch-pods']?.ok, seen: [...seen] }, { ok: false, seen: [503] });
    assert.equal(checks['watch-pods']?.detail, 'not listed yet');
  });

  test('a wrong Telegram token: one line, ready all the same, and right as soon as it is corrected', async (t) => {
    const { words, env, telegram, writeToken } = await withTelegram(t);
    await writeToken(wrongToken);
    const tapfix = startTapfix(t, words, { env, ...inAHurry });
    const line = await tapfix.says(trouble);
    assert.equal(line['kind'], 'TokenRefused');
    assert.match(String(line['reason']), /refused the bot token \(401 Unauthorized\)/);
    await isReady(tapfix);
    const { checks } = await tapfix.readyz();
    assert.equal(checks['channel-telegram']?.ok, false);
    assert.match(checks['channel-telegram'].detail, /refused the bot token/);
    await tapfix.until('second attempt', () => telegram.calls.length > 1);

    await writeToken(botToken);
    await tapfix.says('telegram works again');
    assert.equal((await tapfix.readyz()).checks['channel-telegram']?.ok, true);
    assert.equal(tapfix.logged(trouble).length, 1, 'said once');
    await assertSilentAbout(tapfix, [wrongToken, botToken]);
  });

  test('a missing Telegram token: one line that says where it belongs, and right as soon as it is there', async (t) => {
    const { words, env, telegram, writeToken } = await withTelegram(t);
    const tapfix = startTapfix(t, words, { env, ...inAHurry });
    const line = await tapfix.says(trouble);
    assert.equal(line['kind'], 'NoToken');
    assert.match(String(line['reason']), /TELEGRAM_BOT_TOKEN_FILE names .*, which does not exist \(yet\) or is empty/);
    await isReady(tapfix);
    const { checks } = await tapfix.readyz();
    assert.match(checks['channel-telegram']?.detail ?? '', /which does not exist \(yet\) or is empty/);
    assert.deepEqual(telegram.calls, []);

    await writeToken(botToken);
    await tapfix.says('telegram works again');
    assert.equal(tapfix.logged(trouble).length, 1, 'said once');
    await assertSilentAbout(tapfix, [botToken]);
  });
});
