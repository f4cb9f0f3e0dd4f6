import type { types } from '@slack/bolt';
import { cut, visible } from '../../lib/text.ts';
import type { Button, Card, Dot, Line, Mention, Message, CardRow } from '../../notices/cards/message.ts';
import { dots, insteadOfCommand, legible, listLine } from '../lines.ts';

/**
 * Text in Slack's rich text, which has no markup characters: in its mrkdwn a * or ` from the cluster would change how
 * the rest looks, and there is no way to escape it. Nor does Slack make links or mentions of it: in rich text those are
 * elements of their own, which we do not use. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
interface Run {
  text: string;
  bold?: boolean;
  /** An address from the configuration, which the text leads to. */
  url?: string;
}

/** A line of text, exact text in its own box, or lines that are set apart. */
type Piece = Run[] | { code: string } | { quote: Run[][] };

function richText(pieces: readonly Piece[]): types.RichTextBlock | undefined {
  const elements: types.RichTextBlockElement[] = [];
  let lines: Run[][] = [];
  const flush = (): void => {
    const runs = joined(trimmed(lines));
    if (runs.length > 0) elements.push({ type: 'rich_text_section', elements: runs });
    lines = [];
  };
  for (const piece of pieces) {
    if (Array.isArray(piece)) {
      lines.push(piece);
      continue;
    }
    flush();
    const inside = 'code' in piece ? joined([[{ text: piece.code }]]) : joined(trimmed(piece.quote));
    if (inside.length === 0) continue;
    elements.push({ type: 'code' in piece ? 'rich_text_preformatted' : 'rich_text_quote', elements: inside });
  }
  flush();
  return elements.length > 0 ? { type: 'rich_text', elements } : undefined;
}

const isBlank = (line: readonly Run[]): boolean => line.every(({ text }) => text === '');

/** An element starts and ends on its own line anyway, so blank lines at its edges would be gaps. */
function trimmed(lines: readonly Run[][]): Run[][] {
  const first = lines.findIndex((line) => !isBlank(line));
  const last = lines.findLastIndex((line) => !isBlank(line));
  return first < 0 ? [] : lines.slice(first, last + 1);
}

/** Joins the runs, as few as possible, because each costs characters that Slack counts. Slack refuses empty runs. */
function joined(lines: readonly Run[][]): (types.RichTextText | types.RichTextLink)[] {
  const runs: Run[] = [];
  lines.forEach((line, index) => {
    for (const run of index === 0 ? line : [{ text: '\n' }, ...line]) {
      const before = runs.at(-1);
      const isAlike = before?.bold === run.bold || run.text === '\n';
      if (before && !before.url && !run.url && isAlike) before.text += run.text;
      else if (run.text !== '') runs.push({ ...run });
    }
  });
  return runs.map(({ text, bold, url }) =>
    url ? { type: 'link', url, text } : { type: 'text', text, ...(bold && { style: { bold } }) },
  );
}

/** The most blocks in a message: https://docs.slack.dev/reference/block-kit/blocks */
export const maxBlocks = 50;
/** Slack refuses blocks of about 13,200 characters in all, JSON included. This is not documented anywhere. */
export const maxCharacters = 12_000;
/** https://docs.slack.dev/reference/block-kit/blocks/header-block */
const maxHeader = 150;
/**
 * https://docs.slack.dev/reference/block-kit/block-elements/button-element allows more; 64 bytes is our limit for every
 * channel.
 */
const maxLabel = 75;
const maxPayloadBytes = 64;

type Block = types.HeaderBlock | types.ContextBlock | types.RichTextBlock | types.SectionBlock | types.ActionsBlock;

export interface Rendered {
  /** For the lock screen and for screen readers: shown where blocks are not. */
  text: string;
  blocks: Block[];
}

/**
 * How much is kept. As room shrinks, long commands go first, then long lines are cut, then lines go, then further cards
 * keep only their headlines.
 */
interface Room {
  line: number;
  lines: number;
  code: number;
  /** A longer command is replaced by one that prints it, unless that is longer still. */
  command: number;
  /** How cards after the first are shown. */
  further: 'whole' | 'headline';
}
const rooms: readonly Room[] = [
  { line: 1100, lines: 30, code: 2000, command: 3000, further: 'whole' },
  { line: 1100, lines: 30, code: 2000, command: 500, further: 'whole' },
  { line: 500, lines: 12, code: 1000, command: 500, further: 'whole' },
  { line: 250, lines: 8, code: 500, command: 500, further: 'headline' },
  { line: 120, lines: 5, code: 240, command: 240, further: 'headline' },
  { line: 70, lines: 3, code: 100, command: 0, further: 'headline' },
];

