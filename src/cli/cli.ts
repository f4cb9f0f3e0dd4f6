import { Command, CommanderError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { ManifestsOptions } from './manifests.ts';

export interface Io {
  /** One text on standard output; the newline is added. */
  print(text: string): void;
  /** The same on standard error. */
  complain(text: string): void;
  /** Aborts when the process is asked to stop (SIGTERM, SIGINT); before it is asked for, that ends the process. */
  stopSignal(): AbortSignal;
}

export const roles = ['all', 'watcher', 'controller'] as const;
export interface RunOptions {
  configFile: string;
  role: (typeof roles)[number];
  context?: string;
}

/** What the commands do. Each resolves to the exit code. */
export interface Commands {
  run(options: RunOptions, io: Io): Promise<number>;
  checkConfig(file: string, io: Io): Promise<number>;
  manifests(options: ManifestsOptions, io: Io): Promise<number>;
}

/** Loaded when called for: `--help` need not wait for a Kubernetes client. */
const realCommands: Commands = {
  run: async (options, io) => (await import('../app.ts')).runApp(options, io),
  checkConfig: async (file, io) => (await import('./check-config.ts')).runCheckConfig(file, io),
  manifests: async (options, io) => (await import('./manifests.ts')).runManifests(options, io),
};

/** The exit code of one command line, `words` being what follows the program's name. */
export async function runCli(words: readonly string[], io: Io, commands: Commands = realCommands): Promise<number> {
  let exitCode = 0;
  const program = createProgram(io, commands, (code) => (exitCode = code));
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

/** One line, and where to read on. */
const refusal =
  (command: string) =>
  (text: string, write: (line: string) => void): void => {
    const words = text
      .replace(/^error: /, '')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    write(`tapfix: ${words} (see ${command} --help)`);
  };

const runHelp = `
Environment:
  TELEGRAM_BOT_TOKEN  the bot's token; or TELEGRAM_BOT_TOKEN_FILE, a file that holds it
  POD_NAMESPACE       tapfix's own namespace, if it is not installed in "tapfix"

Example:
  TELEGRAM_BOT_TOKEN=... tapfix run --config config.yaml --context kind-dev`;

function createProgram(io: Io, commands: Commands, finish: (exitCode: number) => void): Command {
  const program = new Command('tapfix')
    .description(
      'An on-call remote control for Kubernetes: it notices a failure, proposes one typed fix, applies it after a tap.',
    )
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(text.trimEnd()),
      writeErr: (text) => io.complain(text.trimEnd()),
      outputError: refusal('tapfix'),
    })
    .addHelpText('after', '\nExample:\n  tapfix run --config config.yaml --context my-cluster');

  const run = program.command('run');
  run
    .description('watch the cluster, tell the chat, apply what is approved')
    .configureOutput({ outputError: refusal('tapfix run') })
    .option('--config <file>', 'the configuration, see config.example.yaml (required)')
    .addOption(new Option('--role <role>', 'which half to run; all is for a laptop').choices(roles).default('all'))
    .option('--context <name>', 'context of the kubeconfig (default: in-cluster credentials, then the current context)')
    .addHelpText('after', runHelp)
    .action(async ({ config, role, context }: { config?: string; role: RunOptions['role']; context?: string }) => {
      // Not a mandatory option of commander's: that is asked for before a mistyped one is named.
      if (config === undefined) return run.error("required option '--config <file>' not specified");
      if (context === '') return run.error('option --context needs the name of a context');
      finish(await commands.run({ configFile: config, role, ...(context !== undefined && { context }) }, io));
    });

  program
    .command('check-config')
    .description('say everything that is wrong with a configuration, or show it with its defaults')
    .configureOutput({ outputError: refusal('tapfix check-config') })
    .argument('<file>', 'the configuration')
    .addHelpText('after', '\nExample:\n  tapfix check-config config.yaml')
    .action(async (file: string) => finish(await commands.checkConfig(file, io)));

  program
    .command('manifests')
    .description('write the Kubernetes manifests that install tapfix')
    .configureOutput({ outputError: refusal('tapfix manifests') })
    .option('--image <image>', 'the container image that the Deployments run')
    .option('--namespace <name>', "tapfix's own namespace")
    .option('--out <directory>', 'write one file per part there instead of printing all')
    .addHelpText(
      'after',
      '\nExample:\n  tapfix manifests --image registry.example.com/tapfix:0.1.0 | kubectl apply --server-side -f -',
    )
    .action(async (options: ManifestsOptions) => finish(await commands.manifests(options, io)));

  // Commander's own shows the whole help when it is asked about a command that there is not, and says nothing of that.
  program
    .helpCommand(false)
    .command('help')
    .description('show the help of a command')
    .argument('[command]')
    .action((name?: string) => {
      const asked = name === undefined ? program : program.commands.find((command) => command.name() === name);
      return asked ? asked.help() : program.error(`unknown command '${name}'`);
    });

  return program;
}
