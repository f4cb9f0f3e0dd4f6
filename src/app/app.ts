import type { Channel, ChannelName } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import { isWatched } from '../config/selection.ts';
import { createHistory, type History } from '../health/history.ts';
import type { Ledger } from '../incidents/ledger.ts';
import type { Api } from '../kube/api.ts';
import { createFeed, type Feed } from '../kube/feed.ts';
import type { Election, LeaseView, Term } from '../kube/lease.ts';
import { isCleared, isProposedFrom, type Remediation, viewRemediation } from '../kube/remediation.ts';
import { createRoster, type Roster } from '../kube/roster.ts';
import { createStore, type Store } from '../kube/store.ts';
import { createReconnectSignal, type ReconnectSignal } from '../kube/watch.ts';
import { type Clock, inTime } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { ping } from '../ops/heartbeat.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Check, Readiness } from '../ops/readiness.ts';
import { createControllerRole } from './controller-role.ts';
import { createHistoryKeeper, type HistoryKeeper } from './history-keeper.ts';
import { endInTime, everyMinute, graceMs, releaseMs } from './stop.ts';
import { createWatchRegistry, type WatchRegistry } from './watch-registry.ts';
import { adjustFixWatches, adjustRevisionWatches, fixScopes } from './watch-scopes.ts';
import { createWatcherRole } from './watcher-role.ts';

/** The configuration was replaced: `current` answers with the new one, and these are its channels. */
export interface ConfigReload {
  before: Config;
  now: Config;
  channels: ReadonlyMap<ChannelName, Channel>;
}
export interface Reloads {
  subscribe(listener: (reload: ConfigReload) => void): void;
  /** Why the file's newest content is not in use. */
  refusal(): { at: string; problem: string } | undefined;
}

export type RoleName = 'watcher' | 'controller';

/** One of the two one-way streets' ends. */
export interface Role {
  /** Runs in every replica, from its start to its end. */
  follow(): Promise<void>[];
  /** Runs only in the leader, until the term ends. */
  lead(term: Term): Promise<void>[];
}

/** The parts of a running tapfix. `tapfix run` and `tapfix demo` make them; so do tests, with a clock of their own. */
export interface Parts {
  role: 'all' | RoleName;
  api: Api;
  clock: Clock;
  log: Log;
  /** The configuration in force. */
  current(): Config;
  /** Without it the configuration stays as it is. */
  reloads?: Reloads;
  ownNamespace: string;
  identity: string;
  timeZone: string;
  metrics: Metrics;
  readiness: Readiness;
  /** The watcher's, if somebody wants to read it. */
  ledger?: Ledger;
  /** The watcher's; the controller never talks to the internet. */
  channels: ReadonlyMap<ChannelName, Channel>;
  /** The ids of this installation, the best first; without any, its buttons do not say whose they are. */
  installation?: readonly string[];
  /** How heartbeat.url is pinged, if not over the network. */
  ping?: typeof ping;
  /** Elects one replica of each role. Without it this process leads: there is no other. */
  elections?: Readonly<Record<RoleName, Election>>;
  signal: AbortSignal;
  /** Every watch has been started: from here on they report what is missing. */
  onWatching?(): void;
}

/** The parts that both roles share. They are made once. */
export interface Ground extends Parts {
  /** One watch that reaches the server again wakes the others. */
  reconnected: ReconnectSignal;
  history: History;
  /** Each role keeps what it saw: the controller must not believe the watcher. */
  keepers: Readonly<Record<RoleName, HistoryKeeper>>;
  /** Resolves when the history has what earlier processes saw, or that could not be read in time. No fix is derived before. */
  historyIsKnown: Promise<void>;
  /** Knows who exists and who owns it. Only the watcher asks. */
  roster: Roster | undefined;
  /** Every Remediation that is watched, and the watches that bring them. */
  fixes: { store: Store<Remediation>; feed: Feed<Remediation> };
  /**
   * Whether this installation answers for a Remediation. One that our watcher proposed stays ours when its namespace
   * leaves the configuration: somebody has to see it to its end. All others belong to another installation.
   */
  isOurs(fix: Remediation): boolean;
  watchRegistry: WatchRegistry;
  /** Something of the leader's was still under way when its time to end was over. */
  onCutShort(): void;
}

/** A server that is slow with it is not waited for: what is kept is then read with the first write. */
const longestLoadMs = 5_000;