export function renderSlack(given: Message): Rendered {
  const message = legible(given);
  for (const room of rooms) {
    const blocks = allBlocks(message, room);
    if (fits(blocks)) return { text: fallbackText(message), blocks };
  }
  return renderPlainly(message);
}

const fits = (blocks: readonly Block[]): boolean =>
  blocks.length <= maxBlocks && JSON.stringify(blocks).length <= maxCharacters;

/**
 * Only headlines and buttons, in the simplest blocks. This is the last resort, and for the case that Slack refuses the
 * other blocks.
 */
export function renderPlainly(given: Message): Rendered {
  const message = legible(given);
  const { title, cards } = message;
  for (let shown = cards.length; ; shown--) {
    const remaining = cards.length - shown;
    const rest = remaining > 0 ? [plainly(`and ${remaining} more: kubectl get fix -A`)] : [];
    const blocks = [
      ...(title ? [plainly(headline(title.dot, title.text, 150))] : []),
      ...cards.slice(0, shown).flatMap((card) => [plainly(headline(card.dot, card.headline, 150)), ...actions(card)]),
      ...rest,
      ...actions({ buttons: message.buttons ?? [] }),
    ];
    if (fits(blocks) || shown === 0) return { text: fallbackText(message), blocks };
  }
}

/** The headline's dot shows the state: a coloured bar would need an attachment, which Slack may fold. */
function allBlocks(message: Message, room: Room): Block[] {
  const { title, cards, isList, rest, hint, mentions = [], buttons = [] } = message;
  if (isList)
    return [
      ...(title ? [lead(title.dot, title.text)] : []),
      ...body(
        [...cards.map((card) => listLine(card, title)), ...(rest ? [rest] : [])].map((text) => [
          { text: cut(text, 300) },
        ]),
      ),
      ...(hint ? body(piecesOf(hint, { ...room, line: 200 })) : []),
      ...buttons.flatMap(rowOfButtons),
    ];
  const further = cards.map((card, index) => (index === 0 || room.further === 'whole' ? card : onlyHeadline(card)));
  const [first, ...others] = further;
  const leading = title || !first ? [] : [lead(first.dot, first.headline), ...subtitle(first)];
  return [
    ...(title ? [lead(title.dot, title.text)] : leading),
    ...(first ? [...(title ? inOne(first, room) : body(bodyOf(first, room))), ...actionsInRows(first)] : []),
    ...others.flatMap((card) => [...inOne(card, room), ...actions(card)]),
    ...(rest ? body([[{ text: cut(rest, 200) }]]) : []),
    ...(hint ? body(piecesOf(hint, { ...room, line: 200 })) : []),
    ...people(mentions),
    ...actions({ buttons }),
  ];
}

const onlyHeadline = ({ dot, headline, buttons }: Card): Card => ({ dot, headline, buttons, rows: [], footer: [] });

/** The first line. Slack shows headers large, if they are short. */
function lead(dot: Dot, text: string): Block {
  const line = headline(dot, text, 300);
  return line.length <= maxHeader
    ? { type: 'header', text: { type: 'plain_text', text: line, emoji: false } }
    : richText([[{ text: line, bold: true }]])!;
}

/** Ids from the configuration, never from the cluster. */
const people = (mentions: readonly Mention[]): Block[] =>
  mentions.length === 0
    ? []
    : [
        {
          type: 'rich_text',
          elements: [
            {
              type: 'rich_text_section',
              elements: mentions.flatMap(({ id }, index): types.RichTextElement[] => [
                ...(index > 0 ? [{ type: 'text' as const, text: ' ' }] : []),
                { type: 'user', user_id: id },
              ]),
            },
          ],
        },
      ];

const headline = (dot: Dot, text: string, max: number): string => `${dots[dot]} ${cut(text, max)}`.trimEnd();

const subtitle = (card: Card): Block[] =>
  card.subtitle
    ? [{ type: 'context', elements: [{ type: 'plain_text', text: cut(card.subtitle, 400), emoji: false }] }]
    : [];

const body = (pieces: readonly Piece[]): Block[] => [richText(pieces) ?? []].flat();

