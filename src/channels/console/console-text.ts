import type { Card, Line, Message } from '../../notices/cards/message.ts';
import { dots, legible, listLine } from '../lines.ts';

const usualColumns = 80;
const labelWidth = 9;

/** The card as plain text, as on the phone: at most 80 columns, with labels in their own column. */
export function consoleText(
  given: Message,
  keys: (data: string) => string | undefined,
  columns = usualColumns,
): string {
  const message = legible(given);
  const cards = message.isList
    ? [message.cards.flatMap((card) => wrap(listLine(card, message.title), '   ', '', columns)).join('\n')]
    : message.cards.map((card) => cardText(card, keys, columns));
  const title = message.title ? [headline(message.title.dot, message.title.text, columns)] : [];
  const below = buttonText({ buttons: message.buttons ?? [] }, keys);
  const { rest, hint } = message;
  const more = [...(rest ? [rest] : []), ...(hint ? [`${hint.tap}${hint.words}`] : []), ...(below ? [below] : [])];
  return [...title, ...cards, ...more].join(message.isList ? '\n' : '\n\n');
}

export const headline = (dot: Card['dot'], text: string, columns = usualColumns): string =>
  wrap(`${dots[dot]} ${text}`, '   ', '', columns).join('\n');

function cardText(card: Card, keys: (data: string) => string | undefined, columns: number): string {
  const rows = card.rows.flatMap(({ label, lines }) => rowText(label, lines, columns));
  const footer = card.footer.flatMap((line) => lineText(line, '', columns));
  const subtitle = card.subtitle ? wrap(card.subtitle, '', '', columns) : [];
  const head = [headline(card.dot, card.headline, columns), ...subtitle];
  const buttons = buttonText(card, keys);
  const gap = card.rows.length > 1 ? [''] : [];
  return [...head, ...gap, ...rows, ...gap, ...footer, ...(buttons ? [buttons] : [])].join('\n');
}

function rowText(label: string, lines: readonly Line[], columns: number): string[] {
  const indent = ' '.repeat(labelWidth);
  const texts = lines.flatMap((line) => lineText(line, indent, columns));
  return texts.map((text, index) => (index === 0 ? label.padEnd(labelWidth) + text.slice(labelWidth) : text));
}

/** Exact text is never reflowed, only indented. */
function lineText(line: Line, indent: string, columns: number): string[] {
  if (typeof line === 'string') return wrap(line, indent, indent, columns);
  if ('tap' in line) return wrap(`${line.tap}${line.words}`, indent, indent, columns);
  if ('link' in line) return [`${indent}${line.link}: ${line.url}`];
  const exact = 'code' in line ? line.code : line.command; // a terminal has room for all of it
  return exact.split('\n').map((text) => `${indent}  ${text}`);
}

/** Lines of at most this many columns; all but the first begin with the indent. */
export function wrap(text: string, indent: string, firstIndent: string, columns = usualColumns): string[] {
  const lines: string[] = [];
  let current = firstIndent;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const empty = current.trim() === '';
    if (!empty && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = indent + word;
    } else current += empty ? word : ` ${word}`;
  }
  return [...lines, current];
}

/** "[a 1] Roll back to 1.41   [r 1] Reject"; empty if there is no keyboard. */
export function buttonText(card: Pick<Card, 'buttons'>, keys: (data: string) => string | undefined): string {
  const rows = card.buttons.map((row) =>
    row.flatMap(({ label, data }) => {
      const key = keys(data);
      return key ? [`[${key}] ${label}`] : [];
    }),
  );
  return rows
    .filter((row) => row.length > 0)
    .map((row) => row.join('   '))
    .join('\n');
}
