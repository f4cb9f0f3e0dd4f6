import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import xterm from '@xterm/headless';

/** What a person sees at one moment. */
export interface Frame {
  atMs: number;
  /** The rows of the window, without the empty ones at its end. */
  text: string;
  /** Rows that the terminal began by itself, because the row above was full. */
  brokenRows: string[];
}

export interface Emulator {
  /** The window as it is now. */
  screen(): string;
  /** Every picture that there was, oldest first. */
  frames(): readonly Frame[];
  /** Waits until the window shows all of these at once. */
  sees(...what: readonly (string | RegExp)[]): Promise<void>;
  press(key: string): void;
  ended(): Promise<number | null>;
}

export interface EmulatorOptions {
  columns: number;
  rows: number;
  /** The program and its arguments. */
  command: readonly string[];
  cwd: string;
}

const patienceMs = 60_000;

/** Runs a program on a real pseudo-terminal of that size; a terminal emulator draws what the program writes. */
export function startEmulator(t: TestContext, { columns, rows, command, cwd }: EmulatorOptions): Emulator {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  terminal.unicode.register(asModernTerminals);
  terminal.unicode.activeVersion = asModernTerminals.version;

  const [script, args] = onPseudoTerminal(`stty cols ${columns} rows ${rows}; exec ${command.join(' ')}`);
  const child = spawn(script, args, { cwd, env: { ...process.env, TERM: 'xterm-256color' } });
  let startError: Error | undefined;
  child.on('error', (error) => (startError = error));
  const closed = once(child, 'close') as Promise<[number | null]>;
  closed.catch(() => undefined); // startError says it
  t.after(async () => {
    child.kill('SIGKILL');
    await closed.catch(() => undefined);
    terminal.dispose();
  });

  const frames: Frame[] = [];
  child.stdout.on('data', (chunk: Buffer) =>
    terminal.write(chunk, () => void frames.push({ atMs: performance.now(), ...visible(terminal) })),
  );
  const screen = (): string => frames.at(-1)?.text ?? '';
  const isThere = (what: string | RegExp): boolean =>
    typeof what === 'string' ? screen().includes(what) : what.test(screen());

  return {
    screen,
    frames: () => frames,
    async sees(...what) {
      for (const endMs = performance.now() + patienceMs; !what.every(isThere); await sleep(20)) {
        if (startError)
          throw new Error(`this test needs the program "script": apt-get install bsdutils`, { cause: startError });
        const missing = what.filter((one) => !isThere(one)).join(' and ');
        if (performance.now() > endMs) throw new Error(`the screen does not show ${missing}:\n${screen()}`);
      }
    },
    press: (key) => void child.stdin.write(key),
    ended: async () => (await closed)[0],
  };
}

/** util-linux has another `script` than the BSDs. */
const onPseudoTerminal = (command: string): [string, string[]] =>
  process.platform === 'linux'
    ? ['script', ['-qefc', command, '/dev/null']]
    : ['script', ['-q', '/dev/null', 'sh', '-c', command]];

/** Emoji are two columns wide, as in the terminals that people have; the emulator's own tables are older. */
const asModernTerminals = {
  version: 'emoji are wide',
  wcwidth: (codepoint: number): 0 | 1 | 2 => {
    const char = String.fromCodePoint(codepoint);
    if (/\p{Emoji_Presentation}/u.test(char)) return 2;
    return /\p{M}|\u200d|\ufe0f/u.test(char) ? 0 : 1;
  },
  /** The emulator wants the width in these bits. */
  charProperties: (codepoint: number): number => asModernTerminals.wcwidth(codepoint) << 1,
};

function visible(terminal: InstanceType<typeof xterm.Terminal>): { text: string; brokenRows: string[] } {
  const { active } = terminal.buffer;
  const rows = Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.viewportY + row));
  const textOf = (row: (typeof rows)[number]): string => row?.translateToString(true) ?? '';
  return {
    text: rows.map(textOf).join('\n').trimEnd(),
    brokenRows: rows.filter((row) => row?.isWrapped).map(textOf),
  };
}