/** A card among others is one block, because the number of blocks is limited. */
function inOne(card: Card, room: Room): Block[] {
  const head: Run[][] = [[{ text: headline(card.dot, card.headline, 300), bold: true }]];
  if (card.subtitle) head.push([{ text: cut(card.subtitle, 400) }]);
  return body([...head, ...bodyOf(card, room)]);
}

const blank: Run[] = [];

function bodyOf(card: Card, room: Room): Piece[] {
  const rows = card.rows.flatMap((row) => rowOf(row, room));
  const footer = card.footer.slice(0, room.lines).flatMap((line) => piecesOf(line, room));
  return rows.length > 0 && footer.length > 0 ? [...rows, blank, ...footer] : [...rows, ...footer];
}

function rowOf({ label, lines, fold }: CardRow, room: Room): Piece[] {
  const name: Run = { text: cut(label, 30), bold: true };
  const kept = lines.slice(0, room.lines);
  const remaining = lines.length - kept.length;
  const pieces = kept.flatMap((line) => piecesOf(line, room));
  if (remaining > 0) pieces.push([{ text: `… ${remaining} more` }]);
  if (fold) return [[name], { quote: pieces.map(asWords) }];
  const [first, ...others] = pieces;
  return Array.isArray(first) ? [[name, { text: '  ' }, ...first], ...others] : [[name], ...pieces];
}

const asWords = (piece: Piece): Run[] =>
  Array.isArray(piece) ? piece : 'code' in piece ? [{ text: piece.code }] : piece.quote.flat();

function piecesOf(line: Line, room: Room): Piece[] {
  if (typeof line === 'string') return [[{ text: cut(line, room.line) }]];
  if ('code' in line) return [{ code: cut(line.code, room.code) }];
  if ('tap' in line) return [[{ text: cut(`${line.tap}${line.words}`, room.line) }]];
  if ('link' in line) return [[{ text: cut(line.link, 60), url: line.url }]];
  const { command, orElse } = line;
  if (command.length <= Math.max(room.command, orElse.length)) return [{ code: command }];
  return [[{ text: insteadOfCommand }], { code: orElse }];
}

/** All buttons of a card in one row; Slack breaks the row where the screen ends. */
const actions = ({ buttons }: Pick<Card, 'buttons'>): Block[] => rowOfButtons(buttons.flat());

/** The deciding buttons are above the others, if there is room. */
const actionsInRows = ({ buttons }: Pick<Card, 'buttons'>): Block[] => buttons.flatMap(rowOfButtons);

function rowOfButtons(row: readonly Button[]): Block[] {
  const elements = row.map(buttonOf);
  return elements.length > 0 ? [{ type: 'actions', elements }] : [];
}

function buttonOf({ label, data }: Button, index: number): types.Button {
  // Fail here, in our tests, and not as an unclear refusal at three in the morning.
  if (Buffer.byteLength(data) > maxPayloadBytes) throw new RangeError(`button payload too long: ${data}`);
  const text = { type: 'plain_text' as const, text: cut(label, maxLabel), emoji: false };
  return { type: 'button', text, action_id: `press-${index}`, value: data, ...styles[data[0] ?? ''] };
}

/** Approve is green; the confirmation is red. */
const styles: Readonly<Record<string, Pick<types.Button, 'style'>>> = {
  a: { style: 'primary' },
  c: { style: 'danger' },
};

const plainly = (text: string): Block => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } });

/** An answer in a few words. In rich text, because Slack makes links of addresses in the text alone. */
export function renderAnswer(say: string): Rendered {
  const words = visible(say);
  return { text: escapeText(words), blocks: body([[{ text: words }]]) };
}

/** The headline and the two lines below it: a lock screen has room for no more. */
function fallbackText({ title, cards, isList, mentions = [] }: Message): string {
  const [first] = cards;
  const line = title ?? (first && { dot: first.dot, text: first.headline });
  const ofCard = [first?.subtitle ?? '', ...(first?.footer ?? []).filter((one) => typeof one === 'string')];
  const below = isList ? cards.map((card) => listLine(card, title)) : title ? [] : ofCard;
  const lines = below.filter(Boolean).slice(0, 2);
  const text = [...(line ? [headline(line.dot, line.text, 300)] : []), ...lines.map((one) => cut(one, 300))].join('\n');
  return [escapeText(text) || 'tapfix', ...mentions.map(({ id }) => `<@${id}>`)].join(' ');
}

/**
 * For text that Slack reads as markup. Escaping these three characters also disables every mention and link.
 * https://docs.slack.dev/messaging/formatting-message-text
 */
export const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
