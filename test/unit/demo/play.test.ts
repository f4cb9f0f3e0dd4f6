import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Act } from '../../../src/demo/acts.ts';
import { createDemoChannel } from '../../../src/demo/demo-channel.ts';
import { play } from '../../../src/demo/play.ts';
import { createScreen } from '../../../src/demo/screen.ts';
import { type DemoStage, shop } from '../../../src/demo/stage.ts';
import { phaseOf, type Remediation } from '../../../src/kube/remediation.ts';
import type { Button, Card, Message } from '../../../src/notices/cards/message.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aFix, uidOf } from '../../support/fixes.ts';
import { aTerminal } from './terminal.ts';

const deployment = ({ name, replicas }: (typeof shop)[number], isReady: boolean): object => ({
  metadata: { name, namespace: 'shop', uid: name, generation: 1 },
  spec: { replicas, selector: {}, template: {} },
  status: { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: isReady ? replicas : 0 },
});

const card = (dot: Card['dot'], headline: string, ...buttons: Button[]): Message => ({
  cards: [{ dot, headline, rows: [], footer: [], buttons: [buttons] }],
  silent: false,
});
const approve: Button = { label: 'Approve undo', data: 'a:uid:hash' };
const confirm: Button = { label: 'Yes', data: 'c:uid' };

/** A stage whose shop and Remediations are what the test says. */
function aPlay({
  isReady = true,
  isTTY = false,
  acts = 1,
  onBreak = (): void => undefined,
  away = { fromMs: 0, toMs: 0 },
} = {}) {
  const clock = fakeClock();
  const startedAtMs = clock.now();
  const stop = new AbortController();
  const terminal = aTerminal({ isTTY });
  const screen = createScreen(terminal);
  const pressAfterMs = 6_000;
  const channel = createDemoChannel({ screen, clock, by: 'you', pressAfterMs, signal: stop.signal });
  const tapfix = { isConnected: true };
  const fixes: Remediation[] = [];
  const act = {
    name: 'rollout',
    title: 'It breaks.',
    trouble: 'it broke',
    break: async () => onBreak(),
    mend: async () => undefined,
  } satisfies Act;
  const api = {
    create: async () => undefined,
    patch: async () => undefined,
    list: async (kind: string) => {
      const sinceMs = clock.now() - startedAtMs;
      if (sinceMs >= away.fromMs && sinceMs < away.toMs) await clock.sleep(away.toMs - sinceMs);
      return kind === 'Deployment' ? shop.map((part) => deployment(part, isReady)) : fixes;
    },
  };
  const stage = { api, namespace: 'shop', container: () => ({}) } as unknown as DemoStage;
  const scenes = play({
    stage,
    acts: Array.from({ length: acts }, () => act),
    clock,
    screen,
    channel,
    pressAfterMs,
    provenMs: 1_000,
    tapfixHeardAtMs: () => (tapfix.isConnected ? clock.now() : startedAtMs),
    signal: stop.signal,
  });
  void scenes.catch(() => undefined);
  return { clock, stop, tapfix, channel, fixes, scenes, printed: () => terminal.lines().join('\n') };
}

test('a shop that is left before it has opened is not called well', async () => {
  const { clock, stop, scenes, printed } = aPlay({ isReady: false });
  await clock.advance(2_000);
  stop.abort();
  await clock.advance(1_000);
  assert.deepEqual(await scenes, []);
  assert.doesNotMatch(printed(), /is well/);
});

test('whoever leaves sees no waiting any more', async () => {
  const { clock, stop, scenes, printed } = aPlay({ isReady: false, isTTY: true });
  await clock.advance(2_000);
  assert.equal(printed(), 'The shop opens: 3 workloads ... 2 s');
  stop.abort();
  await clock.advance(1_000);
  await scenes;
  assert.equal(printed(), '');
});

test('a shop that does not open is not broken as well: it is said how far it came', async () => {
  let broken = false;
  const { clock, scenes, printed } = aPlay({ isReady: false, onBreak: () => void (broken = true) });
  await clock.advance(400_000);
  await assert.rejects(scenes, /the shop is not well after 3 min: checkout 0\/3, api 0\/3, web 0\/2/);
  assert.doesNotMatch(printed(), /is well:/);
  assert.equal(broken, false);
});

test('the card stands on the screen for as long as it can be decided', async () => {
  const { clock, stop, fixes, channel, scenes, printed } = aPlay({ isTTY: true });
  await clock.advance(5_000);
  assert.match(printed(), /Waiting for tapfix to notice/);
  fixes.push(aFix());
  await channel.post({ chat: 'console' }, card('red', 'checkout keeps crashing', approve));
  for (let second = 0; second < 5; second++) {
    await clock.advance(1_000);
    assert.match(printed(), /🔴 checkout keeps crashing\n\[a\] Approve undo\n\n.* presses a by itself after 6 s\.$/);
  }
  stop.abort();
  await clock.advance(1_000);
  await scenes;
});

