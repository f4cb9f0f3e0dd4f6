import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { createProgram, type Io, realCommands } from '../src/cli/cli.ts';

/** Writes docs/cli.md from the definitions of the commands: `npm run docs:cli`. */
export const page = join(import.meta.dirname, '../docs/cli.md');

const silent: Io = {
  print() {},
  complain() {},
  stopSignal: () => new AbortController().signal,
  stop() {},
};

/** As wide as the page, on whatever terminal it is written. */
const width = 100;

/** What --help prints, with the text after the options. */
function helpOf(command: Command): string {
  let text = '';
  const { getOutHelpWidth, writeOut } = command.configureOutput();
  command.configureOutput({ getOutHelpWidth: () => width, writeOut: (part) => void (text += part) });
  command.outputHelp();
  command.configureOutput({ ...(getOutHelpWidth && { getOutHelpWidth }), ...(writeOut && { writeOut }) });
  return text.trimEnd();
}

const intro = `# The command line

This page is made from the commands themselves by \`npm run docs:cli\`; every command prints its part with \`--help\`.

Installed from the npm package, the program is there twice: as \`tapfix\`, and as \`kubectl-tapfix\`, which kubectl finds, so
that \`kubectl tapfix list\` works. The commands that work on a cluster use your kubeconfig and your own rights. To look takes
the right to read \`remediations.tapfix.dev\`; to decide takes the ClusterRole \`tapfix-approver\` in that namespace, and what is
recorded as the approver is your own Kubernetes user.

A record is named by its own name, by the name of the workload, by \`NAMESPACE/NAME\`, or by its short id, such as \`3f9a1c\`. Colour
is only used on a terminal, and not where \`NO_COLOR\` is set; a table is cut to the width of the window, and in a pipe to
\`COLUMNS\`, if that is set. Exit codes are 0 for done, 1 for refused or not healthy, 2 for wrong usage.`;

/** The whole page. */
export function cliPage(): string {
  const program = createProgram(silent, realCommands, () => undefined);
  const shown = program.commands.filter((command) => command.name() !== 'help');
  const sections = shown.map((command) => `## tapfix ${command.name()}\n\n\`\`\`text\n${helpOf(command)}\n\`\`\``);
  return `${[intro, ...sections].join('\n\n')}\n`;
}

if (process.argv[1] === import.meta.filename) await writeFile(page, cliPage());
