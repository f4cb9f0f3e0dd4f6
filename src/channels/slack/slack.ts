import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Message } from '../../notices/cards/message.ts';
import type { Channel, ChannelHealth, Handlers, Place, Turn } from '../channel.ts';
import { createPacer } from '../pacing.ts';
import { createAnswers } from './answers.ts';
import { createCalls } from './calls.ts';
import { garbage, isBadMarkup, isGone, noToken, SlackTrouble, troubleOf, waitAskedMs } from './failures.ts';
import { createPresses } from './presses.ts';
import { type Rendered, renderPlainly, renderSlack } from './render.ts';
import { type CallPatience, usualPatience } from './slack-client.ts';
import { createReceiver, type Receiver } from './socket.ts';

type ReadToken = () => Promise<string | undefined>;

export interface SlackDeps {
  botToken: ReadToken;
  appToken: ReadToken;
  apiUrl: string;
  /** The channels in the current configuration. */
  channels: () => readonly string[];
  log: Log;
  clock: Clock;
  patience?: CallPatience;
}

/**
 * https://docs.slack.dev/apis/web-api/rate-limits: limits are per method. chat.postMessage takes "one message per second
 * per channel", and several hundred a minute in a workspace; chat.update is of tier 3 (50 a minute), chat.postEphemeral
 * of tier 4 (100 a minute). An acknowledgement and a response URL are no methods, and have no such limit.
 */
const minuteMs = 60_000;
const postsRate = { calls: 200, inMs: minuteMs };
const updatesRate = { calls: 50, inMs: minuteMs };
const ephemeralsRate = { calls: 100, inMs: minuteMs };
const apartMs = 1_000;

/** Slack as a channel: posts over its Web API, presses over Socket Mode, so that no port is open to the internet. */
export function createSlack({
  botToken,
  appToken,
  apiUrl,
  channels: own,
  log,
  clock,
  patience = usualPatience,
}: SlackDeps): Channel {
  const endpoint = { apiUrl, patience };
  const calls = createCalls({ botToken: () => required(botToken, 'bot'), own, endpoint, log, clock });
  const pauseMs = waitAskedMs;
  const posts = createPacer({ clock, bot: postsRate }).chats({ apartMs, pauseMs });
  const updates = createPacer({ clock, bot: updatesRate, pauseMs });
  const ephemerals = createPacer({ clock, bot: ephemeralsRate, pauseMs });
  const answers = createAnswers({ web: calls.web, pacer: ephemerals, patience, clock, log });
  const presses = createPresses({ answers, ownTeam: calls.team, clock, log });
  let receiver: Receiver | undefined;
  let isStopped = false;

  function post({ chat, thread }: Place, message: Message, replyTo?: string, turn: Turn = {}): Promise<string> {
    // After a timeout nobody knows whether it arrived. It is retried later, and may then be there twice.
    return calls.about(chat, async (web) => {
      const place = { channel: chat, ...inThread(thread, replyTo, message) };
      const { ts } = await inBlocksSlackTakes(message, (rendered) =>
        posts.call(chat, turn, () =>
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window's
          web.chat.postMessage({ ...place, ...rendered, unfurl_links: false, unfurl_media: false }),
        ),
      );
      if (typeof ts !== 'string') throw new SlackTrouble(garbage());
      return ts;
    });
  }

  function edit({ chat }: Place, id: string, message: Message, turn: Turn = {}): Promise<void> {
    return calls.about(chat, async (web) => {
      try {
        await inBlocksSlackTakes(message, (rendered) =>
          updates.call(turn, () => web.chat.update({ channel: chat, ts: id, ...rendered })),
        );
      } catch (error) {
        if (!isGone(error)) throw error;
        log.warn({ chat, message: id }, 'slack message is gone');
      }
    });
  }

  async function inBlocksSlackTakes<T>(message: Message, send: (rendered: Rendered) => Promise<T>): Promise<T> {
    try {
      return await send(renderSlack(message));
    } catch (error) {
      if (!isBadMarkup(error)) throw error;
      log.error({ reason: troubleOf(error).say }, 'slack refused our blocks, sent in plain ones');
      return send(renderPlainly(message));
    }
  }

  async function run(handlers: Handlers, signal: AbortSignal): Promise<void> {
    const onEnvelope: Parameters<typeof createReceiver>[0]['onEnvelope'] = (envelope) =>
      presses.receive(envelope, handlers);
    receiver = createReceiver({ appToken: () => required(appToken, 'app'), endpoint, clock, log, onEnvelope });
    isStopped = false;
    presses.begin();
    const heard = new AbortController(); // the sockets stay open until the last press is acknowledged
    const end = (): void => void presses.end().then(() => heard.abort());
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    await Promise.all([receiver.run(heard.signal), calls.keepChecking(signal)]);
    isStopped = true;
  }

  function health(): ChannelHealth {
    if (isStopped) return { ok: false, detail: 'stopped' };
    const receiving = receiver?.health() ?? { ok: false, detail: 'connecting' };
    const trouble = calls.trouble();
    return receiving.ok && trouble ? { ok: false, detail: trouble.say } : receiving;
  }

  const sharedSinceMs = (): number | undefined => receiver?.sharedSinceMs();
  return { name: 'slack', post, edit, run, health, sharedSinceMs };
}

/**
 * A reply to a card goes into that card's thread, and also into the channel, because it is posted when somebody is
 * needed.
 */
function inThread(thread: string | undefined, replyTo: string | undefined, { silent }: Message): object {
  if (thread !== undefined) return { thread_ts: thread };
  return replyTo === undefined ? {} : { thread_ts: replyTo, reply_broadcast: !silent };
}

async function required(read: ReadToken, what: 'bot' | 'app'): Promise<string> {
  const token = (await read())?.trim();
  if (!token) throw noToken(what);
  return token;
}
