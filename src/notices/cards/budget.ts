import { cutToLines, linesIn } from '../../lib/text.ts';
import type { Line } from './message.ts';

/* A card of one incident is read on a phone: eight lines above the buttons, of forty columns each. */

export const cardColumns = 40;
export const cardLines = 8;

/** Exact text is broken anywhere. */
const exactHeight = (text: string): number =>
  text.split('\n').reduce((sum, line) => sum + Math.max(Math.ceil(line.length / cardColumns), 1), 0);

/** How many lines of a phone it takes. */
export function heightOf(line: Line): number {
  if (typeof line === 'string') return linesIn(line, cardColumns);
  if ('code' in line) return exactHeight(line.code);
  if ('command' in line) return exactHeight(line.command);
  return linesIn('link' in line ? line.link : `${line.tap}${line.words}`, cardColumns);
}

/** Stands for the dot before a headline, which takes two columns and a space. */
const dotSpace = '..';
export const headlineHeight = (headline: string): number => linesIn(`${dotSpace} ${headline}`, cardColumns);

/** The headline in at most so many lines. */
export const cutHeadline = (headline: string, lines: number): string =>
  cutToLines(`${dotSpace} ${headline}`, lines, cardColumns).slice(dotSpace.length + 1);

/** The first of these texts that fits one line; else the last, which is then broken. */
export const fitting = (texts: readonly string[]): string =>
  texts.find((text) => text.length <= cardColumns) ?? texts.at(-1) ?? '';

/** Something that is wanted on a card. They are given in the order in which people read. */
export interface WantedLines {
  /** One line of words is cut to fit. Several lines, or exact ones, are there as a whole or not at all. */
  lines: readonly Line[];
  /** Half of it would mislead, although it is one line of words. */
  isWhole?: true;
  /** It takes at most so many lines of a phone. */
  most: number;
  /** Those with a lower number get their room first. */
  rank: number;
  /** Stands in its place if there is no room for all of it. */
  orElse?: string;
}

const heightOfAll = (lines: readonly Line[]): number => lines.reduce((sum, line) => sum + heightOf(line), 0);

function fitted({ lines, isWhole, orElse }: WantedLines, most: number): readonly Line[] {
  const [only, ...others] = lines;
  if (typeof only === 'string' && others.length === 0 && !isWhole)
    return [cutToLines(only, most, cardColumns)].filter(Boolean);
  if (heightOfAll(lines) <= most) return lines;
  return orElse !== undefined && heightOf(orElse) <= most ? [orElse] : [];
}

/** Pure. As much of this as fits below a headline, the important first, in the order given. */
export function withinBudget(headline: string, wanted: readonly WantedLines[]): Line[] {
  let room = cardLines - headlineHeight(headline);
  const kept = new Map<WantedLines, readonly Line[]>();
  for (const one of wanted.toSorted((a, b) => a.rank - b.rank)) {
    const lines = fitted(one, Math.min(one.most, room));
    room -= heightOfAll(lines);
    kept.set(one, lines);
  }
  return wanted.flatMap((one) => kept.get(one)!);
}
