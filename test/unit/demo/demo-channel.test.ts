import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Press } from '../../../src/channels/channel.ts';
import { createDemoChannel } from '../../../src/demo/demo-channel.ts';
import { createScreen } from '../../../src/demo/screen.ts';
import type { Button, Card, Message } from '../../../src/notices/cards/message.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aFix } from '../../support/fixes.ts';
import { aTerminal } from './terminal.ts';

const place = { chat: 'console' };
const approve: Button[][] = [
  [
    { label: 'Approve undo', data: 'a:uid:hash' },
    { label: 'Reject', data: 'r:uid' },
  ],
];
const confirm: Button[][] = [[{ label: 'Yes, delete quota x', data: 'c:uid' }], [{ label: 'Back', data: 'b:uid' }]];
const message = (headline: string, buttons: Button[][] = [], dot: Card['dot'] = 'red'): Message => ({
  cards: [{ dot, headline, rows: [], footer: [], buttons }],
  silent: false,
});

function aChannel({ isTTY = true, yes = false, say = 'Approved.', alert = false } = {}) {
  const terminal = aTerminal({ isTTY });
  const clock = fakeClock();
  const stop = new AbortController();
  const channel = createDemoChannel({
    screen: createScreen(terminal),
    clock,
    by: 'you',
    pressAfterMs: yes ? 6_000 : undefined,
    signal: stop.signal,
  });
  const presses: Press[] = [];
  const onPress = async (press: Press) => (presses.push(press), { say, alert });
  void channel.run({ onPress, onCommand: async () => ({ say, alert }), commands: [] }, stop.signal);
  return { channel, terminal, presses, clock };
}

test('a card is redrawn in its place, with the keys that decide it', async () => {
  const { channel, terminal } = aChannel();
  const id = await channel.post(place, message('checkout keeps crashing', approve));
  assert.deepEqual(terminal.lines(), [
    '🔴 checkout keeps crashing',
    '[a] Approve undo   [r] Reject',
    '',
    'Press a to approve, r to reject, q to leave.',
  ]);
  await channel.edit(place, id, message('checkout recovered', [], 'green'));
  assert.deepEqual(terminal.lines(), ['🟢 checkout recovered']);
});

test('a question names the keys that answer it', async () => {
  const { channel, terminal } = aChannel();
  await channel.post(place, message('quota x blocks 2 workloads', confirm));
  assert.deepEqual(terminal.lines(), [
    '🔴 quota x blocks 2 workloads',
    '[y] Yes, delete quota x',
    '[n] Back',
    '',
    'Press y to confirm, n to go back, q to leave.',
  ]);
});

test('each state after the decision stands long enough to be seen, and none is left out', async () => {
  const { channel, terminal, clock } = aChannel();
  const id = await channel.post(place, message('checkout keeps crashing', approve));
  await channel.edit(place, id, message('approved', [], 'yellow')); // the person has just pressed: at once
  assert.deepEqual(terminal.lines(), ['🟡 approved']);
  await channel.edit(place, id, message('approved, applying', [], 'yellow')); // the same state: at once
  const applied = channel.edit(place, id, message('applied', [], 'blue'));
  await clock.advance(1_400);
  assert.deepEqual(terminal.lines(), ['🟡 approved, applying']);
  await clock.advance(100);
  await applied;
  assert.deepEqual(terminal.lines(), ['🔵 applied']);
  await clock.advance(2_000);
  await channel.edit(place, id, message('recovered', [], 'green'));
  assert.deepEqual(terminal.lines(), ['🟢 recovered']);
});

test('on a pipe no state has to wait: all of them stay', async () => {
  const { channel, terminal } = aChannel({ isTTY: false });
  const id = await channel.post(place, message('approved', [], 'yellow'));
  await channel.edit(place, id, message('applied', [], 'blue'));
  assert.deepEqual(terminal.lines(), ['🟡 approved', '🔵 applied']);
});

