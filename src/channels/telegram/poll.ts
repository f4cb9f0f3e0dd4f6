import type { Api } from 'grammy';
import type { CallbackQuery, Update } from 'grammy/types';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Answer, Channel, ChannelHealth, Press } from '../channel.ts';
import { cut } from '../../lib/cut.ts';
import type { Trouble } from './errors.ts';
import { isStalePress, troubleOf } from './errors.ts';

export interface PollerDeps {
  api: () => Promise<Api>;
  log: Log;
  clock: Clock;
}

const pollSeconds = 25;
/** Whoever answers "nothing" at once instead of waiting is not asked again and again without a pause. */
const shortestPollMs = 250;
const firstBackOffMs = 1_000;
const longestBackOffMs = 30_000;
/** Longest text above the chat: https://core.telegram.org/bots/api#answercallbackquery */
const maxAnswer = 200;
const lastAnswersMs = 2_000;
/** A refusal is said nowhere else, and saying it twice does no harm. */
const mostAnswerTries = 3;
const longestAnswerPauseMs = 3_000;

type OnPress = (press: Press) => Promise<Answer>;

/**
 * Long polling, for ever. An update counts as received only when the next poll confirms it, and that poll starts
 * after every press of the last one was decided: a press is handled at least once, whenever we are killed.
 * Presses made while we were down are still there (Telegram keeps them for a day) and are honoured.
 */
export function createPoller({ api, log, clock }: PollerDeps): Pick<Channel, 'run' | 'health'> {
  let trouble: Trouble | undefined;
  let health: ChannelHealth = { ok: false, detail: 'connecting' };
  const answering = new Set<Promise<void>>();

  async function run(onPress: OnPress, signal: AbortSignal): Promise<void> {
    let offset = 0;
    let failures = 0;
    while (!signal.aborted) {
      const askedAtMs = clock.now();
      try {
        const updates = await poll(offset, signal);
        failures = 0;
        works();
        await handleAll(updates, onPress);
        if (updates.length === 0 && clock.now() - askedAtMs < shortestPollMs) await clock.sleep(shortestPollMs, signal);
        for (const { update_id } of updates) offset = Math.max(offset, update_id + 1);
      } catch (error) {
        if (signal.aborted) break;
        const found = troubleOf(error);
        fails(found);
        await clock.sleep(backOffMs(found, failures++), signal);
      }
    }
    await lastAnswers();
    health = { ok: false, detail: 'stopped' };
  }

  /** What was decided is still said, if it does not take long. */
  async function lastAnswers(): Promise<void> {
    const said = new AbortController();
    const all = Promise.allSettled(answering).then(() => said.abort());
    await Promise.race([all, clock.sleep(lastAnswersMs, said.signal)]);
  }

  async function poll(offset: number, signal: AbortSignal): Promise<Update[]> {
    // The first answer, and the first after trouble, must not take 25 s; with a second poller only a whole poll proves anything.
    const timeout = health.ok || trouble?.kind === 'SecondPoller' ? pollSeconds : 0;
    const options = { offset, timeout, allowed_updates: ['callback_query', 'message'] as const };
    const updates: unknown = await (await api()).getUpdates(options, signal as Parameters<Api['getUpdates']>[1]);
    if (!Array.isArray(updates)) throw new TypeError('getUpdates did not give a list');
    return updates as Update[];
  }

  /** Those on one message one after another, so that the first press is judged first; all others side by side. */
  async function handleAll(updates: readonly Update[], onPress: OnPress): Promise<void> {
    const byMessage = Object.groupBy(
      updates.flatMap((update) => update.callback_query ?? []),
      ({ message }) => `${message?.chat.id} ${message?.message_id}`,
    );
    await Promise.all(
      Object.values(byMessage).map(async (queries) => {
        for (const query of queries ?? []) await handle(query, onPress);
      }),
    );
  }

  async function handle(query: CallbackQuery, onPress: OnPress): Promise<void> {
    const press = pressOf(query);
    let answer: Answer = { say: 'tapfix does not know this button.', alert: true };
    try {
      if (press) answer = await onPress(press);
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'press not handled');
      answer = { say: 'Something went wrong in tapfix; nothing was decided. Press again.', alert: true };
    }
    const answered = sayTo(query.id, answer).finally(() => answering.delete(answered));
    answering.add(answered);
  }

  /** The button shows a spinner until it is answered. One pressed too long ago cannot be, and needs not. */
  async function sayTo(id: string, { say, alert }: Answer): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return void (await (await api()).answerCallbackQuery(id, { text: cut(say, maxAnswer), show_alert: alert }));
      } catch (error) {
        if (isStalePress(error)) return;
        const { say: reason, retryMs } = troubleOf(error);
        if (retryMs === undefined || tries === mostAnswerTries)
          return log.warn({ reason, tries }, 'press not answered');
        await clock.sleep(Math.min(retryMs, longestAnswerPauseMs));
      }
    }
  }

  function works(): void {
    health = { ok: true, detail: 'receiving' };
    if (trouble) log.info({ was: trouble.kind }, 'telegram works again');
    trouble = undefined;
  }

  /** One line when the trouble changes, not one per attempt. */
  function fails(found: Trouble): void {
    health = { ok: false, detail: found.say };
    if (trouble?.kind !== found.kind) log.warn({ kind: found.kind, reason: found.say }, 'telegram does not work');
    trouble = found;
  }

  return { run, health: () => health };
}

const backOffMs = (trouble: Trouble, failures: number): number =>
  trouble.kind === 'TooFast' || trouble.kind === 'NoToken'
    ? (trouble.retryMs ?? longestBackOffMs)
    : Math.min(firstBackOffMs * 2 ** failures, longestBackOffMs);

function pressOf({ data, from, message }: CallbackQuery): Press | undefined {
  if (data === undefined || !message) return undefined;
  const topic = 'message_thread_id' in message && message.is_topic_message ? message.message_thread_id : undefined;
  return {
    channel: 'telegram',
    by: `telegram:${from.id}`,
    name: from.username ?? from.first_name,
    place: { chat: String(message.chat.id), ...(topic !== undefined && { thread: String(topic) }) },
    message: String(message.message_id),
    data,
  };
}
