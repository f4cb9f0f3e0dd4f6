import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createCommands } from '../../../src/approvals/commands.ts';
import type { Answer, Place } from '../../../src/channels/channel.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { aConfig, aFix, aNotice, aNoticeOf, approvedByAda, aQuotaFix, at, condition } from '../../support/fixes.ts';
import { aChannel, card, until } from '../channels/telegram-rig.ts';
import { aBooth } from './booth.ts';
import { aChat } from './chat.ts';

const text = ({ show }: Answer): string => JSON.stringify(show ?? {});
const audited = (chat: ReturnType<typeof aChat>): unknown[] =>
  chat.audit.map(({ decision, reason }) => reason ?? decision);

for (const vendor of ['telegram', 'slack'] as const) {
  test(`${vendor}: a reply to a card decides about that card, and the reason is kept`, async () => {
    const chat = aChat(vendor);
    assert.deepEqual(await chat.reply('reject known, fix is on its way'), {
      say: 'Rejected; nothing is changed.',
      alert: false,
    });
    const { state, by, via, note } = chat.approval();
    assert.deepEqual([state, by, via, note], ['Rejected', chat.who.ada, vendor, 'known, fix is on its way']);
    assert.deepEqual(audited(chat), ['Rejected']);
  });

  test(`${vendor}: by the name of the Remediation, of its workload, with its namespace`, async () => {
    for (const name of ['checkout-3f9a1c-1', 'shop/checkout-3f9a1c-1', 'checkout', 'shop/checkout']) {
      const chat = aChat(vendor);
      assert.match((await chat.write(`approve ${name}`)).say, /^Really /);
      assert.equal((await chat.write(`approve ${name}`)).say, 'Approved; it starts now.');
      assert.equal(chat.approval().by, chat.who.ada);
    }
  });

  test(`${vendor}: the same chain as for a button`, async () => {
    const chat = aChat(vendor);
    const say = async (line: string, by: string): Promise<string> => (await chat.reply(line, { by })).say;
    const idOf = (by: string): string => by.split(':')[1]!;
    for (const by of [chat.who.stranger, chat.who.cleo])
      assert.equal(await say('approve', by), `You are not on the approvers' list for shop (your id is ${idOf(by)}).`);
    assert.match(await say('approve', chat.who.ben), /^Really/);
    assert.equal(await say('approve', chat.who.ben), 'Approved; it starts now.');
    assert.equal(await say('reject', chat.who.ada), 'Ben approved this 0 s ago.');
    assert.deepEqual(audited(chat), ['NotAnApprover', 'NotAllowedHere', 'Asked', 'Approved', 'AlreadyDecided']);
  });

  test(`${vendor}: approve first shows the whole diff; a yes to it is not a yes to another one`, async () => {
    const chat = aChat(vendor);
    chat.card.status!.shown = 'before the rehearsal';
    assert.match(text(await chat.reply('approve')), /shop\/checkout:1\.42 → shop\/checkout:1\.41.*"Yes, /);
    const { preview } = chat.live().status!;
    chat.change({ ...chat.live(), status: { ...chat.live().status, preview: { ...preview!, diff: 'another' } } });
    assert.match((await chat.reply('approve')).say, /has changed since this card was posted/);
    assert.equal(chat.approval().state, 'Pending');
  });

  test(`${vendor}: something destructive is asked once more; saying it again is a yes`, async () => {
    const chat = aChat(vendor, [aQuotaFix()]);
    assert.match((await chat.reply('approve')).say, /^Really delete quota platform-hardening/);
    assert.match((await chat.reply('approve', { by: chat.who.ben })).say, /^Ada is being asked/);
    assert.equal((await chat.reply('approve')).say, 'Approved; it starts now.');
  });

  test(`${vendor}: ack and snooze, for as long as is said`, async () => {
    const chat = aChat(vendor);
    assert.match((await chat.reply('ack')).say, /^You are on it/);
    assert.equal((await chat.reply('snooze 2h')).say, 'Silent until 05:14 CET.');
    assert.equal((await chat.write('snooze checkout')).say, 'Silent until 04:14 CET.');
    assert.equal((await chat.reply('snooze 8d')).say, 'A snooze lasts between 1m and 7d, for example /snooze 1h.');
    assert.deepEqual(audited(chat), ['Acknowledged', 'Snoozed', 'Snoozed', 'NotUnderstood']);
    assert.deepEqual(chat.annotations(), {
      'tapfix.dev/acknowledged-by': chat.who.ada,
      'tapfix.dev/acknowledged-until': '2026-11-16T04:14:10.000Z',
      'tapfix.dev/snoozed-until': '2026-11-16T03:14:10.000Z',
    });
  });

  test(`${vendor}: in a chat that tapfix does not use nothing is done, and nothing is shown`, async () => {
    const chat = aChat(vendor);
    for (const line of ['open', 'approve checkout', 'status', 'mute shop 1h', 'help']) {
      const answer = await chat.write(line, { place: { chat: 'elsewhere' } });
      const id = vendor === 'slack' ? '/tapfix id' : '/id';
      assert.deepEqual(answer, {
        say: `tapfix does not use this chat; nothing was done. ${id} shows its id.`,
        alert: true,
      });
    }
    assert.deepEqual([chat.approval().state, chat.mutes.length, chat.audit.length], ['Pending', 0, 5]);
  });

  test(`${vendor}: mute by who may decide there, and in words what is muted`, async () => {
    const chat = aChat(vendor);
    assert.equal((await chat.write('mute')).say, 'Nothing is muted.');
    assert.equal((await chat.write('mute shop-* 1h')).say, 'shop-* is muted until 04:14 CET.');
    assert.deepEqual(chat.mutes, [{ glob: 'shop-*', until: '2026-11-16T03:14:10.000Z', by: chat.who.ada }]);
    assert.match(text(await chat.write('mute')), /shop-\* until 04:14 CET/);
    const refusals: [string, string, RegExp][] = [
      ['mute shop-* 1h', chat.who.stranger, /not on the approvers' list for shop-\*/],
      ['mute payments 1h', chat.who.ben, /for all of payments/],
      ['mute * 1h', chat.who.ben, /for all of \*/],
      ['mute shop* 1h', chat.who.ben, /^shop\* is muted/],
      ['mute shop-a* 1h', chat.who.ben, /^shop-a\* is muted/],
      ['mute shop-?/web 1h', chat.who.ben, /^shop-\?\/web is muted/],
      ['mute sho* 1h', chat.who.ben, /for all of sho\*/],
      ['mute shop-* 1h', chat.who.fay, /^shop-\* is muted/],
      ['mute * 1h', chat.who.fay, /^\* is muted/],
      ['mute shop/checkout 30m', chat.who.ben, /^shop\/checkout is muted until 03:44/],
      ['mute shop-* off', chat.who.ada, /no longer muted/],
      ['mute shop-* forever', chat.who.ada, /^Write it like this: /],
      ['mute Shop! 1h', chat.who.ada, /^Write it like this: /],
      ['mute shop 30d', chat.who.ada, /^A mute lasts between/],
    ];
    for (const [line, by, say] of refusals) assert.match((await chat.write(line, { by })).say, say, line);
  });
}

test('what is open, numbered in natural order, with namespaces and ids; one of it in full', async () => {
  const svc = (name: string, n: number) => aFix({ n, name });
  const over = aFix({ n: 3, name: 'over', phase: 'Resolved', conditions: [condition('IncidentCleared', '02:13:00')] });
  const chat = aChat('telegram', [svc('svc-10', 1), svc('svc-2', 2), over, aNotice({ n: 4, namespace: 'pay' })]);
  const { show } = await chat.write('open', { by: chat.who.stranger });
  const heads = show!.cards.map(({ headline }) => headline);
  for (const [index, words] of ['reports.* · pay · #', 'svc-2 .* · shop · #', 'svc-10 .* · shop · #'].entries())
    assert.match(heads[index]!, new RegExp(`^${index + 1} ${words}[0-9a-f]{6}$`));
  assert.equal(heads.length, 3);
  const labels = show!.cards.map(({ buttons }) => buttons.flat().map(({ label }) => label.split(' ')[0]));
  assert.deepEqual(labels, [['1'], ['2', '2'], ['3', '3']]);
  assert.match(`${show!.hint!.tap}${show!.hint!.words}`, /^\/show #[0-9a-f]{6}: one of them in full$/);
  const one = await chat.write('show svc-2');
  assert.match(text(one), /svc-2 is down, 0\/3 ready.*Fix: roll back to 1\.41/);
  assert.match(one.show!.rest!, /^Remediation shop\/svc-2-3f9a1c-2$/);
  assert.deepEqual(chat.audit, [], 'looking is no decision');
});

const notCleared: [string, Parameters<typeof aFix>[0]][] = [
  ['expired', { phase: 'Expired' }],
  ['rejected', { phase: 'Rejected', approval: { state: 'Rejected', by: 'ben@example.com' } }],
  ['failed', { phase: 'Failed' }],
  ['being fixed', { phase: 'Applied', approval: approvedByAda }],
];
for (const [became, options] of notCleared)
  test(`what is ${became} stays open until it is cleared`, async () => {
    const chat = aChat('telegram', [aFix(options)]);
    assert.match(text(await chat.write('open')), /checkout/);
    assert.match(text(await chat.write('status')), /1 is open here/);
    const cleared = aFix({ ...options, conditions: [condition('IncidentCleared', '02:13:00')] });
    if (became !== 'being fixed')
      assert.equal((await aChat('telegram', [cleared]).write('open')).say, 'Nothing is open.');
  });

test('what the configuration no longer watches is not listed', async () => {
  const chat = aChat('telegram', [aFix({ phase: 'Expired' })]);
  chat.config.namespaces.include = ['pay'];
  assert.equal((await chat.write('open')).say, 'Nothing is open.');
});

test('nothing is open', async () => {
  assert.deepEqual(await aChat('slack', [aFix({ phase: 'Resolved' })]).write('open'), {
    say: 'Nothing is open.',
    alert: false,
  });
});

test('how tapfix is, what it knows, and what it does not', async () => {
  const chat = aChat('slack');
  assert.match(text(await chat.write('status')), /1 is open here.*channel-telegram: receiving/);
  await chat.write('mute pay-* 1h');
  assert.match(text(await chat.write('status')), /muted: pay-\* until \d\d:\d\d CET/);
  assert.match(text(await chat.write('help')), /"tap":"\/tapfix snooze","words":" \[NAME\] \[1h\]: make no sound/);
  assert.match(text(await chat.write('')), /What can be written.*In reply to a card, or where only one is open/);
  assert.match(text(await aChat('telegram').write('help')), /"tap":"\/open","words":": list what is broken now"/);
  assert.equal((await chat.write('reboot now')).say, 'tapfix has no command reboot; /tapfix help lists them.');
});

test('what the vendor lists fits its limits', () => {
  const { commands } = createCommands({} as never);
  assert.deepEqual(
    commands.map(({ name }) => name),
    ['open', 'show', 'why', 'approve', 'reject', 'ack', 'snooze', 'mute', 'handover', 'status', 'test', 'id', 'help'],
  );
  assert.ok(commands.every(({ does }) => does.length > 0 && does.length <= 256));
});

const [ada, ben] = ['123456789', '222'];

/** The card is in Ada's own chat with the bot; Ben, who may approve as well, has one of his own. */
async function aPrivateChat(t: TestContext) {
  const rig = await aChannel(t, { known: [ada, ben], now: () => Date.parse(at('02:14:10')) });
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
    tests: { post: async () => true },
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
  assert.match(here!.text, /checkout is down/);
  assert.deepEqual(
    [there!.chat, there!.text],
    [ben, 'tapfix does not use this chat; nothing was done. /id shows its id.'],
  );
});

test('Start, which everybody presses first in a private chat, says what can be written', async (t) => {
  const { fake } = await aPrivateChat(t);
  fake.write('/start', { chat: ada });
  await until(() => fake.messages().length === 2);
  assert.match(fake.messages()[1]!.text, /What can be written to tapfix/);
});

test('a command that is delivered again is not its own yes; nor is one that had arrived before the question', async () => {
  const chat = aChat('telegram', [aQuotaFix()]);
  const nowMs = chat.clock.now();
  for (const again of [{ id: '7' }, { id: '7' }, { id: '8', receivedMs: nowMs - 1 }]) {
    assert.match(
      (await chat.reply('approve', again)).say,
      /^Really delete quota platform-hardening/,
      JSON.stringify(again),
    );
    chat.card.status!.shown = chat.shownNow();
  }
  assert.equal(chat.approval().state, 'Pending');
  assert.equal((await chat.reply('approve', { id: '9', receivedMs: nowMs })).say, 'Approved; it starts now.');
});

for (const { name, agoMs, say } of [
  { name: 'an old command', agoMs: 121_000, say: /^Nothing was done: you wrote this 2 min ago\. Write it again/ },
  { name: 'a command of yesterday', agoMs: 86_400_000, say: /you wrote this 24 h ago/ },
  { name: "a command from tomorrow, because tapfix's clock was set back", agoMs: -3_600_000, say: /clock is behind/ },
])
  test(`${name} is answered, and not acted on`, async () => {
    for (const line of ['approve', 'reject', 'ack', 'snooze 1h', 'mute shop 1h']) {
      const chat = aChat('telegram');
      const answer = await chat.reply(line, { writtenMs: chat.clock.now() - agoMs });
      assert.match(answer.say, say);
      assert.deepEqual([chat.approval().state, chat.annotations() ?? {}, chat.mutes], ['Pending', {}, []]);
      assert.deepEqual(audited(chat), ['TooLate']);
    }
  });

test('a command that took its time, but not two minutes, is acted on', async () => {
  const chat = aChat('telegram');
  const answer = await chat.reply('reject', { writtenMs: chat.clock.now() - 119_000 });
  assert.equal(answer.say, 'Rejected; nothing is changed.');
});
