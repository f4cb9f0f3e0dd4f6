import type { types } from '@slack/bolt';

/**
 * Words in Slack's rich text, which nothing is read into: in its mrkdwn a * or ` from the cluster would change how the
 * rest looks, and there is no way to escape it. https://docs.slack.dev/reference/block-kit/blocks/rich-text-block
 */
export interface Run {
  text: string;
  bold?: boolean;
}

/** A line of words, something exact in a box of its own, or lines set apart from the others. */
export type Piece = Run[] | { code: string } | { quote: Run[][] };

export function richText(pieces: readonly Piece[]): types.RichTextBlock | undefined {
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

/** An element begins and ends on a line of its own anyway: blank ones at its edges would be holes. */
function trimmed(lines: readonly Run[][]): Run[][] {
  const first = lines.findIndex((line) => !isBlank(line));
  const last = lines.findLastIndex((line) => !isBlank(line));
  return first < 0 ? [] : lines.slice(first, last + 1);
}

/** One run after the other, as few as possible: each costs characters that Slack counts. Empty ones it refuses. */
function joined(lines: readonly Run[][]): types.RichTextText[] {
  const runs: Run[] = [];
  lines.forEach((line, index) => {
    for (const run of index === 0 ? line : [{ text: '\n' }, ...line]) {
      const before = runs.at(-1);
      if (before && (before.bold === run.bold || run.text === '\n')) before.text += run.text;
      else if (run.text !== '') runs.push({ ...run });
    }
  });
  return runs.map(({ text, bold }) => ({ type: 'text', text, ...(bold && { style: { bold } }) }));
}
