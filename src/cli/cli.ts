import { Argument, Command, CommanderError, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { CheckConfigOptions } from './check-config.ts';
import { addClusterCommands, type ClusterCommands, realClusterCommands } from './cluster-commands.ts';
import { type Completable, completionScript, type Shell, shells } from './completion.ts';
import type { DemoOptions } from './demo.ts';
import type { ExplainOptions } from './explain.ts';
import type { ManifestsOptions } from './manifests.ts';
import type { ReplayOptions } from './replay.ts';

export interface Io {
  /** Prints one text on standard output; the newline is added. */
  print(text: string): void;
  /** The same on standard error. */
  complain(text: string): void;
  /**
   * Aborts when the process is asked to stop (SIGTERM, SIGINT). Until this is first called, those signals end the
   * process.
   */
  stopSignal(): AbortSignal;
  /** Asks for the same from inside: a terminal in raw mode delivers Ctrl-C as a key. */
  stop(): void;
}

export const roles = ['all', 'watcher', 'controller'] as const;
export interface RunOptions {
  configFile: string;
  role: (typeof roles)[number];
  context?: string;
}

/** The implementations of the commands. Each resolves to the exit code. */
export interface Commands extends ClusterCommands {
  run(options: RunOptions, io: Io): Promise<number>;
  checkConfig(options: CheckConfigOptions, io: Io): Promise<number>;
  manifests(options: ManifestsOptions, io: Io): Promise<number>;
  demo(options: DemoOptions, io: Io): Promise<number>;
  explain(options: ExplainOptions, io: Io): Promise<number>;
  replay(options: ReplayOptions, io: Io): Promise<number>;
}

/** Loaded when needed: `--help` does not wait for a Kubernetes client. */
export const realCommands: Commands = {
  run: async (options, io) => (await import('./run.ts')).runRun(options, io),
  checkConfig: async (options, io) => (await import('./check-config.ts')).runCheckConfig(options, io),
  manifests: async (options, io) => (await import('./manifests.ts')).runManifests(options, io),
  demo: async (options, io) => (await import('./demo.ts')).runDemoCommand(options, io),
  explain: async (options, io) => (await import('./explain.ts')).runExplain(options, io),
  replay: async (options, io) => (await import('./replay.ts')).runReplay(options, io),
  ...realClusterCommands,
};

/**
 * The exit code of one command line; `words` is everything after the program's name. `called` is what the person typed:
 * kubectl starts a program called kubectl-tapfix for "kubectl tapfix".
 */
export async function runCli(
  words: readonly string[],
  io: Io,
  commands: Commands = realCommands,
  called: CalledAs = 'tapfix',
): Promise<number> {
  let exitCode = 0;
  const program = createProgram(io, commands, (code) => (exitCode = code), called);
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
}

export type CalledAs = 'tapfix' | 'kubectl tapfix';

/** The error in one line, and where to read more. */
const refusalOf =
  (called: CalledAs) =>
  (command?: string) =>
  (text: string, write: (line: string) => void): void => {
    const words = text
      .replace(/^error: /, '')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    write(`tapfix: ${words} (see ${command === undefined ? called : `${called} ${command}`} --help)`);
  };

const runHelp = `
Environment:
  TELEGRAM_BOT_TOKEN  the bot's token; or TELEGRAM_BOT_TOKEN_FILE, a file that holds it
  SLACK_BOT_TOKEN     the Slack app's bot token (xoxb-...); or SLACK_BOT_TOKEN_FILE
  SLACK_APP_TOKEN     its app-level token (xapp-...), for Socket Mode; or SLACK_APP_TOKEN_FILE
  POD_NAMESPACE       tapfix's own namespace, if it is not installed in "tapfix"

Example:
  TELEGRAM_BOT_TOKEN=... tapfix run --config config.yaml --context kind-dev`;

const checkConfigHelp = `
Examples:
  tapfix check-config config.yaml --context my-cluster
  kubectl -n tapfix get configmap tapfix-config -o yaml | tapfix check-config -`;

const manifestsHelp = `
install.yaml is everything but the configuration and the stamping of decisions, in one file:
applying it again is an upgrade. 90-stamping.yaml needs Kubernetes 1.36.

Examples:
  tapfix manifests --image registry.example.com/tapfix:0.1.0 | kubectl apply --server-side -f -
  tapfix manifests --out tapfix && kubectl apply --server-side -f tapfix/install.yaml`;

/**
 * The names are listed here because importing the demo would load a Kubernetes client for --help; a test compares them.
 */
export const demoScenarios = ['rollout', 'quota', 'image', 'crash'] as const;

const demoHelp = `
Without --context the cluster is a simulated one inside this program: nothing else is touched.
With it tapfix's namespace, policies, resource definitions and roles are installed if they are
absent (that takes a cluster-admin), and only what was installed is removed at the end.

Keys: a approves, r rejects, y confirms, n goes back, q leaves.

Example:
  tapfix demo --scenario quota --yes`;

const explainHelp = `
It reads the cluster and changes nothing. Without --config it takes the configuration of the
ConfigMap tapfix-config. What the running watcher has seen is asked for on this machine:
  kubectl -n tapfix port-forward deploy/tapfix-watcher 8080

Examples:
  tapfix explain shop/Deployment/checkout
  tapfix explain shop/pod/checkout-5d8f7c9b4-x2x9k --config config.yaml --context my-cluster`;

const replayHelp = `
The file holds Kubernetes Events: a list, a List of kubectl, or one a line. No cluster is asked.
Without --config every namespace is watched, with the default of every setting.

Examples:
  kubectl get events -A -o json | tapfix replay -
  tapfix replay events.json --config config.yaml`;

/** Every command with its options and its help. A page of the documentation is made from it. */
export function createProgram(
  io: Io,
  commands: Commands,
  finish: (exitCode: number) => void,
  called: CalledAs = 'tapfix',
): Command {
  // Examples in the help are written for "tapfix".
  const asCalled = (text: string): string => text.replace(/^( {2,})tapfix /gm, `$1${called} `);
  const refusal = refusalOf(called);
  const program = new Command(called)
    .description(
      'An on-call remote control for Kubernetes: it notices a failure, proposes one typed fix, applies it after a tap.',
    )
    .version(packageJson.version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.print(asCalled(text).trimEnd()),
      writeErr: (text) => io.complain(text.trimEnd()),
      outputError: refusal(),
    })
    .addHelpText('after', '\nExamples:\n  tapfix demo\n  tapfix run --config config.yaml --context my-cluster');

  const run = program.command('run');
  run
    .description('watch the cluster, post to the chat, apply what is approved')
    .configureOutput({ outputError: refusal('run') })
    .option('--config <file>', 'the configuration, see config.example.yaml (required)')
    .addOption(new Option('--role <role>', 'which role to run; all is for a laptop').choices(roles).default('all'))
    .option('--context <name>', 'context of the kubeconfig (default: in-cluster credentials, then the current context)')
    .addHelpText('after', runHelp)
    .action(async ({ config, role, context }: { config?: string; role: RunOptions['role']; context?: string }) => {
      // Not one of commander's mandatory options: it would report the missing option before a mistyped one.
      if (config === undefined) return run.error("required option '--config <file>' not specified");
      if (context === '') return run.error('option --context needs the name of a context');
      finish(await commands.run({ configFile: config, role, ...(context !== undefined && { context }) }, io));
    });

  const checkConfig = program.command('check-config');
  checkConfig
    .description('list everything that is wrong with a configuration, or show it with its defaults')
    .configureOutput({ outputError: refusal('check-config') })
    .argument('<file>', 'the configuration, or a ConfigMap with it; - is standard input')
    .option('--context <name>', 'also list which namespaces of this cluster match now')
    .addHelpText('after', checkConfigHelp)
    .action(async (file: string, { context }: { context?: string }) => {
      if (context === '') return checkConfig.error('option --context needs the name of a context');
      finish(await commands.checkConfig({ file, ...(context !== undefined && { context }) }, io));
    });

  program
    .command('manifests')
    .description('write the Kubernetes manifests that install tapfix')
    .configureOutput({ outputError: refusal('manifests') })
    .option('--image <image>', 'the container image that the Deployments run')
    .option('--namespace <name>', "tapfix's own namespace")
    .option('--out <directory>', 'write one file per part there instead of printing all; what was edited is kept')
    .option('--force', 'with --out: overwrite edited files as well')
    .addHelpText('after', manifestsHelp)
    .action(async (options: ManifestsOptions) => finish(await commands.manifests(options, io)));

  const demo = program.command('demo');
  demo
    .description('show it working: a small shop breaks, a card appears, you approve, it heals')
    .configureOutput({ outputError: refusal('demo') })
    .addOption(new Option('--scenario <name>', 'one act alone (default: rollout, then quota)').choices(demoScenarios))
    .option('--yes', 'press the keys by itself, 6 s after each card; exits 0 when everything has recovered', false)
    .option('--context <name>', 'play on a real cluster, in a namespace of its own, as this context of the kubeconfig')
    .option('--image <image>', 'with --context: what the pods run, an image with sleep and false in it', 'busybox:1.37')
    .addHelpText('after', demoHelp)
    .action(async (options: DemoOptions) => {
      if (options.context === '') return demo.error('option --context needs the name of a context');
      finish(await commands.demo(options, io));
    });

  const explain = program.command('explain');
  explain
    .description('explain why there is, or is not, a message about something')
    .configureOutput({ outputError: refusal('explain') })
    .argument('<what>', 'NAMESPACE/KIND/NAME')
    .option('--config <file>', 'the configuration (default: that of the cluster)')
    .option('--context <name>', 'context of the kubeconfig (default: in-cluster credentials, then the current context)')
    .option('--watcher <url>', "the address of the watcher's local port (default: server.port on this machine)")
    .addHelpText('after', explainHelp)
    .action(async (target: string, { config, ...more }: { config?: string; context?: string; watcher?: string }) => {
      if (more.context === '') return explain.error('option --context needs the name of a context');
      finish(await commands.explain({ target, ...(config !== undefined && { configFile: config }), ...more }, io));
    });

  const replay = program.command('replay');
  replay
    .description('run recorded events through a configuration: what would have been posted, and why the rest would not')
    .configureOutput({ outputError: refusal('replay') })
    .argument('<file>', 'the recorded events; - is standard input')
    .option('--config <file>', 'the configuration (default: all namespaces, and the default of every setting)')
    .addHelpText('after', replayHelp)
    .action(async (file: string, { config }: { config?: string }) =>
      finish(await commands.replay({ file, ...(config !== undefined && { configFile: config }) }, io)),
    );

  addClusterCommands(program, { commands, io, finish, refusal });

  program
    .command('completion')
    .description('print a script that completes commands in your shell')
    .configureOutput({ outputError: refusal('completion') })
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', '\nExample:\n  tapfix completion bash > /etc/bash_completion.d/tapfix')
    .action((shell: Shell) => {
      io.print(completionScript(shell, program.commands.map(completable)).trimEnd());
      finish(0);
    });

  // Commander's own help command shows the whole help for an unknown command, and does not say that it is unknown.
  program
    .helpCommand(false)
    .command('help')
    .description('show the help of a command')
    .argument('[command]')
    .action((name?: string) => {
      const isAsked = (command: Command): boolean => [command.name(), ...command.aliases()].includes(name ?? '');
      const asked = name === undefined ? program : program.commands.find(isAsked);
      return asked ? asked.help() : program.error(`unknown command '${name}'`);
    });

  return program;
}

/** Commands about one record have its name as their first argument; others may have a list of choices. */
function completable(command: Command): Completable {
  const [first] = command.registeredArguments;
  return {
    name: command.name(),
    description: command.description(),
    options: command.options.flatMap(({ short, long }) => [short, long].filter((option) => option !== undefined)),
    takes: first?.name() === 'name' ? 'record' : (first?.argChoices ?? []),
  };
}
