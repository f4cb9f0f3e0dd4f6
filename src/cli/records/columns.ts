import { visible } from '../../lib/text.ts';

/** One column of a table: the less it matters, the earlier it goes when the window is narrow. */
export interface Column<T> {
  title: string;
  /** 0: never left out. The highest number goes first. */
  rank: number;
  cell(row: T): string;
  paint?(row: T): Paint | undefined;
  /** The end that stays when a cell is cut, because people go by it. */
  ending?: RegExp;
}

export type Paint = 'red' | 'yellow' | 'green' | 'dim';

const codes: Readonly<Record<Paint, number>> = { red: 31, yellow: 33, green: 32, dim: 2 };
const gap = 3;
const narrowest = 8;

export const painted = (text: string, paint: Paint | undefined, colour: boolean): string =>
  colour && paint ? `\u001b[${codes[paint]}m${text}\u001b[0m` : text;

/** Pure. The lines of a table that is at most this wide; without a width nothing is left out or cut. */
export function tableLines<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  { columns: width, colour }: { columns: number | undefined; colour: boolean },
): string[] {
  const texts = (column: Column<T>): string[] => [column.title, ...rows.map((row) => visible(column.cell(row)) || '-')];
  const kept = fitting(
    columns.map((column) => ({ column, texts: texts(column) })),
    width,
  );
  const lines = [undefined, ...rows].map((row, index) =>
    kept.map(({ column, texts: own, width: wide }, at) => {
      const text = cutAtWord(own[index]!, wide, column.ending);
      const space = at === kept.length - 1 ? '' : ' '.repeat(wide - text.length + gap);
      return painted(text, row === undefined ? undefined : column.paint?.(row), colour) + space;
    }),
  );
  return lines.map((cells) => cells.join('').trimEnd());
}

interface Filled<T> {
  column: Column<T>;
  texts: string[];
}

function fitting<T>(all: Filled<T>[], width: number | undefined): (Filled<T> & { width: number })[] {
  const sized = all.map((one) => ({ ...one, width: Math.max(...one.texts.map((text) => text.length)) }));
  if (width === undefined) return sized;
  let kept = sized;
  while (totalOf(kept) > width) {
    const least = Math.max(...kept.map(({ column }) => column.rank));
    if (least === 0) return squeezed(kept, width);
    kept = kept.filter(({ column }) => column.rank !== least);
  }
  return kept;
}

const totalOf = (columns: readonly { width: number }[]): number =>
  columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1));

/** The widest columns give way first. */
function squeezed<T extends { width: number }>(columns: readonly T[], width: number): T[] {
  const next = columns.map((column) => ({ ...column }));
  while (totalOf(next) > width) {
    const widest = next.reduce((a, b) => (b.width > a.width ? b : a));
    if (widest.width <= narrowest) break;
    widest.width -= 1;
  }
  return next;
}

/** Pure. At most this long, cut behind a hyphen, slash, dot or space if there is one that is not too far from the end. */
export function cutAtWord(text: string, longest: number, ending?: RegExp): string {
  if (text.length <= longest) return text;
  const [tail = ''] = ending?.exec(text) ?? [];
  const head = text.slice(0, Math.max(longest - 1 - tail.length, 0));
  const at = Math.max(...['-', '/', '.', ' ', '_'].map((mark) => head.lastIndexOf(mark)));
  const whole = at + 1 >= head.length / 2 ? head.slice(0, at + 1) : head;
  return `${whole.trimEnd()}…${tail}`;
}
