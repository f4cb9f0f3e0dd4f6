import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Answer, Command, Press } from '../../../../src/channels/channel.ts';
import { createConsole } from '../../../../src/channels/console/console.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, approvedByAda, aQuotaFix } from '../../../support/fixes.ts';
import { silentLog } from '../../notices/desk.ts';

const place = { chat: 'console' };
const recorded: Answer = { say: 'recorded', alert: false };
const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

function aTerminal({ isTTY = true, nobody = false, answer = recorded } = {}) {
  const by = nobody ? undefined : 'kubernetes-admin';
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = new PassThrough();
  const presses: Press[] = [];
  const stop = new AbortController();
  const channel = createConsole({ input, output, by, log: silentLog });
  const onPress = async (press: Press): Promise<Answer> => (presses.push(press), answer);
  const commands: Command[] = [];
  const onCommand = async (command: Command): Promise<Answer> => (commands.push(command), answer);
  const handlers = { onPress, onCommand, commands: [] };
  const done = channel.run(handlers, stop.signal);
  /** Returns what stops it. */
  const runAgain = (): (() => Promise<void>) => {
    const again = new AbortController();
    const running = channel.run(handlers, again.signal);
    return async () => (again.abort(), running);
  };
  const type = async (line: string): Promise<string> => {
    printed();
    input.write(`${line}\n`);
    await settle();
    return printed().trim();
  };
  const printed = (): string => String(output.read() ?? '');
  return { channel, presses, commands, printed, type, runAgain, stop: async () => (stop.abort(), done) };
}

test('a card is printed in 80 columns, and typing a approves it', async () => {
  const { channel, presses, printed, type, stop } = aTerminal();
  const message = composeMessage([aFix()], aContext());
  const id = await channel.post(place, message);
  const text = printed();
  assert.match(text, /🔴 checkout is down, 0\/3 ready/);
  assert.match(text, /\[a 1\] Roll back to 1.41 {3}\[r 1\] Reject/);
  assert.ok(text.split('\n').every((line) => line.length <= 80));
  assert.equal(await type('a'), 'recorded');
  assert.deepEqual(presses, [
    {
      channel: 'console',
      by: 'kubernetes-admin',
      name: 'kubernetes-admin',
      place,
      message: id,
      data: message.cards[0]!.buttons[0]![0]!.data,
      ours: true,
    },
  ]);
  await stop();
});

test('a new state prints the new headline only, and its buttons are gone', async () => {
  const { channel, presses, printed, type, stop } = aTerminal();
  const id = await channel.post(place, composeMessage([aFix()], aContext()));
  printed();
  await channel.edit(place, id, composeMessage([aFix({ approval: approvedByAda })], aContext()));
  assert.equal(printed(), '🟡 checkout: about to roll back to 1.41, approved by Ada (Telegram)\n');
  assert.equal(await type('a'), 'nothing to decide');
  assert.equal(presses.length, 0);
  await stop();
});

test('a rehearsal that comes after the card: the card is shown whole before it can be approved', async () => {
  const { channel, printed, stop } = aTerminal();
  const id = await channel.post(place, composeMessage([aFix({ unrehearsed: true })], aContext()));
  assert.doesNotMatch(printed(), /\[a 1\]/);
  await channel.edit(place, id, composeMessage([aFix()], aContext()));
  const text = printed();
  assert.match(text, /Fix: roll back to 1\.41/);
  assert.match(text, /\[a 1\] Roll back to 1.41/);
  await stop();
});

test('another fix in the same message is shown whole as well', async () => {
  const { channel, printed, stop } = aTerminal();
  const id = await channel.post(place, composeMessage([aFix()], aContext()));
  printed();
  const preview = { diff: 'app image  1.42 → 1.17', targetHash: 'other', at: '2026-11-16T02:13:00Z' };
  await channel.edit(place, id, composeMessage([aFix({ n: 2, status: { preview } })], aContext()));
  assert.match(printed(), /1\.42 → 1\.17[^]*\[a 2\] Roll back to revision 41/);
  await stop();
});

