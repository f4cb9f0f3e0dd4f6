import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createAnswerBudget } from '../../src/approvals/answer-budget.ts';
import { createTelegram } from '../../src/channels/telegram/telegram.ts';
import { botToken, startFakeTelegram } from '../support/fake-telegram.ts';
import { aQuotaFix } from '../support/fixes.ts';
import { aChat } from '../unit/approvals/chat.ts';
import { until } from '../unit/channels/telegram-rig.ts';
import { forSeeds, type Random, randomOf } from './random.ts';

/* Telegram delivers at least once. Whatever it delivers twice, out of order and late is decided at most once. */

const silent = { debug() {}, info() {}, warn() {}, error() {} };
type Fake = Awaited<ReturnType<typeof startFakeTelegram>>;

/** A process: its channel, what decides behind it, and nothing that an earlier one remembered. */
function aProcess(t: TestContext, fake: Fake) {
  const chat = aChat('telegram', [aQuotaFix()]);
  const approvals: string[] = [];
  chat.hooks.beforePatch = () => void approvals.push('decided');
  const budget = createAnswerBudget({ clock: chat.clock, current: () => chat.config });
  const channel = createTelegram({
    token: async () => botToken,
    apiRoot: fake.apiRoot,
    chats: () => [],
    log: silent,
    clock: { now: chat.clock.now, sleep: () => new Promise((resolve) => setTimeout(resolve, 1)) },
  });
  const stop = new AbortController();
  const running = channel.run(
    {
      onPress: chat.approvals.onPress,
      onCommand: async (command) => budget.ofCommand(command, await chat.onCommand(command)),
      commands: [],
    },
    stop.signal,
  );
  const end = async (): Promise<void> => (stop.abort(), running);
  t.after(end);
  return { chat, approvals, end };
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  const rest = [...list];
  return list.map(() => rest.splice(random.int(0, rest.length - 1), 1)[0]!);
}

/** Several deliveries, each of everything twice and in any order; getMe fails now and then. */
async function deliverOften(fake: Fake, random: Random, { chat }: ReturnType<typeof aProcess>): Promise<void> {
  for (let n = random.int(2, 5); n > 0; n--) {
    if (random.chance(0.5)) fake.fail('getMe', { status: 500, body: '{"ok":false,"error_code":500}' });
    const every = fake.everyUpdate();
    fake.deliver(shuffled([...every, ...every], random));
    await until(fake.isWaiting);
    await chat.clock.advance(random.int(0, 4_000));
  }
}

async function aFake(t: TestContext): Promise<Fake> {
  const nowMs = aChat('telegram').clock.now();
  const fake = await startFakeTelegram({
    now: () => nowMs,
    limits: { burstInChat: Infinity, messagesAMinute: Infinity, callsASecond: Infinity },
  });
  t.after(() => fake.close());
  return fake;
}

const noise = (fake: Fake, random: Random): void => {
  for (const text of ['/help', '/x@other_bot', '/open@tapfix_bot', 'hello'])
    if (random.chance(0.5)) fake.write(text, { from: random.pick([123456789, 666]) });
};

test('one /approve, however often it arrives and whoever restarts meanwhile, is never its own confirmation', async (t) => {
  const asked = await forSeeds(40, async (seed) => {
    const random = randomOf(seed);
    const fake = await aFake(t);
    noise(fake, random);
    fake.write('/approve platform-hardening');
    noise(fake, random);
    let questions = 0;
    for (let lives = random.int(1, 3); lives > 0; lives--) {
      const process = aProcess(t, fake);
      await deliverOften(fake, random, process);
      assert.deepEqual(process.approvals, [], `seed ${seed}`);
      questions += process.chat.audit.filter(({ decision }) => decision === 'Asked').length;
      await process.end();
    }
    return questions;
  });
  assert.ok(
    asked.every((questions) => questions > 0),
    'each run asked',
  );
});

test('a second /approve, written when the question was there, decides once, however often both arrive', async (t) => {
  await forSeeds(40, async (seed) => {
    const random = randomOf(seed);
    const fake = await aFake(t);
    fake.write('/approve platform-hardening');
    const process = aProcess(t, fake);
    await until(fake.isWaiting);
    await deliverOften(fake, random, process);
    assert.deepEqual(process.approvals, [], `seed ${seed}`);
    fake.write('/approve platform-hardening');
    await until(() => process.approvals.length > 0 || process.chat.audit.length > 1);
    await deliverOften(fake, random, process);
    const { state } = process.chat.approval();
    const wasOpen = process.chat.audit.filter(({ decision }) => decision === 'Asked').length === 1;
    if (wasOpen) assert.deepEqual([state, process.approvals.length], ['Approved', 1], `seed ${seed}`);
    else assert.deepEqual([state, process.approvals.length], ['Pending', 0], `seed ${seed}: the question had run out`);
    await process.end();
  });
});

test('what was written more than two minutes ago is answered and decides nothing, in whatever order it arrives', async (t) => {
  await forSeeds(20, async (seed) => {
    const random = randomOf(seed);
    const fake = await aFake(t);
    for (let n = 0; n < 3; n++)
      fake.write(
        random.pick(['/approve platform-hardening', '/reject platform-hardening', '/ack platform-hardening']),
        {
          secondsAgo: random.int(121, 80_000),
        },
      );
    const process = aProcess(t, fake);
    await deliverOften(fake, random, process);
    assert.deepEqual(process.approvals, [], `seed ${seed}`);
    assert.deepEqual(
      process.chat.audit.map(({ reason }) => reason),
      ['TooLate', 'TooLate', 'TooLate'],
    );
    await until(() => fake.messages().length === 3);
    await process.end();
  });
});
