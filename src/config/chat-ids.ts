import { z } from 'zod';
import { addIssue, numericId, text, type Wrong } from './fields.ts';

/** How each vendor names people and chats: by ids, because names can change hands. */

export const telegramUser = z.unknown().transform((value, context): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  addIssue(context, whyNoPerson(value));
  return z.NEVER;
});

function whyNoPerson(value: unknown): Wrong {
  if (typeof value === 'number')
    return { wrong: "must be a person's id, a positive number", hint: "a negative one is a group's" };
  const quoted = typeof value === 'string' && /^\d+$/.test(value);
  const hint = quoted ? 'without quotes' : 'the numeric id, not the @name; @userinfobot tells each person theirs';
  return { wrong: 'must be a number', hint };
}

export const slackUser = text(
  'a Slack member id such as U012AB3CD',
  /^[UW][A-Z0-9]{2,}$/,
  'the member id, not the @name: profile, then "Copy member ID"',
);

/** Telegram's ids have at most 52 bits, so 16 digits: https://core.telegram.org/bots/api#chat */
export const telegramChat = numericId(
  'a Telegram chat id such as -1001234567890',
  /^-?[1-9]\d{0,15}$/,
  'a whole number of at most 16 digits, not the @name: Telegram names chats by number when a button is pressed; groups have negative ids',
  'such as chat: -1001234567890',
);

export const slackChannel = text(
  'a Slack channel id such as C0123456789',
  /^[CGD][A-Z0-9]{2,}$/,
  'the id, not the #name: it is at the bottom of the channel\'s "About" tab',
  'such as channel: C0123456789',
);
