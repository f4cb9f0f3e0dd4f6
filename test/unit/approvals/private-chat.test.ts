import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createCommands } from '../../../src/approvals/commands.ts';
import type { Place } from '../../../src/channels/channel.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { aConfig, aFix, aNoticeOf } from '../../support/fixes.ts';
import { aChannel, card, until } from '../channels/telegram-rig.ts';
import { aBooth } from './booth.ts';

const [ada, ben] = ['123456789', '222'];

/** The card is in Ada's own chat with the bot; Ben, who may approve as well, has one of his own. */
async function aPrivateChat(t: TestContext) {
  const rig = await aChannel(t, { known: [ada, ben] });
  const fix = aFix();
  const id = await rig.channel.post({ chat: ada }, card);
  const notice = aNoticeOf([fix], { chat: ada }, { message: id });
  const notices = {
    noticeAt: (_: string, { chat }: Place, message: string) => (chat === ada && message === id ? notice : undefined),
    noticesWith: () => [notice],
  };
  const config = aConfig({ channels: { telegram: { chat: ada, routes: [], apiRoot: '' } } });
  const booth = aBooth(fix, { current: () => config, ...notices });
  const { onCommand } = createCommands({
    ...booth.approvals,
    ...notices,
    clock: booth.clock,
    current: () => config,
    timeZone: 'Europe/Berlin',
    ownNamespace: 'tapfix',
    confirms: booth.confirms,
    fixes: () => [fix],
    mutes: { active: () => [], set: async () => {} },
    subjectAccess: async () => true,
    status: () => [],
  });
  rig.run(booth.approvals.onPress, { onCommand });
  return { ...rig, ...booth, message: Number(id), data: encodePress('a', fix) };
}

test('a press in the private chat that the configuration names decides', async (t) => {
  const { fake, message, data, approval } = await aPrivateChat(t);
  fake.press(data, { chat: ada, message });
  await until(() => fake.answers.length === 1);
  assert.equal(fake.answers[0]!.text, 'Approved; it starts now.');
  assert.deepEqual([approval().state, approval().by], ['Approved', `telegram:${ada}`]);
});

test('the same button in another private chat decides nothing: neither on the same number nor on a message of ours', async (t) => {
  const { fake, channel, message, data, approval } = await aPrivateChat(t);
  const ours = Number(await channel.post({ chat: ben }, card));
  for (const one of [message, ours]) fake.press(data, { chat: ben, from: Number(ben), message: one });
  await until(() => fake.answers.length === 2);
  for (const { text } of fake.answers) assert.match(text, /does not know this message/);
  assert.equal(approval().state, 'Pending');
});

test('what is written in the private chat is answered in it, and in one that the configuration does not name nothing is said of the cluster', async (t) => {
  const { fake } = await aPrivateChat(t);
  fake.write('/open', { chat: ada });
  await until(() => fake.messages().length === 2);
  fake.write('/open', { chat: ben, from: Number(ben) });
  await until(() => fake.messages().length === 3);
  const [, here, there] = fake.messages();
  assert.equal(here!.chat, ada);
  assert.match(here!.text, /checkout keeps crashing/);
  assert.deepEqual([there!.chat, there!.text], [ben, 'tapfix does not speak in this chat; nothing was done.']);
});

test('Start, which everybody presses first in a private chat, says what can be written', async (t) => {
  const { fake } = await aPrivateChat(t);
  fake.write('/start', { chat: ada });
  await until(() => fake.messages().length === 2);
  assert.match(fake.messages()[1]!.text, /What can be written to tapfix/);
});
