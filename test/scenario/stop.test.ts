import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { botToken, startFakeTelegram } from '../support/fake-telegram.ts';
import { aFix } from '../support/fixes.ts';
import { allWatches, startApiServer } from './support/api-server.ts';
import { aSetup, startTapfix, type Setup, type Tapfix } from './support/tapfix.ts';

async function start(t: TestContext, setup: Setup, token = botToken): Promise<Tapfix> {
  const { words, env } = await aSetup(t, setup);
  return startTapfix(t, words, { env: { ...env, TELEGRAM_BOT_TOKEN: token } });
}

async function unreachable(t: TestContext): Promise<Tapfix> {
  const tapfix = await start(t, { server: 'http://127.0.0.1:1' });
  await tapfix.says('not connected to the API server, trying again');
  return tapfix;
}

async function unanswered(t: TestContext): Promise<Tapfix> {
  const server = await startApiServer(t, { stuck: /./ });
  const tapfix = await start(t, { server: server.url });
  await tapfix.until('first request', () => server.seen.length > 0);
  return tapfix;
}

async function watching(t: TestContext): Promise<Tapfix> {
  const server = await startApiServer(t);
  const tapfix = await start(t, { server: server.url });
  await tapfix.until('open watches', () => server.watched().length === allWatches.length);
  return tapfix;
}

async function polling(t: TestContext, token = botToken): Promise<Tapfix> {
  const telegram = await startFakeTelegram();
  t.after(() => telegram.close());
  const server = await startApiServer(t);
  const channels = { telegram: { chat: -100500, apiRoot: telegram.apiRoot } };
  const tapfix = await start(t, { server: server.url, channels }, token);
  const attempts = token === botToken ? 2 : 1; // the second poll is the one that stays open
  await tapfix.until('poll', () => telegram.calls.length >= attempts && server.watched().length === allWatches.length);
  return tapfix;
}

/** The controller's own look at left-over rights gets no answer: something that is under way when we stop. */
async function busy(t: TestContext): Promise<Tapfix> {
  const server = await startApiServer(t, { stuck: /\/rolebindings$/ });
  const tapfix = await start(t, { server: server.url });
  await tapfix.until('stuck request', () => server.seen.some((call) => call.endsWith('/rolebindings')));
  return tapfix;
}

interface State {
  name: string;
  reach: (t: TestContext) => Promise<Tapfix>;
  signals: NodeJS.Signals[];
  /** Something has to be cut off. */
  isCutShort?: true;
}
const states: State[] = [
  { name: 'no API server can be reached', reach: unreachable, signals: ['SIGTERM', 'SIGINT'] },
  { name: 'the API server does not answer', reach: unanswered, signals: ['SIGTERM'] },
  { name: 'it is connected and watching', reach: watching, signals: ['SIGTERM', 'SIGINT'] },
  { name: 'a Telegram poll is open', reach: polling, signals: ['SIGTERM', 'SIGINT'] },
  { name: 'Telegram refuses the token', reach: (t) => polling(t, '1:wrong'), signals: ['SIGTERM'] },
  { name: 'a call is under way that gets no answer', reach: busy, signals: ['SIGTERM'], isCutShort: true },
];

describe('stopping', { concurrency: 4 }, () => {
  for (const { name, reach, signals, isCutShort } of states) {
    for (const signal of signals) {
      test(`${signal} while ${name} ends it within 5 s`, async (t) => {
        const tapfix = await reach(t);
        tapfix.kill(signal);
        const { code, stdout, stderr, tookMs } = await tapfix.ended();
        assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
        assert(tookMs < 5_000, `it took ${Math.round(tookMs)} ms`);
        const last = isCutShort ? /"msg":"tapfix stopped before [^"]*"\}\n$/ : /"msg":"tapfix stopped"\}\n$/;
        assert.match(stdout, last);
      });
    }
  }

  test('SIGTERM while a message is being sent: it is recorded, so that the next start does not repeat it', async (t) => {
    const telegram = await startFakeTelegram({ sendMs: 700 });
    t.after(() => telegram.close());
    const fix = aFix();
    fix.metadata.creationTimestamp = new Date().toISOString();
    const server = await startApiServer(t, { remediations: [fix] });
    const channels = { telegram: { chat: -100500, apiRoot: telegram.apiRoot } };
    const tapfix = await start(t, { server: server.url, channels });
    await tapfix.until('message on its way', () => telegram.calls.includes('sendMessage'));
    tapfix.kill('SIGTERM');
    const { code } = await tapfix.ended();
    assert.equal(code, 0);
    assert.equal(server.seen.filter((call) => /^PATCH .*\/notices\/[^/]+\/status$/.test(call)).length, 1);
  });

  for (const [signal, exitCode] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    test(`a second ${signal} is not made to wait`, async (t) => {
      const tapfix = await busy(t);
      tapfix.kill(signal);
      await new Promise((resolve) => setTimeout(resolve, 300)); // two at once would be one
      tapfix.kill(signal);
      const { code, stderr, tookMs } = await tapfix.ended();
      assert.deepEqual({ code, stderr }, { code: exitCode, stderr: '' });
      assert(tookMs < 2_000, `it took ${Math.round(tookMs)} ms`);
    });
  }
});
