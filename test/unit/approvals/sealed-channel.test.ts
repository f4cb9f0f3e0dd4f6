import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createForeignPresses } from '../../../src/approvals/foreign-presses.ts';
import { sealed } from '../../../src/approvals/sealed-channel.ts';
import type { Answer, Channel, Handlers, Press } from '../../../src/channels/channel.ts';
import type { Message } from '../../../src/notices/cards/message.ts';
import { encodePress, installationId } from '../../../src/notices/payload.ts';
import { aFix } from '../../support/fixes.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { card } from '../channels/telegram-rig.ts';

const [ours, theirs] = [installationId('a1b2', 'tapfix'), installationId('c3d4', 'tapfix')];
const buttonsOf = ({ cards, buttons = [] }: Message): string[] =>
  [...cards.flatMap((one) => one.buttons), ...buttons].flat().map(({ data }) => data);

/** One bot that two installations use: presses reach either of them. */
function aBot(own: string, onPress: Handlers['onPress']) {
  const clock = fakeClock();
  const shown: Message[] = [];
  const audited: unknown[] = [];
  let handlers: Handlers | undefined;
  const vendor: Channel = {
    name: 'telegram',
    post: async (_place, message) => (shown.push(message), '1'),
    edit: async (_place, _id, message) => void shown.push(message),
    run: async (given) => void (handlers = given),
    health: () => ({ ok: true, detail: '' }),
  };
  const foreign = createForeignPresses({
    clock,
    channels: () => new Map(),
    audit: (_interaction, said) => (audited.push(said.ok || said.reason), { say: said.say, alert: !said.ok }),
  });
  const channel = sealed(vendor, { own: [own], onForeign: foreign.onPress });
  void channel.run({ onPress, onCommand: async () => answer, commands: [] }, new AbortController().signal);
  const who = { channel: 'telegram', by: 'telegram:1', name: 'x', place: { chat: '-1' } } as const;
  const press = (data: string): Promise<Answer> => handlers!.onPress({ ...who, message: '1', data });
  const write = (): Promise<Answer> => handlers!.onCommand({ ...who, id: '1', text: 'open' });
  return { clock, channel, shown, audited, press, write, signs: foreign.signs };
}
const answer: Answer = { say: '', alert: false, show: card };

test('every button that leaves names its installation, and comes back as it was', async () => {
  const presses: Press[] = [];
  const bot = aBot(ours, async (press) => (presses.push(press), answer));
  await bot.channel.post({ chat: '-1' }, card);
  await bot.channel.edit({ chat: '-1' }, '1', {
    ...card,
    buttons: [[{ label: 'All', data: encodePress('d', aFix()) }]],
  });
  const everything = [...bot.shown, (await bot.press(encodePress('a', aFix()))).show!, (await bot.write()).show!];
  for (const message of everything) assert.ok(buttonsOf(message).every((data) => data.endsWith(ours)));
  assert.equal(everything.flatMap(buttonsOf).length, 4 * buttonsOf(card).length + 1);
  presses.length = 0;
  for (const data of buttonsOf(bot.shown[0]!)) await bot.press(data);
  assert.deepEqual(
    presses.map(({ data }) => data),
    buttonsOf(card),
  );
});

test('a press on a card of another installation that shares this bot is answered, audited, and decides nothing', async () => {
  let decided = 0;
  const bot = aBot(theirs, async () => ((decided += 1), answer));
  const data = `${encodePress('a', aFix())}${ours}`;
  assert.deepEqual(await bot.press(data), {
    say: 'This card belongs to another tapfix installation that shares this bot; nothing was done.',
    alert: true,
  });
  assert.deepEqual([decided, bot.audited], [0, ['OtherInstallation']]);
});

test('three of them are a sign that the bot is shared, two are not; a day without one and it is over', async () => {
  const bot = aBot(theirs, async () => answer);
  const data = `${encodePress('a', aFix())}${ours}`;
  await bot.press(data);
  await bot.press(data);
  assert.deepEqual(bot.signs(), []);
  await bot.clock.advance(3_600_000);
  const sinceMs = bot.clock.now();
  await bot.press(data);
  await bot.clock.advance(60_000);
  await bot.press(data);
  assert.deepEqual(bot.signs(), [{ channel: 'telegram', sign: 'press', sinceMs }]);
  await bot.clock.advance(86_400_000);
  assert.deepEqual(bot.signs(), []);
});
