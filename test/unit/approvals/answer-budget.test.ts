import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerWaitMs, createAnswerBudget } from '../../../src/approvals/answer-budget.ts';
import type { Answer, Command, Press } from '../../../src/channels/channel.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aChannel, card, place, until } from '../channels/telegram-rig.ts';
import { aChat } from './chat.ts';

const budgetOf = (chat: ReturnType<typeof aChat>) =>
  createAnswerBudget({ clock: chat.clock, current: () => chat.config });

test('25 times /help of a stranger use up nothing: an alert after them is posted at once, and Telegram never says 429', async (t) => {
  const chat = aChat('telegram');
  const budget = budgetOf(chat);
  const { fake, channel, run } = await aChannel(t, { now: () => chat.clock.now() });
  let handled = 0;
  const onCommand = async (command: Command): Promise<Answer> => {
    const answer = budget.ofCommand(command, await chat.onCommand(command));
    handled += 1;
    return answer;
  };
  run(undefined, { onCommand });
  for (let n = 0; n < 25; n++) fake.write('/help', { from: 666 });
  fake.write('/help');
  await until(() => handled === 26);
  await until(() => fake.messages().length === 3);
  await channel.post(place, card);
  const texts = fake.messages().map(({ text }) => text);
  assert.equal(texts.filter((text) => text.includes('What can be written')).length, 3, 'two to them, one to Ada');
  assert.equal(texts.filter((text) => text.includes('The next answer to you is in 60 s.')).length, 1);
  assert.match(texts.at(-1)!, /checkout/);
  assert.equal(fake.refused(), 0);
});

test('a stranger reads the first refusal, and silence after the second; a decision is recorded without an answer', async () => {
  const chat = aChat('telegram');
  const budget = budgetOf(chat);
  const ask = async (text: string, by: string): Promise<string> => {
    const command = { channel: 'telegram', by, name: 'x', place: { chat: '-100500' }, id: text, text } as const;
    return budget.ofCommand(command, await chat.onCommand(command)).say;
  };
  assert.equal(
    await ask('approve checkout', 'telegram:666'),
    "You are not on the approvers' list for shop (your id is 666).",
  );
  assert.match(
    await ask('reject checkout', 'telegram:666'),
    /^You are not on the approvers' list for shop \(your id is 666\)\. The next answer to/,
  );
  assert.equal(await ask('ack checkout', 'telegram:666'), '');
  for (let n = 0; n < 8; n++) assert.notEqual(await ask('nonsense', chat.who.ada), '');
  assert.equal(await ask('reject checkout', chat.who.ada), '');
  assert.equal(chat.approval().by, chat.who.ada);
  await chat.clock.advance(60_000);
  assert.equal(
    await ask('approve checkout', 'telegram:666'),
    "You are not on the approvers' list for shop (your id is 666).",
  );
});

const at = (by: string, chat = 'here', isKnown = false) => ({ by, chat, isKnown });
const times = (n: number, who: ReturnType<typeof at>, atMs = 1_000) =>
  Array.from({ length: n }, () => ({ ...who, atMs }));
const rows = [
  { name: 'nobody asked before', answered: [], asker: at('eve'), waitMs: 0 },
  { name: 'a stranger, for the second time', answered: times(1, at('eve')), asker: at('eve'), waitMs: 0 },
  { name: 'a stranger, for the third time', answered: times(2, at('eve')), asker: at('eve'), waitMs: 59_000 },
  { name: 'the same after a minute', answered: times(2, at('eve'), -58_000), asker: at('eve'), waitMs: 0 },
  {
    name: 'the fifth stranger',
    answered: [1, 2, 3, 4].flatMap((n) => times(1, at(`s${n}`))),
    asker: at('eve'),
    waitMs: 59_000,
  },
  {
    name: 'an approver after many strangers',
    answered: times(4, at('eve')),
    asker: at('ada', 'here', true),
    waitMs: 0,
  },
  { name: 'a stranger in another chat', answered: times(4, at('eve', 'there')), asker: at('mallory'), waitMs: 0 },
  {
    name: 'an approver, for the ninth time',
    answered: times(8, at('ada', 'here', true)),
    asker: at('ada', 'here', true),
    waitMs: 59_000,
  },
  {
    name: 'a chat that had its twelve',
    answered: [1, 2, 3].flatMap((n) => times(4, at(`a${n}`, 'here', true))),
    asker: at('ada', 'here', true),
    waitMs: 59_000,
  },
  {
    name: 'a clock that was set back an hour since',
    answered: times(2, at('eve'), 3_600_000),
    asker: at('eve'),
    waitMs: 0,
  },
];
for (const { name, answered, asker, waitMs } of rows)
  test(`how long until the next answer: ${name}`, () => assert.equal(answerWaitMs(answered, asker, 2_000), waitMs));

test('Details have the same budget, what only changes a message in its place has it for strangers', async () => {
  const chat = aChat('telegram');
  const clock = fakeClock();
  const budget = createAnswerBudget({ clock, current: () => chat.config });
  const press = (by: string): Press => ({ channel: 'telegram', by, name: 'x', place, message: '1', data: 'd' });
  const details: Answer = { say: '', alert: false, show: card };
  const shown = (by: string, answer = details): boolean => budget.ofPress(press(by), answer).show !== undefined;
  assert.deepEqual(
    [1, 2, 3].map(() => shown('telegram:666')),
    [true, true, false],
  );
  assert.match(budget.ofPress(press('telegram:666'), details).say, /^Too many answers at once/);
  const page = { ...details, inPlace: true };
  assert.deepEqual(
    Array.from({ length: 30 }, () => shown(chat.who.ada, page)),
    Array.from({ length: 30 }, () => true),
  );
  assert.equal(shown('telegram:666', page), false);
  const decided = { ...details, say: 'Approved; it starts now.' };
  for (let n = 0; n < 8; n++) shown(chat.who.ada);
  assert.deepEqual(budget.ofPress(press(chat.who.ada), decided), { say: decided.say, alert: false });
  const toast = { say: 'no', alert: true };
  assert.equal(budget.ofPress(press('telegram:666'), toast), toast, 'what shows nothing costs nothing');
});

test('on a terminal nobody counts', () => {
  const budget = createAnswerBudget({ clock: fakeClock(), current: () => aChat('telegram').config });
  const command: Command = {
    channel: 'console',
    by: 'ada',
    name: 'ada',
    place: { chat: 'console' },
    id: '1',
    text: '',
  };
  const answer = { say: 'ok', alert: false };
  for (let n = 0; n < 30; n++) assert.equal(budget.ofCommand(command, answer), answer);
});
