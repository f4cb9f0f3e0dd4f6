import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Io } from './cli.ts';
import type { ClusterOptions, Session } from './cluster-session.ts';
import type { AckOptions } from './records/ack.ts';
import type { ApproveOptions } from './records/approve.ts';
import type { Format, ListOptions } from './records/list.ts';
import type { RejectOptions } from './records/reject.ts';
import type { ShowOptions } from './records/show.ts';
import type { SnoozeOptions } from './records/snooze.ts';
import type { ConnectOptions } from './running/connect.ts';
import type { MuteOptions } from './running/mute.ts';
import type { RoleLogsOptions } from './running/role-logs.ts';
import type { PodRole } from './running/role-pods.ts';

/** The commands for a person with a kubeconfig, as kubectl has them. Each resolves to the exit code. */
export interface ClusterCommands {
  list(options: ListOptions, io: Io): Promise<number>;
  show(options: ShowOptions, io: Io): Promise<number>;
  approve(options: ApproveOptions, io: Io): Promise<number>;
  reject(options: RejectOptions, io: Io): Promise<number>;
  ack(options: AckOptions, io: Io): Promise<number>;
  snooze(options: SnoozeOptions, io: Io): Promise<number>;
  mute(options: MuteOptions, io: Io): Promise<number>;
  status(options: ClusterOptions, io: Io): Promise<number>;
  logs(options: RoleLogsOptions, io: Io): Promise<number>;
  connect(options: ConnectOptions, io: Io): Promise<number>;
  version(options: VersionOptions, io: Io): Promise<number>;
}

export interface VersionOptions extends ClusterOptions {
  /** No cluster is asked. */
  client: boolean;
}

async function within<O extends ClusterOptions>(
  options: O,
  io: Io,
  run: (options: O, session: Session) => Promise<number>,
): Promise<number> {
  const { withCluster } = await import('./cluster-session.ts');
  return withCluster(options, io, (session) => run(options, session));
}

/** Loaded when needed, like the other commands. */
export const realClusterCommands: ClusterCommands = {
  list: async (options, io) => within(options, io, (await import('./records/list.ts')).runList),
  show: async (options, io) => within(options, io, (await import('./records/show.ts')).runShow),
  approve: async (options, io) => within(options, io, (await import('./records/approve.ts')).runApprove),
  reject: async (options, io) => within(options, io, (await import('./records/reject.ts')).runReject),
  ack: async (options, io) => within(options, io, (await import('./records/ack.ts')).runAck),
  snooze: async (options, io) => within(options, io, (await import('./records/snooze.ts')).runSnooze),
  mute: async (options, io) => within(options, io, (await import('./running/mute.ts')).runMute),
  status: async (options, io) => within(options, io, (await import('./running/status.ts')).runStatus),
  logs: async (options, io) => within(options, io, (await import('./running/role-logs.ts')).runRoleLogs),
  connect: async (options, io) => within(options, io, (await import('./running/connect.ts')).runConnect),
  async version(options, io) {
    const { ownVersion, runVersion } = await import('./running/version.ts');
    if (!options.client) return within(options, io, runVersion);
    io.print(ownVersion());
    return 0;
  },
};

/**
 * The formats and roles are listed here because importing the commands would load a Kubernetes client for --help; a test
 * compares them.
 */
export const outputFormats = ['wide', 'json', 'yaml', 'name'] as const;
export const runningRoles = ['watcher', 'controller'] as const;

interface Parts {
  commands: ClusterCommands;
  io: Io;
  finish(exitCode: number): void;
  /** How a mistake in the command line is printed. */
  refusal(command: string): (text: string, write: (line: string) => void) => void;
}

const nameHelp = `NAME is the name of a Remediation, of a workload, NAMESPACE/NAME, or a short id such as 3f9a1c.
A name is looked for in the namespace of -n or of the context, a short id everywhere.`;

const rightsHelp = `Deciding takes the ClusterRole tapfix-approver in that namespace; what is recorded is your own
Kubernetes user.`;

const exitHelp = 'Exit codes: 0 done, 1 refused or not healthy, 2 wrong usage.';

const widthHelp = 'Columns are left out until the table fits the window; COLUMNS says how wide a pipe is.';

const recordNamespace = 'the namespace of the records (default: that of the context)';
const ownNamespace = 'the namespace tapfix runs in (default: POD_NAMESPACE, then "tapfix")';

