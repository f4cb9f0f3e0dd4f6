import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, Press } from '../../../../src/channels/channel.ts';
import { tooManyRequests } from '../../../support/fake-telegram.ts';
import { aChannel, card, later, place, until } from '../telegram-rig.ts';

for (const fault of [{ status: 502, body: 'Bad Gateway' }, tooManyRequests(1), 'hang up'] as const)
  test(`an answer that got lost is given again: ${JSON.stringify(fault)}`, async (t) => {
    const { fake, run, slept, said } = await aChannel(t);
    run(async () => ({ say: "You are not on the approvers' list.", alert: true }));
    fake.fail('answerCallbackQuery', fault);
    fake.press('a:data');
    await until(() => fake.answers.length === 1);
    assert.equal(fake.answers[0]!.text, "You are not on the approvers' list.");
    assert.ok(
      slept.some((ms) => ms >= 1_000 && ms <= 3_000),
      slept.join(),
    );
    assert.deepEqual(
      said().filter((line) => line === 'press not answered'),
      [],
    );
  });

test('an answer that cannot be given is given up after three tries', async (t) => {
  const { fake, run, said } = await aChannel(t);
  run();
  for (let n = 0; n < 3; n++) fake.fail('answerCallbackQuery', 'hang up');
  fake.press('a:data');
  await until(() => said().includes('press not answered'));
  assert.equal(fake.calls.filter((call) => call === 'answerCallbackQuery').length, 3);
});

const shows: Answer = { say: '', alert: false, show: card };
const said: Answer = { say: 'Snoozed until 04:12.', alert: false };
const nothing = async (): Promise<Answer> => said;

test('what an answer shows is a reply to the pressed message, without a sound', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  await channel.post(place, card);
  run(async () => shows);
  fake.press('d:data');
  await until(() => fake.messages().length === 2);
  const { text, silent, replyTo, buttons } = fake.messages()[1]!;
  assert.match(text, /^🔴 checkout is down/);
  assert.deepEqual({ silent, replyTo, pressable: buttons.length }, { silent: true, replyTo: 4711, pressable: 5 });
  assert.deepEqual(
    fake.answers.map(({ text }) => text),
    [''],
    'and the spinner ends',
  );
});

test('pressed on what was shown, that is edited instead; the press says that we wrote it', async (t) => {
  const { fake, channel, run } = await aChannel(t);
  await channel.post(place, card);
  const presses: Press[] = [];
  run(async (press) => (presses.push(press), { ...shows, show: later, inPlace: true }));
  fake.press('p:2', { message: 4711 });
  await until(() => fake.messages()[0]!.buttons.length === 0);
  assert.equal(fake.messages().length, 1);
  fake.press('p:2', { message: 99 });
  await until(() => presses.length === 2);
  assert.deepEqual(
    presses.map(({ ours }) => ours),
    [true, undefined],
  );
});

test('an answer is tried again when Telegram asks to wait, and given up when it refuses', async (t) => {
  const { fake, run, slept, lines } = await aChannel(t);
  run(nothing, { onCommand: async () => said });
  fake.fail('sendMessage', tooManyRequests(2));
  fake.write('/status');
  await until(() => fake.messages().length === 1);
  assert.ok(slept.includes(2_000));
  fake.write('/status', { chat: '-100999' });
  await until(() => lines.length === 1);
  assert.deepEqual(lines[0]!.message, 'command not answered');
});

test('what could not be shown is known to be unseen, for a press and for a command', async (t) => {
  const { fake, channel, run, said } = await aChannel(t);
  const message = Number(await channel.post(place, card));
  let unseen = 0;
  const answer: Answer = { ...shows, onUnseen: () => void unseen++ };
  run(async () => answer, { onCommand: async () => answer });
  fake.press('d:data', { message });
  await until(() => fake.messages().length === 2);
  assert.equal(unseen, 0);
  for (let n = 0; n < 3; n++) fake.fail('sendMessage', 'hang up');
  fake.press('d:data', { message });
  await until(() => said().includes('press not answered'));
  for (let n = 0; n < 3; n++) fake.fail('sendMessage', 'hang up');
  fake.write('/approve');
  await until(() => said().includes('command not answered'));
  assert.equal(unseen, 2);
});