/** The composition root, in flow order. Resolves when the signal aborts: whether all that was under way ended in time. */
export async function runTapfix(parts: Parts): Promise<boolean> {
  const { role, api, clock, log, current, ownNamespace, metrics, readiness, signal } = parts;
  const reconnected = createReconnectSignal();
  const scopes = fixScopes(current(), ownNamespace);
  const store = createStore<Remediation>({ clock, keysOf: ({ spec }) => [spec.incident.key] });
  const feed = createFeed({ api, clock, log, reconnected, kind: 'Remediation', scopes, view: viewRemediation, store });
  const history = createHistory();
  const heardMs = (name: string): number => clock.now() - ground.watchRegistry.silentMs(name);
  const setRevisions = ['statefulset-revisions', 'daemonset-revisions'];
  const keeperOf = (name: RoleName): HistoryKeeper =>
    createHistoryKeeper({
      api,
      clock,
      log,
      namespace: ownNamespace,
      role: name,
      history,
      stableForMs: () => current().recovery.stableFor,
      // With both roles in one process, what any watcher wrote does not get into what the controllers believe.
      believes: name === 'controller' || role === 'watcher',
      heard: () => ({ replicaSets: heardMs('revisions'), sets: Math.min(...setRevisions.map(heardMs)) }),
    });
  const keepers = { watcher: keeperOf('watcher'), controller: keeperOf('controller') };
  const roles = (['watcher', 'controller'] as const).filter((name) => role === 'all' || role === name);
  let isCutShort = false;
  const ground: Ground = {
    ...parts,
    reconnected,
    history,
    keepers,
    historyIsKnown: inTime({ clock, ms: longestLoadMs, late: undefined }, async () => {
      await Promise.all(roles.map((name) => keepers[name].load()));
    }),
    roster: role === 'controller' ? undefined : createRoster(),
    fixes: { store, feed },
    isOurs: (fix) =>
      isWatched(current(), fix.metadata.namespace ?? '', ownNamespace) || isProposedFrom(fix, ownNamespace),
    onCutShort: () => void (isCutShort = true),
    watchRegistry: createWatchRegistry({ clock, metrics, readiness, signal }),
  };
  const loops: Promise<void>[] = [];
  parts.reloads?.subscribe(() => {
    adjustFixWatches(ground); // first: a namespace is not watched for failures before its Remediations are known
    adjustRevisionWatches(ground);
  });
  for (const name of roles)
    loops.push(...play(ground, name, name === 'watcher' ? createWatcherRole(ground) : createControllerRole(ground)));
  adjustRevisionWatches(ground, ground.historyIsKnown);
  // Last: every listener is there by now.
  for (const [index, scope] of scopes.entries())
    ground.watchRegistry.open('remediations', scope, feed.watches[index]!, ground.historyIsKnown);
  parts.reloads?.subscribe(() => store.repeat()); // whose they are, and what may be done, may have changed
  loops.push(
    everyMinute({ clock, log, signal }, async () => {
      adjustFixWatches(ground); // a fix that was under way in a namespace we no longer watch may be over
      await feed.recheck((fix) => !isCleared(fix));
    }),
  );
  parts.onWatching?.();
  const all = [...loops, ground.watchRegistry.ended()];
  const hasEnded = (await endInTime(all, clock, signal, graceMs + releaseMs)) && !isCutShort;
  if (!hasEnded) log.warn({ graceMs }, 'tapfix stopped before everything under way had ended');
  return hasEnded;
}

/** Every replica watches. With an election it leads while it holds the Lease, and otherwise follows. */
function play(ground: Ground, name: RoleName, role: Role): Promise<void>[] {
  const { api, elections, clock, metrics, readiness, signal } = ground;
  const lead = (term: Term): Promise<void>[] => [
    ...role.lead(term),
    ground.keepers[name].run(term.signal, api.guardedBy(term.mustLead)),
  ];
  const election = elections?.[name];
  if (!election) return [...role.follow(), ...lead({ signal, isTakeover: false, mustLead: () => undefined })];
  metrics.leader(name, () => election.view().isLeading);
  readiness.set(`leader-${name}`, () => leaderCheck(election.view()));
  async function leadToTheEnd(term: Term): Promise<void> {
    const hasEnded = await endInTime(lead(term), clock, term.signal);
    if (!hasEnded && signal.aborted) ground.onCutShort();
  }
  return [...role.follow(), election.run(leadToTheEnd, signal)];
}

/** A follower is ready: it can take over. Without a Lease nobody could lead. */
export function leaderCheck({ holder, isLeading, problem }: LeaseView): Check {
  const leader = isLeading ? `${holder} leads, this replica` : `${holder} leads, this replica follows`;
  return { ok: problem === undefined, detail: problem ?? (holder ? leader : 'nobody leads yet'), required: true };
}
