import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { appToken, botToken, startFakeSlack } from '../support/fake-slack.ts';
import * as telegram from '../support/fake-telegram.ts';
import { aFix } from '../support/fixes.ts';
import { startApiServer } from './support/api-server.ts';
import { aSetup, inAHurry, startTapfix, type Setup, type Tapfix } from './support/tapfix.ts';

const tokens = { SLACK_BOT_TOKEN: botToken, SLACK_APP_TOKEN: appToken, TELEGRAM_BOT_TOKEN: telegram.botToken };

async function slackOnly(t: TestContext) {
  const fake = await startFakeSlack();
  t.after(() => fake.close());
  const { url } = await startApiServer(t);
  const setup = await aSetup(t, { server: url, channels: { slack: { channel: 'C0123456789', apiUrl: fake.apiUrl } } });
  return { fake, ...setup };
}

const channelOf = async (tapfix: Tapfix) => (await tapfix.readyz()).checks['channel-slack'];
const isReceiving = (tapfix: Tapfix) =>
  tapfix.until('receiving', async () => (await channelOf(tapfix))?.detail === 'receiving');

describe('Slack', { concurrency: 3 }, () => {
  test('as the only channel: up, shown as up, and stopped within 5 s', async (t) => {
    const { fake, words, env } = await slackOnly(t);
    const tapfix = startTapfix(t, words, { env: { ...env, ...tokens } });
    await isReceiving(tapfix);
    assert.match((await tapfix.page('/metrics')).text, /tapfix_channel_up\{channel="slack"\} 1/);
    tapfix.kill('SIGTERM');
    const { code, stdout, stderr, tookMs } = await tapfix.ended();
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /"msg":"tapfix stopped"\}\n$/);
    assert(tookMs < 5_000, `it took ${Math.round(tookMs)} ms`);
    assert.equal(fake.count(), 0);
    for (const token of [botToken, appToken]) assert.equal(stdout.includes(token), false, 'a token was shown');
  });

  test('missing tokens: where they belong, ready all the same, and right as soon as they are there', async (t) => {
    const { fake, folder, words, env } = await slackOnly(t);
    const files = { SLACK_BOT_TOKEN_FILE: join(folder, 'bot'), SLACK_APP_TOKEN_FILE: join(folder, 'app') };
    const tapfix = startTapfix(t, words, { env: { ...env, ...files }, ...inAHurry });
    const line = await tapfix.says('slack does not work');
    assert.equal(line['kind'], 'NoToken');
    assert.match(String(line['reason']), /SLACK_APP_TOKEN_FILE names .*, which does not exist \(yet\) or is empty/);
    assert.match(String((await tapfix.says('slack cannot be written to'))['reason']), /SLACK_BOT_TOKEN_FILE names/);
    await tapfix.until('readiness', async () => (await tapfix.readyz()).status === 200);
    assert.match((await channelOf(tapfix))?.detail ?? '', /SLACK_APP_TOKEN_FILE/);
    assert.deepEqual(fake.calls, []);
    await writeFile(files.SLACK_BOT_TOKEN_FILE, `${botToken}\n`);
    await writeFile(files.SLACK_APP_TOKEN_FILE, `${appToken}\n`);
    await isReceiving(tapfix);
    assert.equal(tapfix.logged('slack does not work').length, 1, 'said once');
  });

  const away: { name: string; silent: 'slack' | 'telegram' }[] = [
    { name: 'Slack does not answer: Telegram has the card at once', silent: 'slack' },
    { name: 'Telegram does not answer: Slack has the card at once', silent: 'telegram' },
  ];
  for (const { name, silent } of away) {
    test(name, async (t) => {
      const [slack, chat] = [await startFakeSlack(), await telegram.startFakeTelegram()];
      t.after(() => Promise.all([slack.close(), chat.close()]));
      const fix = aFix();
      fix.metadata.creationTimestamp = new Date().toISOString();
      const { url } = await startApiServer(t, { remediations: [fix] });
      const channels: Setup['channels'] = {
        slack: { channel: 'C0123456789', apiUrl: slack.apiUrl },
        telegram: { chat: -100500, apiRoot: silent === 'telegram' ? await aBlackHole(t) : chat.apiRoot },
      };
      if (silent === 'slack') for (let n = 0; n < 20; n++) slack.fail('chat.postMessage', 'silence');
      const { words, env } = await aSetup(t, { server: url, channels });
      const tapfix = startTapfix(t, words, { env: { ...env, ...tokens } });
      const arrived = () => (silent === 'slack' ? chat.messages().length : slack.messages().length);
      const startMs = performance.now();
      await tapfix.until('card', () => arrived() === 1);
      t.diagnostic(`the card was there after ${Math.round(performance.now() - startMs)} ms, start included`);
      assert.equal(silent === 'slack' ? slack.messages().length : chat.messages().length, 0);
      assert.deepEqual(tapfix.logged('message not sent yet'), [], 'the other call was still under way');
    });
  }
});

/** Takes every connection and never says a word. */
async function aBlackHole(t: TestContext): Promise<string> {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
