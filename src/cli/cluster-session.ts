import { createInterface } from 'node:readline/promises';
import { ApiError, hasCode, isForbidden, type KubeObject, noSuchPath, type Reader, type Writer } from '../kube/api.ts';
import { createApi } from '../kube/client.ts';
import { serverOf } from '../kube/client-credentials.ts';
import { loadKubeConfig } from '../kube/kubeconfig.ts';
import { createStreams, type Streams } from '../kube/streams/streams.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { localTimeZone } from '../lib/duration.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import type { Io } from './cli.ts';

/** The options of every command that works on records or on a running tapfix. */
export interface ClusterOptions {
  context?: string;
  /** For records: where they are. For a running tapfix: where it is installed. */
  namespace?: string;
}

/** The window and the keyboard of the person who runs the command. */
export interface PersonsTerminal {
  /** Tables and texts are cut to this width; undefined when nobody says how wide it is. */
  columns: number | undefined;
  colour: boolean;
  /** undefined when nobody can answer: standard input or output is no terminal. */
  ask: ((question: string) => Promise<string>) | undefined;
}

/** Everything that a command needs. The commands are made from it, so that tests can give them a cluster of their own. */
export interface Session {
  api: Reader & Pick<Writer, 'patch' | 'create'>;
  streams: Streams;
  clock: Clock;
  timeZone: string;
  terminal: PersonsTerminal;
  io: Pick<Io, 'print' | 'complain' | 'stopSignal'>;
  /** The address of the API server. */
  server: string;
  /** The namespace of the context, or the one asked for with -n. */
  namespace: string;
  /** True when the person named the namespace. */
  isNamed: boolean;
  /** The namespace tapfix is installed in, unless -n names another one. */
  ownNamespace: string;
  /** The same, for commands whose -n is about records. */
  installedIn: string;
}

/** How long somebody waits without a word. */
const silentMs = 2_000;

/** Connects as the kubeconfig says, does the work, and puts what the API server refuses into words. */
export async function withCluster(
  { context, namespace }: ClusterOptions,
  io: Session['io'],
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const kubeConfig = loadKubeConfig({ context });
  const { address: server } = serverOf(kubeConfig);
  const api = createApi({ kubeConfig, manager: 'tapfix-cli' });
  const streams = createStreams(kubeConfig);
  const usual = kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace || 'default';
  const installedIn = process.env['POD_NAMESPACE'] || 'tapfix';
  const patient = saysWhatItWaitsFor({ clock: systemClock, server, complain: io.complain });
  try {
    return await work({
      api: {
        get: (ref) => patient(api.get(ref)),
        list: (kind, where, selector) => patient(api.list(kind, where, selector)),
        patch: (ref, type, body, options) => patient(api.patch(ref, type, body, options)),
        create: (ref, body, options) => patient(api.create(ref, body, options)),
      },
      streams,
      clock: systemClock,
      timeZone: localTimeZone(),
      terminal: terminalOf(process),
      io,
      server,
      namespace: namespace ?? usual,
      isNamed: namespace !== undefined,
      ownNamespace: namespace ?? installedIn,
      installedIn,
    });
  } catch (error) {
    throw inWords(error);
  } finally {
    await Promise.all([api.close(), streams.close()]);
  }
}

interface WaitingDeps {
  clock: Clock;
  server: string;
  complain(text: string): void;
}

/** One line on standard error, once, when an answer takes longer than a person waits without a word. */
export function saysWhatItWaitsFor({ clock, server, complain }: WaitingDeps): <T>(answer: Promise<T>) => Promise<T> {
  let isSaid = false;
  return async (answer) => {
    const done = new AbortController();
    void clock.sleep(silentMs, done.signal).then(() => {
      if (done.signal.aborted || isSaid) return;
      isSaid = true;
      complain(`waiting for the API server ${server} (Ctrl-C ends this)`);
    });
    return answer.finally(() => done.abort());
  };
}

/** Pure. The error as a person reads it; anything unexpected stays what it is. */
export function inWords(error: unknown): unknown {
  if (error instanceof UserError) return error;
  if (hasCode(error, 401))
    return new UserError(`the API server refused your credentials: ${messageOf(error)}`, 1, error);
  if (isForbidden(error)) return new UserError(`you may not do this: ${messageOf(error)}`, 1, error);
  if (error instanceof ApiError && error.reason === noSuchPath) return new UserError(messageOf(error), 1, error);
  if (error instanceof ApiError || (error instanceof Error && error.name === 'Unreachable'))
    return new UserError(messageOf(error), 1, error);
  return error;
}

interface Process {
  stdin: { isTTY?: boolean };
  stdout: { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
}

/** A pipe has no width, so nothing is cut there unless COLUMNS is set. */
export function terminalOf({ stdin, stdout, env }: Process): PersonsTerminal {
  const isTerminal = stdout.isTTY === true;
  const given = Number(env['COLUMNS']);
  const columns = isTerminal ? stdout.columns || given || 80 : given > 0 ? given : undefined;
  return {
    columns,
    colour: isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    ask: isTerminal && stdin.isTTY === true ? askOnTerminal : undefined,
  };
}

async function askOnTerminal(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await Promise.race([lines.question(question), ended(lines)])).trim();
  } finally {
    lines.close();
  }
}

/** Ctrl-C and the end of the input mean no. */
const ended = (lines: ReturnType<typeof createInterface>): Promise<string> =>
  new Promise((resolve) => lines.once('close', () => resolve('')));

interface Review extends KubeObject {
  status?: { userInfo?: { username?: string } };
}

/** Our user at the API server; undefined where it does not answer that (the cluster stamps it then, or refuses). */
export async function whoIsAsking({ api }: Pick<Session, 'api'>): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  try {
    const review = await api.create<Review>({ kind: 'SelfSubjectReview' }, body);
    return review.status?.userInfo?.username || undefined;
  } catch (error) {
    if (isForbidden(error) || hasCode(error, 404)) return undefined;
    throw error;
  }
}

/** For a person who lacks a right on records: the right, and how somebody grants it. */
export function needsApprover(error: unknown, what: string, namespace: string, user: string | undefined): unknown {
  if (!isForbidden(error)) return error;
  if (user?.startsWith('system:serviceaccount:'))
    return new UserError(
      `service account ${user} may not ${what} in namespace ${namespace}: ${messageOf(error)}`,
      1,
      error,
    );
  const who = user ?? 'NAME';
  const binding = `kubectl -n ${namespace} create rolebinding tapfix-approver-${slug(who)} --clusterrole=tapfix-approver --user=${who}`;
  const sentence = `you may not ${what} in namespace ${namespace}: ${messageOf(error)}`;
  return new UserError(
    `${sentence}\nThat takes the ClusterRole tapfix-approver there; a cluster-admin grants it with\n  ${binding}`,
    1,
    error,
  );
}

const slug = (user: string): string =>
  user
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'user';