test('a key presses its button, as the person of the console', async () => {
  const { channel, presses } = aChannel();
  const id = await channel.post(place, message('checkout keeps crashing', approve));
  await channel.press('r');
  assert.deepEqual(presses, [{ channel: 'console', by: 'you', name: 'you', place, message: id, data: 'r:uid' }]);
});

test('what nobody decided can be proposed again, with its own key', async () => {
  const { channel, presses } = aChannel();
  const data = encodePress('g', aFix({ phase: 'Expired' }));
  await channel.post(place, message('nobody decided', [[{ label: 'Propose again', data }]]));
  assert.deepEqual(channel.keys(), ['g']);
  await channel.press('g');
  assert.equal(presses[0]?.data, data);
});

test('a key that no button has does nothing', async () => {
  const { channel, presses } = aChannel();
  assert.equal(await channel.press('a'), undefined);
  await channel.post(place, message('checkout keeps crashing'));
  assert.equal(await channel.press('a'), undefined);
  assert.deepEqual(presses, []);
});

test('a refusal stands below the card until it can no longer be decided', async () => {
  const { channel, terminal } = aChannel({ say: 'The Deployment has changed.', alert: true });
  const id = await channel.post(place, message('checkout keeps crashing', approve));
  await channel.press('a');
  assert(terminal.lines().includes('The Deployment has changed.'));
  await channel.edit(place, id, message('checkout: nothing was changed'));
  assert.deepEqual(terminal.lines(), ['🔴 checkout: nothing was changed']);
});

test('on a pipe each change of the first line is a line of its own, and so is a new choice', async () => {
  const { channel, terminal } = aChannel({ isTTY: false, yes: true });
  const id = await channel.post(place, message('checkout keeps crashing'));
  await channel.edit(place, id, message('checkout keeps crashing', approve));
  await channel.edit(place, id, message('checkout keeps crashing', approve));
  await channel.edit(place, id, message('checkout recovered', [], 'green'));
  assert.deepEqual(terminal.lines(), [
    '🔴 checkout keeps crashing',
    '[a] Approve undo   [r] Reject',
    '',
    'With --yes the demo presses a by itself after 6 s.',
    '🟢 checkout recovered',
  ]);
});

test('the message of an act that is over is not touched again', async () => {
  const { channel, terminal } = aChannel();
  const id = await channel.post(place, message('one', [], 'green'));
  channel.close();
  await channel.edit(place, id, message('one, later', [], 'green'));
  await channel.post(place, message('two'));
  assert.deepEqual(terminal.lines(), ['🟢 one', '🔴 two']);
});

test('on a pipe what has recovered is said once, also when its count comes later', async () => {
  const { channel, terminal } = aChannel({ isTTY: false, yes: true });
  const id = await channel.post(place, message('checkout keeps crashing'));
  await channel.edit(place, id, message('checkout recovered in 4.2 s', [], 'green'));
  await channel.edit(place, id, message('checkout recovered in 4.2 s, 3/3 ready', [], 'green'));
  assert.deepEqual(terminal.lines(), ['🔴 checkout keeps crashing', '🟢 checkout recovered in 4.2 s']);
});

test('another message does not take the place of a card that waits for a decision', async () => {
  const { channel, terminal, presses } = aChannel();
  const id = await channel.post(place, message('checkout keeps crashing', approve));
  await channel.post(place, message('node a is not ready'));
  assert.deepEqual(terminal.lines().slice(0, 3), [
    '🔴 node a is not ready',
    '🔴 checkout keeps crashing',
    '[a] Approve undo   [r] Reject',
  ]);
  await channel.press('a');
  assert.equal(presses[0]?.message, id);
  await channel.edit(place, id, message('checkout recovered', [], 'green'));
  assert.deepEqual(terminal.lines(), ['🔴 node a is not ready', '🟢 checkout recovered']);
});
