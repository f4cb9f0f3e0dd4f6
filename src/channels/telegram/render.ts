import type { InlineKeyboardMarkup } from 'grammy/types';
import type { Card, Line, Message, Row } from '../../notices/message.ts';
import { dots, textOf } from '../lines.ts';
import { cut } from '../cut.ts';

/** Longest button payload, in bytes: https://core.telegram.org/bots/api#inlinekeyboardbutton */
const maxPayloadBytes = 64;
/** Longest message text after entities parsing: https://core.telegram.org/bots/api#sendmessage */
export const maxText = 4096;

export interface Rendered {
  html: string;
  keyboard: InlineKeyboardMarkup;
}

/** Only these four are decoded by Telegram; everything from the cluster goes through here. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What Telegram counts: the text without its tags, entities as one character. */
export const visible = (html: string): string => html.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot);/g, '.');

/** How much of a row is kept: long lines are cut first, then lines go, and what is broken goes last. */
interface Room {
  line: number;
  lines: number;
  code: number;
}
const rooms: readonly Room[] = [
  { line: 1100, lines: 30, code: 2000 },
  { line: 500, lines: 12, code: 1000 },
  { line: 250, lines: 8, code: 500 },
  { line: 120, lines: 5, code: 240 },
  { line: 70, lines: 3, code: 100 },
];

export function renderTelegram(message: Message): Rendered {
  const keyboard = { inline_keyboard: message.cards.flatMap((card) => card.buttons.map((row) => row.map(button))) };
  for (const room of rooms) {
    const html = renderHtml(message, room);
    if (visible(html).length <= maxText) return { html, keyboard };
  }
  return { html: renderHeadlines(message), keyboard };
}

function button({ label, data }: { label: string; data: string }): { text: string; callback_data: string } {
  // Fail here, in our tests, and not as an opaque 400 at three in the morning.
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  return { text: cut(label, 64), callback_data: data };
}

function renderHtml({ title, cards, rest }: Message, room: Room): string {
  const blocks = cards.map((card) => renderCard(card, room));
  if (title) blocks.unshift(`${dots[title.dot]} <b>${words(title.text, 300)}</b>`);
  if (rest) blocks.push(words(rest, 200));
  return blocks.join('\n\n');
}

const words = (text: string, max: number): string => escapeHtml(cut(text, max));

function renderCard(card: Card, room: Room): string {
  const head = [`${dots[card.dot]} <b>${words(card.headline, 300)}</b>`];
  if (card.subtitle) head.push(words(card.subtitle, 400));
  const footer = card.footer
    .slice(0, room.lines)
    .map((line) => renderLine(line, room))
    .join('\n');
  const rows = card.rows.map((row) => renderRow(row, room)).join('\n');
  return [head.join('\n'), rows, footer].filter(Boolean).join(isShort(card) ? '\n' : '\n\n');
}

/** A line under a headline needs no space around it. */
const isShort = (card: Card): boolean =>
  card.subtitle === undefined || (card.rows.length === 0 && card.footer.length < 3);

function renderRow(row: Row, room: Room): string {
  const kept = row.lines.slice(0, room.lines);
  const left = row.lines.length - kept.length;
  const lines = kept.map((line) => renderLine(line, room));
  if (left > 0) lines.push(`… ${left} more`);
  if (row.fold) return `<b>${words(row.label, 30)}</b>\n<blockquote expandable>${lines.join('\n')}</blockquote>`;
  return `<b>${words(row.label, 30)}</b>  ${lines.join('\n')}`;
}

const renderLine = (line: Line, room: Room): string =>
  typeof line === 'string' ? words(line, room.line) : `<pre>${words(line.code, room.code)}</pre>`;

/** The last resort: what is broken, and nothing else. */
function renderHeadlines({ title, cards }: Message): string {
  const lines = cards.map(({ dot, headline }) => ({ dot, text: headline }));
  return [...(title ? [title] : []), ...lines]
    .slice(0, 20)
    .map(({ dot, text }) => `${dots[dot]} ${words(text, 180)}`)
    .join('\n');
}

/** The same words without any markup, for the day Telegram refuses ours. */
export const plainText = (message: Message): string =>
  cut(
    [
      ...(message.title ? [`${dots[message.title.dot]} ${message.title.text}`] : []),
      ...message.cards.flatMap(plainCard),
    ].join('\n'),
    maxText,
  );

const plainCard = ({ dot, headline, subtitle, rows, footer }: Card): string[] => [
  `${dots[dot]} ${headline}`,
  ...(subtitle ? [subtitle] : []),
  ...rows.flatMap(({ label, lines }) =>
    lines.map((line, index) => (index === 0 ? `${label}: ${textOf(line)}` : textOf(line))),
  ),
  ...footer.map(textOf),
];
