import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Answer, Handlers } from '../../../src/channels/channel.ts';
import { createSlack, type SlackDeps } from '../../../src/channels/slack/slack.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import { aContext } from '../../golden/scenes.ts';
import { appToken, botToken, startFakeSlack } from '../../support/fake-slack.ts';
import { aFix, approvedByAda } from '../../support/fixes.ts';
import { hurriedClock } from '../../support/hurried-clock.ts';

export const place = { chat: 'C0123456789' };
export const card = composeMessage([aFix()], aContext());
export const later = composeMessage([aFix({ approval: approvedByAda })], aContext());
const yes = async (): Promise<Answer> => ({ say: 'Approved; it starts now.', alert: false });

export const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 1_000 && !holds(); i++) await pause(10);
  assert.ok(holds(), `${what} did not happen in time`);
};

/** Enough for a machine that has much to do; who waits for one of these to pass shortens it. */
export const patient = { callMs: 3_000, handshakeMs: 5_000, helloMs: 500_000, pongMs: 3_000 };

/** A channel against the strict fake, in a hurry: its pauses are a hundredth. */
export async function aChannel(
  t: TestContext,
  { strict, ...over }: Partial<SlackDeps> & { strict?: NonNullable<Parameters<typeof startFakeSlack>[0]> } = {},
) {
  const fake = await startFakeSlack({ burst: Infinity, ...strict });
  const lines: { message: string; fields: { kind?: string; reason?: string } }[] = [];
  const note = (fields: object, message: string): void => void lines.push({ message, fields });
  const log = { debug: note, info: note, warn: note, error: note };
  const clock = hurriedClock(100);
  const tokens = { botToken: async () => botToken, appToken: async () => appToken };
  const channel = createSlack({
    ...tokens,
    apiUrl: fake.apiUrl,
    channels: () => [place.chat],
    log,
    clock,
    patience: patient,
    ...over,
  });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  t.after(async () => {
    stop.abort();
    await running;
    await fake.close();
  });
  return {
    fake,
    channel,
    lines,
    clock,
    stop,
    said: () => lines.map(({ message }) => message),
    /** Runs; resolves when both sockets are open. */
    async run(onPress: Handlers['onPress'] = yes, onCommand: Handlers['onCommand'] = yes): Promise<void> {
      running = channel.run({ onPress, onCommand, commands: [] }, stop.signal);
      await until('two sockets', () => channel.health().detail === 'receiving');
    },
    /** Runs, whatever comes of it. */
    start(): void {
      running = channel.run({ onPress: yes, onCommand: yes, commands: [] }, stop.signal);
    },
    ended: (): Promise<void> | undefined => running,
  };
}
