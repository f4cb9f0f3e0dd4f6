import { z } from 'zod';
import type { Command, Place, Press } from '../channel.ts';
import type { Envelope } from './socket.ts';

/** What somebody did, what is the same each time Slack delivers it, and where an answer can go. */
export type Deed = { key: string; responseUrl?: string | undefined } & (
  { press: Press; command?: never } | { command: Command; press?: never }
);

/** One row per type of envelope that is of any use. */
const readers: Readonly<Record<string, (envelope: Envelope) => Deed | undefined>> = {
  interactive: pressIn,
  slash_commands: slashIn,
  events_api: mentionIn,
};
export const deedIn = (envelope: Envelope): Deed | undefined => readers[envelope.type]?.(envelope);

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload, as far as it is needed. */
const blockActions = z.object({
  type: z.literal('block_actions'),
  user: z.object({ id: z.string(), username: z.string().optional(), name: z.string().optional() }),
  container: z.object({
    channel_id: z.string(),
    message_ts: z.string(),
    thread_ts: z.string().optional(),
    is_ephemeral: z.boolean().optional(),
  }),
  actions: z.tuple([z.object({ value: z.string(), action_ts: z.string().optional() })], z.unknown()),
  response_url: z.url().optional(),
});

function pressIn({ envelope_id, body }: Envelope): Deed | undefined {
  const parsed = blockActions.safeParse(body);
  if (!parsed.success) return undefined;
  const { user, container, actions, response_url } = parsed.data;
  const [{ value, action_ts }] = actions;
  // The first message of a thread is not in it: an answer there would not be seen.
  const thread = container.thread_ts === container.message_ts ? undefined : container.thread_ts;
  return {
    key: [user.id, container.message_ts, value, action_ts ?? envelope_id].join(' '),
    responseUrl: response_url,
    press: {
      channel: 'slack',
      by: `slack:${user.id}`,
      name: user.username ?? user.name ?? user.id,
      place: placeOf(container.channel_id, thread),
      message: container.message_ts,
      data: value,
      // Only an app's own messages have buttons that reach it, and this kind it can only have sent as an answer.
      ...(container.is_ephemeral && { ours: true as const }),
    },
  };
}

/** https://docs.slack.dev/interactivity/implementing-slash-commands */
const slashCommand = z.object({
  command: z.string(),
  text: z.string().optional(),
  user_id: z.string(),
  user_name: z.string().optional(),
  channel_id: z.string(),
  trigger_id: z.string().optional(),
  response_url: z.url().optional(),
});

function slashIn({ envelope_id, body }: Envelope): Deed | undefined {
  const parsed = slashCommand.safeParse(body);
  if (!parsed.success) return undefined;
  const { text, user_id, user_name, channel_id, trigger_id, response_url } = parsed.data;
  const by = `slack:${user_id}`;
  return {
    key: `command ${trigger_id ?? envelope_id}`,
    responseUrl: response_url,
    command: { channel: 'slack', by, name: user_name ?? user_id, place: placeOf(channel_id), text: wordsOf(text) },
  };
}

/** https://docs.slack.dev/reference/events/app_mention */
const mention = z.object({
  event_id: z.string().optional(),
  event: z.object({
    type: z.literal('app_mention'),
    user: z.string(),
    text: z.string(),
    channel: z.string(),
    thread_ts: z.string().optional(),
    bot_id: z.undefined().optional(),
  }),
});

/** Whoever writes in a card's thread speaks of that card. */
function mentionIn({ envelope_id, body }: Envelope): Deed | undefined {
  const parsed = mention.safeParse(body);
  if (!parsed.success) return undefined;
  const { event_id, event } = parsed.data;
  return {
    key: `mention ${event_id ?? envelope_id}`,
    command: {
      channel: 'slack',
      by: `slack:${event.user}`,
      name: event.user,
      place: placeOf(event.channel, event.thread_ts),
      text: wordsOf(event.text.replace(/<@[^>]*>/g, ' ')),
      ...(event.thread_ts !== undefined && { replyTo: event.thread_ts }),
    },
  };
}

const placeOf = (chat: string, thread?: string): Place => ({ chat, ...(thread !== undefined && { thread }) });

/** As it was typed: Slack escapes three characters. */
const wordsOf = (text = ''): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim();