/** Adds the commands that work on a cluster with a person's own rights. */
export function addClusterCommands(program: Command, { commands, io, finish, refusal }: Parts): void {
  function add(usage: string, description: string, namespace: string, ...help: string[]): Command {
    const command = program.command(usage);
    return command
      .description(description)
      .configureOutput({ outputError: refusal(command.name()) })
      .option('--context <name>', 'context of the kubeconfig (default: the current one)', named('a context'))
      .option('-n, --namespace <name>', namespace, named('a namespace'))
      .addHelpText('after', `\n${help.join('\n\n')}`);
  }
  const output = (): Option => new Option('-o, --output <format>', 'how it is printed').choices(outputFormats);
  const role = (): Argument => new Argument('[role]', 'which half of it').choices(runningRoles).default('watcher');

  add(
    'list',
    'list what was noticed and proposed, first what needs somebody',
    recordNamespace,
    widthHelp,
    example('list -A', 'list -n shop --open -o wide'),
  )
    .alias('get')
    .option('-A, --all-namespaces', 'in all namespaces')
    .option('--open', 'only what is not settled')
    .addOption(output())
    .action(async (options: ClusterOptions & { allNamespaces?: true; open?: true; output?: Format }) =>
      finish(await commands.list({ allNamespaces: false, open: false, ...options }, io)),
    );
  add('show <name>', 'show everything about one of them', recordNamespace, nameHelp, example('show checkout -n shop'))
    .addOption(output())
    .action(async (name: string, options: ClusterOptions & { output?: Format }) =>
      finish(await commands.show({ name, ...options }, io)),
    );
  add(
    'approve <name>',
    'show what would be done, ask, and approve it',
    recordNamespace,
    nameHelp,
    rightsHelp,
    exitHelp,
    example('approve shop/checkout'),
  )
    .option('--yes', 'do not ask')
    .action(async (name: string, options: ClusterOptions & { yes?: true }) =>
      finish(await commands.approve({ name, yes: false, ...options }, io)),
    );
  add(
    'reject <name> [reason...]',
    'leave it as it is, and say why',
    recordNamespace,
    nameHelp,
    rightsHelp,
    example('reject shop/checkout we roll forward'),
  ) //
    .action(async (name: string, reason: string[], options: ClusterOptions) =>
      finish(await commands.reject({ name, reason: reason.join(' '), ...options }, io)),
    );
  add(
    'ack <name>',
    'say that you are on it: nobody is reminded any more',
    recordNamespace,
    nameHelp,
    example('ack 3f9a1c'),
  ) //
    .action(async (name: string, options: ClusterOptions) => finish(await commands.ack({ name, ...options }, io)));
  add(
    'snooze <name>',
    'no sound about it for a while',
    recordNamespace,
    nameHelp,
    example('snooze checkout 2h -n shop'),
  )
    .argument('[duration]', 'between 1m and 7d, or off', '1h')
    .action(async (name: string, duration: string, options: ClusterOptions) =>
      finish(await commands.snooze({ name, duration, ...options }, io)),
    );
  add(
    'mute',
    'notice nothing there for a while; without a pattern: list what is muted',
    ownNamespace,
    example('mute "shop-*" 1h', 'mute shop/checkout off'),
  )
    .argument('[glob]', 'a pattern for namespaces, or NAMESPACE/NAME')
    .argument('[duration]', 'between 1m and 7d, or off', '1h')
    .action(async (glob: string | undefined, duration: string, options: ClusterOptions) =>
      finish(await commands.mute({ ...(glob !== undefined && { glob }), duration, ...options }, io)),
    );
  add(
    'status',
    'say whether tapfix itself works, and what is open and muted',
    ownNamespace,
    exitHelp,
    example('status'),
  ) //
    .action(async (options: ClusterOptions) => finish(await commands.status(options, io)));
  add('logs', 'print the log of the replica that leads', ownNamespace, example('logs -f controller'))
    .addArgument(role())
    .option('-f, --follow', 'go on with what is written from now on')
    .option('--tail <lines>', 'begin with the last lines only', whole(0, 1_000_000), 200)
    .action(async (of: PodRole, options: ClusterOptions & { follow?: true; tail: number }) =>
      finish(await commands.logs({ role: of, follow: false, ...options }, io)),
    );
  add(
    'connect',
    'lead a port of this machine to a pod of tapfix: metrics, readiness, what it has seen',
    ownNamespace,
    example('connect', 'connect controller --port 9090'),
  )
    .addArgument(role())
    .option('--port <port>', 'the port on this machine; if it is taken, a free one', whole(0, 65_535), 8080)
    .option('--remote <port>', 'the port of the pod (default: the one called http)', whole(1, 65_535))
    .action(async (of: PodRole, options: ClusterOptions & { port: number; remote?: number }) =>
      finish(await commands.connect({ role: of, ...options }, io)),
    );
  add(
    'version',
    'print the version of this program, and of what runs in the cluster',
    ownNamespace,
    example('version --client'),
  )
    .option('--client', 'ask no cluster')
    .action(async (options: ClusterOptions & { client?: true }) =>
      finish(await commands.version({ client: false, ...options }, io)),
    );
}

const example = (...lines: string[]): string =>
  [lines.length === 1 ? 'Example:' : 'Examples:', ...lines.map((line) => `  tapfix ${line}`)].join('\n');

const named =
  (what: string) =>
  (text: string): string => {
    if (text === '') throw new InvalidArgumentError(`It needs the name of ${what}.`);
    return text;
  };

const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
