/** Where the demo writes. A window can change its size at any time. A pipe has neither columns nor rows. */
export interface Terminal {
  write(text: string): void;
  isTTY: boolean;
  columns: number;
  rows: number;
}

export interface Screen {
  /** True for a terminal, whose last lines can be rewritten. On a pipe everything is appended. */
  readonly inPlace: boolean;
  /** How wide a sentence may be: as wide as the window, and at most 80 columns. */
  readonly width: number;
  /** Prints lines that stay, above the card and the status. */
  print(text: string): void;
  /** Replaces the card in its place. A pipe gets nothing. */
  showCard(text: string): void;
  /** Replaces the line below the card; it never touches the card itself. Empty: no such line. A pipe gets nothing. */
  showStatus(text: string): void;
  /** The card stays as it is, and the next text begins below it. */
  settle(): void;
}

const escape = '\u001b';
const widestProse = 80;

/** A few lines at the end of a terminal that change in place. Each change is one write, so that nothing flickers. */
export function createScreen(terminal: Terminal): Screen {
  let card = '';
  let status = '';
  /** The card and the status as they were written last. */
  let live = '';

  /** Goes back to the first column of the live lines and erases them. Lines that have scrolled off stay. */
  function erase(): string {
    if (live === '') return '';
    const up = rowsOf(live, terminal.columns);
    return up < terminal.rows ? `${escape}[${up}A\r${escape}[J` : '';
  }

  function draw(printed = ''): void {
    const next = fitted(folded([card, status].filter(Boolean).join('\n'), terminal.columns), terminal);
    if (printed === '' && next === live) return;
    terminal.write(`${erase()}${printed}${next === '' ? '' : `${next}\n`}`);
    live = next;
  }

  return {
    inPlace: terminal.isTTY,
    get width() {
      return terminal.isTTY ? Math.min(terminal.columns, widestProse) : widestProse;
    },
    print(text) {
      if (terminal.isTTY) draw(`${folded(text, terminal.columns)}\n`);
      else terminal.write(`${text}\n`);
    },
    showCard(text) {
      card = text;
      if (terminal.isTTY) draw();
    },
    showStatus(text) {
      status = text;
      if (terminal.isTTY) draw();
    },
    settle() {
      card = '';
      live = status === '' ? '' : folded(status, terminal.columns);
    },
  };
}

/** Breaks lines that are wider than the window, so that the terminal does not break them in the middle of a word. */
const folded = (text: string, columns: number): string =>
  text
    .split('\n')
    .flatMap((line) => foldedLine(line, columns))
    .join('\n');

/** Between words, and between two fields of JSON, where a new line changes nothing. */
const breaks = /(?<= )(?! )|(?<=["}\]],)(?=")/;

function foldedLine(line: string, columns: number): string[] {
  if (widthOf(line) <= columns) return [line];
  const words = line.trimStart();
  const indent = ' '.repeat(line.length - words.length);
  // A command can still be copied and run when its lines end with a backslash.
  const more = words.startsWith('kubectl ') ? ' \\' : '';
  const lines: string[] = [];
  let current = indent;
  for (const piece of words.split(breaks)) {
    const isFirst = current.trim() === '';
    if (!isFirst && widthOf((current + piece).trimEnd()) + more.length > columns) {
      lines.push(current.trimEnd() + more);
      current = `${indent}  ${piece}`;
    } else current += piece;
  }
  return [...lines, current.trimEnd()];
}

/**
 * Lines that have scrolled off the screen can be neither seen nor replaced. So a card that is taller than the window loses
 * its middle: the first lines say what is wrong, and the last two paragraphs say which keys to press.
 */
function fitted(text: string, { columns, rows }: Pick<Terminal, 'columns' | 'rows'>): string {
  // The cursor is in the last row. The first row stays free: tmux moves a screen that is erased from there to its history.
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

const widthOf = (line: string): number => [...line].reduce((width, char) => width + columnsOf(char), 0);

/** An emoji takes two columns; a mark that changes the letter before it takes none. */
function columnsOf(char: string): number {
  if (/\p{Emoji_Presentation}/u.test(char)) return 2;
  return /\p{M}|\u200d|\ufe0f/u.test(char) ? 0 : 1;
}
