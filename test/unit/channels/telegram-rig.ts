import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Answer, Handlers } from '../../../src/channels/channel.ts';
import { createTelegram, type TelegramDeps } from '../../../src/channels/telegram/telegram.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import { aContext } from '../../golden/scenes.ts';
import { botToken, startFakeTelegram } from '../../support/fake-telegram.ts';
import { aFix, approvedByAda } from '../../support/fixes.ts';
import { limitsOfNoTime } from '../../support/telegram-limits.ts';

export const place = { chat: '-100500' };
export const card = composeMessage([aFix()], aContext());
export const later = composeMessage([aFix({ approval: approvedByAda })], aContext());
const yes = async (): Promise<Answer> => ({ say: 'Approved; it starts now.', alert: false });

export const until = async (holds: () => boolean): Promise<void> => {
  for (let i = 0; i < 3_000 && !holds(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(holds(), 'did not happen in time');
};

type FakeOptions = NonNullable<Parameters<typeof startFakeTelegram>[0]>;

/** A channel against the strict fake; its clock does not sleep, it notes how long it would have. */
export async function aChannel(
  t: TestContext,
  {
    pollMs = 25_000,
    known = [place.chat],
    now = () => Date.now(),
    limits = limitsOfNoTime,
    onCall,
    ...over
  }: Partial<TelegramDeps> & Pick<FakeOptions, 'pollMs' | 'now' | 'limits' | 'onCall'> & { known?: string[] } = {},
) {
  const fake = await startFakeTelegram({ pollMs, chats: known, now, limits, ...(onCall && { onCall }) });
  const lines: { message: string; fields: object }[] = [];
  const slept: number[] = [];
  const note = (fields: object, message: string): void => void lines.push({ message, fields });
  const log = { debug: note, info: note, warn: note, error: note };
  const clock = {
    now: () => 0,
    sleep: async (ms: number) => (slept.push(ms), new Promise<void>((r) => setTimeout(r, 5))),
  };
  const channel = createTelegram({
    token: async () => botToken,
    apiRoot: fake.apiRoot,
    chats: () => [],
    log,
    clock,
    ...over,
  });
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  t.after(async () => {
    stop.abort();
    await running;
    await fake.close();
  });
  const run = (onPress: Handlers['onPress'] = yes, over: Partial<Handlers> = {}): void =>
    void (running = channel.run({ onPress, onCommand: yes, commands: [], ...over }, stop.signal));
  return { fake, channel, lines, slept, run, stop, said: () => lines.map(({ message }) => message) };
}
