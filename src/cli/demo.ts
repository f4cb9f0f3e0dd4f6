import { wrap } from '../channels/console/console-text.ts';
import { acts, tour } from '../demo/acts.ts';
import { runDemo } from '../demo/demo.ts';
import { createScreen, type Screen } from '../demo/screen.ts';
import type { Stage } from '../demo/stage.ts';
import { systemClock } from '../lib/clock.ts';
import { localTimeZone } from '../lib/duration.ts';
import { UserError } from '../lib/errors.ts';
import { createLog, type Log } from '../lib/log.ts';
import type { Io } from './cli.ts';
import { createTerminalLines } from './terminal-lines.ts';

export interface DemoOptions {
  /** One act alone; otherwise the tour. */
  scenario?: string;
  yes: boolean;
  context?: string;
  image: string;
}

const next = `
What to try next
  npm run demo -- --scenario image       another act: image or crash
  npm run demo -- --context NAME         on your cluster, in a new namespace
  README.md, "Telegram in five steps"    the same card on your phone`;

/** `tapfix demo`: a shop breaks, a card appears, you approve, it heals. */
export async function runDemoCommand(options: DemoOptions, io: Io): Promise<number> {
  const { scenario, yes, context } = options;
  if (!yes && !process.stdin.isTTY)
    throw new UserError('the demo waits for your decision, and standard input is no terminal: run it with --yes', 2);
  const { stdout, stdin } = process;
  const screen = createScreen({
    write: (text) => void stdout.write(text),
    isTTY: stdout.isTTY === true,
    // A terminal that nobody has told its size says 0.
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
  });
  const signal = io.stopSignal();
  process.once('SIGHUP', io.stop); // the terminal was closed: what the demo put on a cluster goes all the same
  const stage = await openStage(options, screen, signal);
  let exitCode = 1;
  try {
    screen.say(wrap(`tapfix watches a small shop in ${stage.where}.`, '', '').join('\n'));
    exitCode = await runDemo({
      stage,
      acts: scenario === undefined ? tour : acts.filter(({ name }) => name === scenario),
      clock: systemClock,
      log: quietLog(stage, screen),
      screen,
      keyboard: stdin,
      yes,
      timeZone: localTimeZone(),
      signal,
      stop: io.stop,
    });
    if (signal.aborted) screen.say('\nStopped.');
    else if (context === undefined) screen.say(next);
  } finally {
    await stage.close(screen.say);
  }
  return signal.aborted && yes ? 130 : exitCode;
}

async function openStage({ context, image }: DemoOptions, screen: Screen, signal: AbortSignal): Promise<Stage> {
  if (context === undefined)
    return (await import('../demo/sim-stage.ts')).openSimStage(systemClock, createLog({ level: 'silent' }), signal);
  const { openClusterStage } = await import('../demo/cluster-stage.ts');
  return openClusterStage({ context, image, clock: systemClock, signal, say: screen.say });
}

/** Only trouble is worth a line here: what goes well is on the card. */
function quietLog({ cluster, namespace }: Stage, screen: Screen): Log {
  const show = createTerminalLines({ cluster, include: [namespace], timeZone: localTimeZone(), auditAsJson: false });
  return createLog({
    write(line) {
      const isAudit = line.includes('"audit":true');
      const shown = isAudit ? undefined : show(line);
      if (shown && !/^(watching |stopped$)/.test(shown.text)) screen.say(shown.text);
    },
  });
}