test('with --yes each card, and each question, stands for six seconds before its key is pressed', async () => {
  const { clock, stop, fixes, channel, scenes } = aPlay();
  const presses: { data: string; atMs: number }[] = [];
  const place = { chat: 'console' };
  let askedAtMs = 0;
  const onPress = async ({ data }: { data: string }) => {
    presses.push({ data, atMs: clock.now() });
    // The question comes a moment after the press, as it does when it is written to the cluster first.
    if (data === approve.data) void clock.sleep(700).then(() => ask());
    return { say: '', alert: false };
  };
  const ask = (): Promise<void> => (
    (askedAtMs = clock.now()),
    channel.edit(place, 'demo-1', card('red', 'x', confirm))
  );
  void channel.run({ onPress, onCommand: async () => ({ say: '', alert: false }), commands: [] }, stop.signal);
  await clock.advance(5_000);
  fixes.push(aFix());
  const postedAtMs = clock.now();
  await channel.post(place, card('red', 'x', approve));
  await clock.advance(14_000);
  stop.abort();
  await clock.advance(1_000);
  await scenes;
  assert.deepEqual(
    presses.map(({ data }) => data),
    [approve.data, confirm.data],
  );
  const stood = [presses[0]!.atMs - postedAtMs, presses[1]!.atMs - askedAtMs];
  for (const ms of stood) assert.ok(ms >= 6_000 && ms < 7_000, `${ms} ms`);
});

test('a proposal that was replaced is not the end of the act: its successor is', async () => {
  const { clock, fixes, channel, scenes } = aPlay();
  await clock.advance(5_000);
  fixes.push(aFix());
  const id = await channel.post({ chat: 'console' }, card('red', 'checkout keeps crashing'));
  await clock.advance(2_000);
  const successor = aFix({ n: 2, spec: { follows: { name: fixes[0]!.metadata.name, uid: uidOf(1) } } });
  fixes.splice(0, 1, aFix({ phase: 'Superseded' }), successor);
  await clock.advance(5_000);
  fixes.splice(1, 1, { ...successor, status: { ...successor.status!, phase: 'Recovered' } });
  await channel.edit({ chat: 'console' }, id, card('green', 'checkout recovered'));
  await clock.advance(60_000);
  const [scene] = await scenes;
  assert.equal(phaseOf(scene!.fix!), 'Recovered');
});

test('the last word of a card is waited for, also when the watch that brings it has to be begun again', async () => {
  const { clock, fixes, channel, scenes, printed } = aPlay();
  await clock.advance(5_000);
  fixes.push(aFix({ phase: 'Recovered' }));
  const id = await channel.post({ chat: 'console' }, card('blue', 'checkout: undo applied'));
  await clock.advance(100_000);
  await channel.edit({ chat: 'console' }, id, card('green', 'checkout recovered'));
  await clock.advance(5_000);
  await scenes;
  assert.match(printed(), /^🟢 checkout recovered$/m);
});

test('before each act tapfix sees for a while how the shop does when it is well: it may have been blind meanwhile', async () => {
  const brokenAtMs: number[] = [];
  const { clock, fixes, channel, scenes, stop } = aPlay({ acts: 2, onBreak: () => void brokenAtMs.push(clock.now()) });
  await clock.advance(3_000);
  fixes.push(aFix({ phase: 'Recovered' }));
  await channel.post({ chat: 'console' }, card('green', 'checkout recovered'));
  const endedAtMs = clock.now();
  await clock.advance(5_000);
  assert.equal(brokenAtMs.length, 2);
  assert.ok(brokenAtMs[1]! - endedAtMs >= 1_000, `${brokenAtMs[1]! - endedAtMs} ms`);
  stop.abort();
  await clock.advance(1_000);
  await scenes;
});

test('after an outage the watching of the healthy shop begins again, once tapfix has heard of it', async () => {
  const brokenAfterMs: number[] = [];
  const away = { fromMs: 400, toMs: 10_400 };
  const play = aPlay({ away, onBreak: () => void brokenAfterMs.push(play.clock.now() - startedAtMs) });
  const { clock, scenes, stop, tapfix } = play;
  const startedAtMs = clock.now();
  await clock.advance(100);
  tapfix.isConnected = false;
  await clock.advance(16_900);
  assert.deepEqual(brokenAfterMs, []);
  tapfix.isConnected = true;
  await clock.advance(5_000);
  stop.abort();
  await clock.advance(1_000);
  await scenes;
  assert.equal(brokenAfterMs.length, 1);
  assert.ok(brokenAfterMs[0]! >= 18_000 && brokenAfterMs[0]! < 19_000, `${brokenAfterMs[0]} ms`);
});
