import type { InlineKeyboardMarkup, MessageEntity } from 'grammy/types';
import { cut } from '../../lib/text.ts';
import type { Card, Line, Mention, Message, CardRow } from '../../notices/cards/message.ts';
import { dots, insteadOfCommand, legible, listLine } from '../lines.ts';
import { partsOf } from './tappable.ts';

/** The markup of a message: Telegram's HTML, or none. All take text as it is but for `folded`. */
interface Markup {
  /** Text that may have come from the cluster: nothing in it can be tapped. */
  words(text: string): string;
  strong(text: string): string;
  exact(text: string): string;
  /** Our own text, in which a command can be tapped. */
  ours(text: string): string;
  /** Somebody who is notified by it: the id is from the configuration, never from the cluster. */
  person(mention: Mention): string;
  /** An address from the configuration. */
  link(label: string, url: string): string;
  /** Takes text that is already marked up. */
  folded(text: string): string;
  /** The characters that Telegram counts. */
  visible(text: string): string;
}

/** Telegram decodes only these four. */
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Nothing but code may be where code is, so what is bold ends before it. */
const withCode = (text: string, others: (escaped: string) => string): string =>
  partsOf(text)
    .map(({ text: part, tappable }) => (tappable ? `<code>${escapeHtml(part)}</code>` : others(escapeHtml(part))))
    .join('');

/** https://core.telegram.org/bots/api#html-style */
export const html: Markup = {
  words: (text) => withCode(text, asItIs),
  strong: (text) => withCode(text, (escaped) => `<b>${escaped}</b>`),
  exact: (text) => `<pre>${escapeHtml(text)}</pre>`,
  ours: escapeHtml,
  // https://core.telegram.org/bots/api#html-style: a mention of somebody by id, who may have no username
  person: ({ id, name }) => `<a href="tg://user?id=${encodeURIComponent(id)}">${escapeHtml(name)}</a>`,
  link: (label, url) => `<a href="${escapeHtml(url)}">${escapeHtml(label)}</a>`,
  folded: (text) => `<blockquote expandable>${text}</blockquote>`,
  visible: (text) => text.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot);/g, '.'),
};

const asItIs = (text: string): string => text;
const plain: Markup = {
  words: asItIs,
  strong: asItIs,
  exact: asItIs,
  ours: asItIs,
  person: ({ name }) => name,
  link: (label, url) => `${label}: ${url}`,
  folded: asItIs,
  visible: asItIs,
};

/** The longest button payload, in bytes: https://core.telegram.org/bots/api#inlinekeyboardbutton */
const maxPayloadBytes = 64;
/** The longest message text after entities parsing: https://core.telegram.org/bots/api#sendmessage */
export const maxText = 4096;

interface Rendered {
  html: string;
  keyboard: InlineKeyboardMarkup;
}

/**
 * How much of a row is kept. As room shrinks, long commands go first, then long lines are cut, then lines go; the
 * headline goes last.
 */
interface Room {
  line: number;
  lines: number;
  code: number;
  /** A longer command is replaced by one that prints it, unless that is longer still. */
  command: number;
}
const rooms: readonly Room[] = [
  { line: 1100, lines: 30, code: 2000, command: maxText },
  { line: 1100, lines: 30, code: 2000, command: 500 },
  { line: 500, lines: 12, code: 1000, command: 500 },
  { line: 250, lines: 8, code: 500, command: 500 },
  { line: 120, lines: 5, code: 240, command: 240 },
  { line: 70, lines: 3, code: 100, command: 0 },
];

export function renderTelegram(given: Message): Rendered {
  const message = legible(given);
  const rows = [...message.cards.flatMap((card) => card.buttons), ...(message.buttons ?? [])];
  const keyboard = { inline_keyboard: rows.map((row) => row.map(button)) };
  return { html: renderText(message, html), keyboard };
}

/** The same text without any markup, for the case that Telegram refuses ours. */
export const plainText = (message: Message): string => renderText(legible(message), plain);

