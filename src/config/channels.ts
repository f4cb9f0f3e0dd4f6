import { z } from 'zod';
import { addIssue, namespaceGlob, nonEmptyListOf, numericId, text, url } from './fields.ts';
import type { Route } from './schema.ts';

/** Telegram's ids have at most 52 bits, so 16 digits: https://core.telegram.org/bots/api#chat */
const telegramChat = numericId(
  'a Telegram chat id such as -1001234567890',
  /^-?[1-9]\d{0,15}$/,
  'a whole number of at most 16 digits, not the @name: Telegram names chats by number when a button is pressed; groups have negative ids',
  'such as chat: -1001234567890',
);

const telegramThread = numericId(
  'the number of a topic',
  /^[1-9]\d{0,15}$/,
  'the last number in a link to a message of that topic is the message; the one before it the topic',
);

const telegramRoute = z
  .strictObject({
    namespaces: nonEmptyListOf(namespaceGlob, 'such as ["shop-*"]'),
    chat: telegramChat.optional(),
    thread: telegramThread.optional(),
  })
  .superRefine(({ chat, thread }, context) => {
    if (chat === undefined && thread === undefined)
      addIssue(context, {
        wrong: 'needs a chat, a thread or both',
        hint: 'such as chat: -1001234567890, or thread: 7 for a topic of the main chat',
      });
  });

const slackChannel = text(
  'a Slack channel id such as C0123456789',
  /^[CGD][A-Z0-9]{2,}$/,
  'the id, not the #name: it is at the bottom of the channel\'s "About" tab',
  'such as channel: C0123456789',
);

const telegram = z
  .strictObject({
    chat: telegramChat,
    routes: z.array(telegramRoute).prefault([]),
    apiRoot: url().prefault('https://api.telegram.org'),
  })
  .transform(({ chat, routes, apiRoot }) => ({
    chat,
    // A topic of the main chat need not repeat the chat.
    routes: routes.map((route): Route => ({ ...route, chat: route.chat ?? chat })),
    apiRoot: apiRoot.replace(/\/+$/, ''),
  }));

const slack = z
  .strictObject({
    channel: slackChannel,
    routes: z
      .array(z.strictObject({ namespaces: nonEmptyListOf(namespaceGlob, 'such as ["shop-*"]'), channel: slackChannel }))
      .prefault([]),
    apiUrl: url().prefault('https://slack.com/api/'),
  })
  .transform(({ channel, routes, apiUrl }) => ({
    channel,
    routes: routes.map((route): Route => ({ namespaces: route.namespaces, chat: route.channel })),
    apiUrl: apiUrl.replace(/\/*$/, '/'),
  }));

export const channels = z
  .strictObject({
    telegram: telegram.optional(),
    slack: slack.optional(),
    console: z.strictObject({}).optional(),
  })
  .superRefine(
    (given, context) => {
      if (Object.keys(given).length === 0)
        addIssue(context, { wrong: 'needs at least one channel', hint: 'telegram, slack or console: {}' });
    },
    // Beside other problems as well: all are reported at once.
    { when: ({ value }) => typeof value === 'object' && value !== null },
  )
  .prefault({});
