import { wrap } from '../channels/console/console-text.ts';
import { acts, tour } from '../demo/acts.ts';
import { runDemo } from '../demo/run-demo.ts';
import { createScreen, type Screen } from '../demo/screen.ts';
import type { DemoStage } from '../demo/stage.ts';
import { systemClock } from '../lib/clock.ts';
import { localTimeZone, spokenDuration } from '../lib/duration.ts';
import { UserError } from '../lib/errors.ts';
import { createLog, type Log } from '../lib/log.ts';
import type { Io } from './cli.ts';
import { createTerminalLines } from './terminal-lines.ts';

export interface DemoOptions {
  /** One act only; without it, the tour. */
  scenario?: string;
  yes: boolean;
  context?: string;
  image: string;
}

/** With --yes each card is shown this long: enough to read it. */
const readingMs = 6_000;

const nextSteps: readonly [what: string, shows: string][] = [
  ['npm run demo -- --scenario image', 'another act: image or crash'],
  ['npm run demo -- --context NAME', 'on your cluster, in a new namespace'],
  ['README.md, "Telegram in five steps"', 'the same card on your phone'],
];

/** `tapfix demo`: a shop breaks, a card appears, you approve, it heals. */
export async function runDemoCommand(options: DemoOptions, io: Io): Promise<number> {
  const { scenario, yes, context } = options;
  if (!yes && !process.stdin.isTTY)
    throw new UserError('the demo waits for your decision, and standard input is no terminal: run it with --yes', 2);
  const { stdout, stdin } = process;
  const screen = createScreen({
    write: (text) => void stdout.write(text),
    isTTY: stdout.isTTY === true,
    // The size of a terminal is 0 if nothing has set it.
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
  });
  const signal = io.stopSignal();
  process.once('SIGHUP', io.stop); // the terminal was closed: the demo still removes what it installed on a cluster
  const stage = await openStage(options, screen, signal);
  let exitCode = 1;
  let isPlaying = true;
  try {
    screen.print(introduction(stage.where, yes, screen.width));
    exitCode = await runDemo({
      stage,
      acts: scenario === undefined ? tour : acts.filter(({ name }) => name === scenario),
      clock: systemClock,
      log: quietLog(stage, screen, () => isPlaying),
      screen,
      keyboard: stdin,
      ...(yes && { pressAfterMs: readingMs }),
      timeZone: localTimeZone(),
      signal,
      stop: io.stop,
    });
    isPlaying = false;
    if (signal.aborted) screen.print('\nStopped.');
    else if (context === undefined) screen.print(`\nWhat to try next\n${stepsText(screen.width)}`);
  } finally {
    await stage.close(screen.print);
  }
  return signal.aborted && yes ? 130 : exitCode;
}

function introduction(where: string, yes: boolean, width: number): string {
  const keys = yes
    ? `The demo presses the keys by itself, ${spokenDuration(readingMs)} after each card; Ctrl-C leaves.`
    : 'You answer with one key: a approves, r rejects, y confirms, n goes back, q leaves.';
  const sentences = [
    `tapfix watches a small shop in ${where}.`,
    `When something breaks, a card appears here as it would on your phone. ${keys}`,
  ];
  return `${sentences.map((sentence) => wrap(sentence, '', '', width).join('\n')).join('\n')}\n`;
}

/** Two columns; in a narrow window the description of a step is on its own line. */
function stepsText(width: number): string {
  const columnWidth = Math.max(...nextSteps.map(([what]) => what.length)) + 4;
  const isWide = nextSteps.every(([, shows]) => 2 + columnWidth + shows.length <= width);
  const step = ([what, shows]: (typeof nextSteps)[number]): string =>
    isWide ? `  ${what.padEnd(columnWidth)}${shows}` : `  ${what}\n      ${shows}`;
  return nextSteps.map(step).join('\n');
}

async function openStage({ context, image }: DemoOptions, screen: Screen, signal: AbortSignal): Promise<DemoStage> {
  if (context === undefined)
    return (await import('../demo/sim-stage.ts')).openSimStage(systemClock, createLog({ level: 'silent' }), signal);
  const { openClusterStage } = await import('../demo/cluster-stage.ts');
  return openClusterStage({ context, image, clock: systemClock, signal, print: screen.print });
}

/** Prints only trouble, because the card shows everything else. A call that is cut off at the end is not trouble. */
function quietLog({ cluster, namespace }: DemoStage, screen: Screen, isPlaying: () => boolean): Log {
  const show = createTerminalLines({ cluster, include: [namespace], timeZone: localTimeZone(), auditAsJson: false });
  return createLog({
    write(line) {
      const isAudit = line.includes('"audit":true');
      const shown = isAudit ? undefined : show(line);
      if (shown && isPlaying() && !/^(watching |stopped$)/.test(shown.text)) screen.print(shown.text);
    },
  });
}