/** All of that text is code, so that nothing in it can be tapped. */
export const allCode = (text: string): { entities: MessageEntity[] } => ({
  entities: [{ type: 'pre', offset: 0, length: text.length }],
});

function button({ label, data }: { label: string; data: string }): { text: string; callback_data: string } {
  // Fail here, in our tests, and not as an unclear 400 at three in the morning.
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  return { text: cut(label, 64), callback_data: data };
}

/** A markup, and how much of everything there is room for. */
type Style = Markup & { room: Room };

function renderText(message: Message, markup: Markup): string {
  for (const room of rooms) {
    const text = renderCards(message, { ...markup, room });
    if (markup.visible(text).length <= maxText) return text;
  }
  return renderHeadlines(message, markup);
}

function renderCards({ title, cards, isList, rest, hint, mentions = [] }: Message, style: Style): string {
  const head = title ? [`${dots[title.dot]} ${style.strong(cut(title.text, 300))}`] : [];
  const below = rest ? [style.words(cut(rest, 200))] : [];
  const lines = isList ? [cards.map((card) => style.words(cut(listLine(card, title), 300))).join('\n')] : [];
  const blocks = isList
    ? [[...head, ...lines, ...below].join('\n')]
    : [...head, ...cards.map((card) => renderCard(card, style)), ...below];
  if (hint) blocks.push(renderLine(hint, { ...style, room: { ...style.room, line: 200 } }));
  if (mentions.length > 0) blocks.push(mentions.map(style.person).join(' '));
  return blocks.join('\n\n');
}

function renderCard(card: Card, style: Style): string {
  const head = [`${dots[card.dot]} ${style.strong(cut(card.headline, 300))}`];
  if (card.subtitle) head.push(style.words(cut(card.subtitle, 400)));
  const footer = card.footer
    .slice(0, style.room.lines)
    .map((line) => renderLine(line, style))
    .join('\n');
  const rows = card.rows.map((row) => renderRow(row, style)).join('\n');
  return [head.join('\n'), rows, footer].filter(Boolean).join(isShort(card) ? '\n' : '\n\n');
}

/** A line under a headline needs no space around it. */
const isShort = (card: Card): boolean =>
  card.subtitle === undefined || (card.rows.length === 0 && card.footer.length < 3);

function renderRow(row: CardRow, style: Style): string {
  const kept = row.lines.slice(0, style.room.lines);
  const remaining = row.lines.length - kept.length;
  // A folded block cannot contain another block: https://core.telegram.org/bots/api#formatting-options
  const inside = row.fold ? { ...style, exact: style.words } : style;
  const lines = kept.map((line) => renderLine(line, inside));
  if (remaining > 0) lines.push(`… ${remaining} more`);
  const label = style.strong(cut(row.label, 30));
  return row.fold ? `${label}\n${style.folded(lines.join('\n'))}` : `${label}  ${lines.join('\n')}`;
}

function renderLine(line: Line, { room, words, exact, ours, link }: Style): string {
  if (typeof line === 'string') return words(cut(line, room.line));
  if ('code' in line) return exact(cut(line.code, room.code));
  if ('tap' in line) return `${ours(line.tap)}${words(cut(line.words, room.line))}`;
  if ('link' in line) return link(cut(line.link, 60), line.url);
  const { command, orElse } = line;
  if (command.length <= Math.max(room.command, orElse.length)) return exact(command);
  return `${words(insteadOfCommand)}\n${exact(orElse)}`;
}

/** The last resort: only the headlines. */
function renderHeadlines({ title, cards }: Message, { words }: Markup): string {
  const lines = cards.map(({ dot, headline }) => ({ dot, text: headline }));
  return [...(title ? [title] : []), ...lines]
    .slice(0, 21) // a message never has more, and they fit
    .map(({ dot, text }) => `${dots[dot]} ${words(cut(text, 180))}`)
    .join('\n');
}