test('what an earlier process printed is shown again while it can be decided; else its news is one line', async () => {
  const { channel, printed, presses, type, stop } = aTerminal();
  assert.equal(channel.forgets, true);
  await channel.edit(place, 'of-another-process', composeMessage([aFix()], aContext()));
  assert.match(printed(), /checkout is down[^]*\[a 1\] Roll back to 1.41/);
  await type('a');
  assert.equal(presses[0]?.message, 'of-another-process');
  await channel.edit(place, 'waiting', composeMessage([aFix({ n: 3, unrehearsed: true })], aContext()));
  assert.match(printed(), /The dry run is under way[^]*\[r 2\] Reject/);
  await channel.edit(place, 'another', composeMessage([aFix({ n: 2, phase: 'Resolved' })], aContext()));
  assert.equal(printed(), '⚪ checkout is healthy again. Nothing was changed\n');
  await stop();
});

test('with several open it asks which one', async () => {
  const { channel, presses, type, stop } = aTerminal();
  await channel.post(place, composeMessage([aFix()], aContext()));
  await channel.post(place, composeMessage([aFix({ n: 2, name: 'web' })], aContext()));
  assert.equal(await type('r'), 'which one: r 1, r 2?');
  assert.equal(await type('R  2'), 'recorded');
  assert.equal(await type('what'), 'type one of: a 1, r 1, i 1, s 1, d 1, a 2, r 2, i 2, s 2, d 2');
  assert.equal(presses.length, 1);
  await stop();
});

test('something destructive is confirmed with y', async () => {
  const { channel, presses, printed, type, stop } = aTerminal();
  const id = await channel.post(place, composeMessage([aQuotaFix()], aContext()));
  await type('a');
  const confirming = () => ({ by: 'kubernetes-admin', name: 'kubernetes-admin', untilMs: aContext().nowMs + 30_000 });
  await channel.edit(place, id, composeMessage([aQuotaFix()], aContext({ confirming })));
  assert.match(printed(), /\[y 1\] Yes, delete platform-hardening {3}\[n 1\] Back/);
  await type('y');
  assert.deepEqual(
    presses.map(({ data }) => data[0]),
    ['a', 'c'],
  );
  await stop();
});

for (const quiet of [{ isTTY: false }, { nobody: true }]) {
  test(`without a person at the keyboard it only prints: ${JSON.stringify(quiet)}`, async () => {
    const { channel, printed, presses, type, stop } = aTerminal(quiet);
    await channel.post(place, composeMessage([aFix()], aContext()));
    assert.doesNotMatch(printed(), /Reject/);
    await type('a');
    assert.equal(presses.length, 0);
    await stop();
  });
}

test('a line that begins with a slash is a command; what it shows can be pressed', async () => {
  const show = composeMessage([aFix()], aContext());
  const { commands, presses, type, stop } = aTerminal({ answer: { say: 'one is open', alert: false, show } });
  const text = await type('/open  shop');
  assert.match(text, /^one is open\n\n🔴 checkout is down[^]*\[a 1\] Roll back to 1.41/);
  assert.deepEqual(
    commands.map(({ by, text }) => [by, text]),
    [['kubernetes-admin', 'open  shop']],
  );
  await type('a');
  assert.equal(presses[0]!.data, show.cards[0]!.buttons[0]![0]!.data);
  await stop();
});

test('run again after it was stopped: the keyboard works again, each line once', async () => {
  const { channel, presses, printed, type, stop, runAgain } = aTerminal();
  await channel.post(place, composeMessage([aFix()], aContext()));
  printed();
  await stop();
  for (const count of [1, 2]) {
    const end = runAgain();
    assert.equal(await type('a'), 'recorded');
    assert.equal(presses.length, count);
    await end();
  }
});
