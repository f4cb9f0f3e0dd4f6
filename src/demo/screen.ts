/** Where the demo writes; its size may change at any time. A pipe has neither columns nor rows. */
export interface Terminal {
  write(text: string): void;
  isTTY: boolean;
  columns: number;
  rows: number;
}

export interface Screen {
  /** Lines at its lower end can be rewritten: otherwise everything is only ever appended. */
  readonly inPlace: boolean;
  /** Lines that stay, above what is live. */
  say(text: string): void;
  /** What is live: it replaces what was shown before, in its place. A pipe gets none of it. */
  show(text: string): void;
  /** What is live stays as it is, and the next text begins below it. */
  settle(): void;
}

const escape = '\u001b';

/** A few lines at the lower end of a terminal that change in place; each change is one write, so that nothing flickers. */
export function createScreen(terminal: Terminal): Screen {
  let live = '';

  /** Back to the first column of what is live, and away with it. Of what has scrolled off nothing can be taken back. */
  function erase(): string {
    if (live === '') return '';
    const up = rowsOf(live, terminal.columns);
    return up < terminal.rows ? `${escape}[${up}A\r${escape}[J` : '';
  }

  function replace(said: string, next: string): void {
    const text = `${erase()}${said}${next === '' ? '' : `${next}\n`}`;
    live = next;
    if (text !== '') terminal.write(text);
  }

  return {
    inPlace: terminal.isTTY,
    say: (text) => (terminal.isTTY ? replace(`${text}\n`, live) : terminal.write(`${text}\n`)),
    show(text) {
      const next = fitted(text, terminal);
      if (terminal.isTTY && next !== live) replace('', next);
    },
    settle: () => void (live = ''),
  };
}

/**
 * What has scrolled off the screen can be neither seen nor replaced. So of a card that is taller than the terminal the
 * middle is left out: its first lines say what is wrong, and the last two paragraphs what can be pressed.
 */
function fitted(text: string, { columns, rows }: Pick<Terminal, 'columns' | 'rows'>): string {
  // The cursor has the last row. The first stays free: who erases from there on moves all of it to tmux's history.
  const fits = (shown: string): boolean => rowsOf(shown, columns) < rows - 1;
  if (fits(text)) return text;
  const lines = text.split('\n');
  const end = lines.lastIndexOf('', lines.lastIndexOf('') - 1);
  for (let first = end - 1; first > 0; first--) {
    const gap = `           ... ${end - first} more lines, in a taller window`;
    const shown = [...lines.slice(0, first), gap, ...lines.slice(end)].join('\n');
    if (fits(shown)) return shown;
  }
  return text;
}

/** How many rows of the terminal a text takes. */
export const rowsOf = (text: string, columns: number): number =>
  text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / Math.max(columns, 1))), 0);

/** Emoji are two columns wide, marks that change the letter before them none. */
const widthOf = (line: string): number =>
  [...line].reduce(
    (width, char) => width + (/\p{Emoji_Presentation}/u.test(char) ? 2 : /\p{M}|\u200d|\ufe0f/u.test(char) ? 0 : 1),
    0,
  );
