import { visible } from '../lib/text.ts';
import type { Button, Card, Dot, Line, Message } from '../notices/cards/message.ts';

export const dots: Readonly<Record<Dot, string>> = {
  red: '🔴',
  yellow: '🟡',
  blue: '🔵',
  green: '🟢',
  grey: '⚪',
  warning: '⚠️',
  hello: '👋',
};

/** A card as the line of a list. Where its dot is the title's, the title has shown it. */
export const listLine = ({ dot, headline }: Card, title: Message['title']): string =>
  dot === title?.dot ? headline : `${dots[dot]} ${headline}`;

/** Comes before a shorter command that replaces one that does not fit. */
export const insteadOfCommand = 'a command too long for this message; this prints it:';

const onOneLine = (text: string): string => visible(text).replace(/\s+/g, ' ');

const legibleLine = (line: Line): Line =>
  typeof line === 'string'
    ? visible(line)
    : (Object.fromEntries(Object.entries(line).map(([key, text]) => [key, visible(text as string)])) as Line);

const legibleButtons = (rows: readonly Button[][]): Button[][] =>
  rows.map((row) => row.map(({ label, data }) => ({ label: onOneLine(label), data })));

const legibleCard = (card: Card): Card => ({
  ...card,
  headline: onOneLine(card.headline),
  ...(card.subtitle !== undefined && { subtitle: onOneLine(card.subtitle) }),
  rows: card.rows.map((row) => ({ ...row, label: onOneLine(row.label), lines: row.lines.map(legibleLine) })),
  footer: card.footer.map(legibleLine),
  buttons: legibleButtons(card.buttons),
});

/**
 * The message as every channel shows it: without a character that cannot be seen or that changes the order of the
 * others, and with headlines that are one line. A record may be older than the rules by which records are written.
 */
export const legible = (message: Message): Message => ({
  ...message,
  ...(message.title && { title: { ...message.title, text: onOneLine(message.title.text) } }),
  cards: message.cards.map(legibleCard),
  ...(message.rest !== undefined && { rest: visible(message.rest) }),
  ...(message.hint && { hint: legibleLine(message.hint) as typeof message.hint }),
  ...(message.buttons && { buttons: legibleButtons(message.buttons) }),
});
