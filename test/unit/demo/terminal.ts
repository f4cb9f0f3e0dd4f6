import type { Terminal } from '../../../src/demo/screen.ts';

/** A terminal that obeys what the screen sends: cursor up, carriage return, erase below. */
export function aTerminal(over: Partial<Terminal> = {}) {
  const terminal = { isTTY: true, columns: 80, rows: 24, ...over };
  const writes: string[] = [];
  const rows: string[] = [''];
  let row = 0;
  let column = 0;

  function put(char: string): void {
    const width = /\p{Emoji_Presentation}/u.test(char) ? 2 : 1;
    if (column + width > terminal.columns) newLine();
    rows[row] = `${rows[row] ?? ''}${char}`;
    column += width;
  }
  function newLine(): void {
    row += 1;
    column = 0;
    rows[row] ??= '';
  }
  function obey(text: string): void {
    for (const [, up, erase, cr, lf, char] of text.matchAll(/\u001b\[(\d+)A|(\u001b\[J)|(\r)|(\n)|([\s\S])/gu)) {
      if (up) row = Math.max(0, row - Number(up));
      else if (erase) {
        rows.length = row + 1;
        rows[row] = (rows[row] ?? '').slice(0, column);
      } else if (cr) column = 0;
      else if (lf) newLine();
      else if (char) put(char);
    }
  }
  return {
    ...terminal,
    writes,
    write(text: string): void {
      writes.push(text);
      obey(text);
    },
    /** What is to be seen, without the empty row the cursor is in. */
    lines: (): string[] => rows.slice(0, rows.at(-1) === '' ? -1 : undefined),
  };
}
