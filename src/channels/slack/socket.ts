import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { type Clock, inTime, untilAborted } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { ChannelHealth } from '../channel.ts';
import { SlackTrouble, type SlackProblem, troubleOf } from './failures.ts';
import { createSocketClient, type Endpoint, type SocketClient } from './slack-client.ts';

/**
 * Something that Slack sent. If it is not acknowledged within three seconds, Slack sends it again or shows the presser
 * an error.
 */
export interface Envelope {
  envelope_id: string;
  /** interactive, slash_commands, events_api... */
  type: string;
  body: unknown;
  ack(): Promise<void>;
}

interface SocketDeps {
  appToken: string;
  endpoint: Endpoint;
  clock: Clock;
  onOpen(): void;
  /** How many sockets the app has, this one among them. */
  onHello(connections: number): void;
  onEnvelope(envelope: Envelope): void;
}

/**
 * One socket from its opening to its end. Resolves to Slack's reason for the end; throws when it could not be opened.
 */
async function holdSocket(deps: SocketDeps, signal: AbortSignal): Promise<string> {
  const line = createLine(deps.endpoint.patience.handshakeMs);
  const client = createSocketClient(deps.appToken, deps.endpoint, line.dispatcher);
  let broken: unknown;
  client.on('error', (error: unknown) => (broken = error));
  client.on('slack_event', deps.onEnvelope);
  const ended = new Promise<string>((resolve) => {
    client.once('disconnected', () => resolve('closed'));
    // Slack announces the end but leaves the connection open; waiting for it to close would take seconds.
    client.on('ws_message', (data: unknown) => {
      const { type, reason, num_connections } = parsed(data);
      if (type === 'disconnect') resolve(String(reason));
      if (type === 'hello' && typeof num_connections === 'number') deps.onHello(num_connections);
    });
  });
  try {
    const opened = openInTime(client, deps).catch((error: unknown) => Promise.reject(error ?? broken ?? closed()));
    await untilAborted(opened, signal);
    deps.onOpen();
    const farewell = await untilAborted(ended, signal);
    if (farewell === 'link_disabled') throw new SlackTrouble(switchedOff);
    return farewell;
  } finally {
    // The first call sends a close frame, the second does not wait for Slack's answer to it.
    void client.disconnect();
    void client.disconnect();
    line.cut();
  }
}

/** A failed handshake rejects without an error: the reason came as an event. */
async function openInTime(client: SocketClient, { clock, endpoint: { patience } }: SocketDeps): Promise<void> {
  const started = await inTime({ clock, ms: patience.helloMs, late: 'late' }, () => client.start());
  if (started === 'late') throw new SlackTrouble(noHello);
}

const noHello: SlackProblem = { kind: 'Unreachable', say: 'Slack did not greet on its socket', retryMs: 5_000 };
const switchedOff: SlackProblem = {
  kind: 'SocketModeOff',
  say: 'Socket Mode is switched off for the Slack app: switch it on in the app’s settings',
  retryMs: 30_000,
};
const closed = (): SlackTrouble =>
  new SlackTrouble({ kind: 'Disconnected', say: 'Slack closed its socket at once', retryMs: 5_000 });

/**
 * Slack's message about the socket itself: hello, or why it wants us to disconnect (warning, refresh_requested,
 * link_disabled, too_many_websockets).
 */
function parsed(data: unknown): { type?: unknown; reason?: unknown; num_connections?: unknown } {
  try {
    return (JSON.parse(String(data)) ?? {}) as object;
  } catch {
    return {};
  }
}

/** Connections of a single socket, so that we can end them: after the upgrade nothing else keeps track of them. */
function createLine(handshakeMs: number): { dispatcher: Agent; cut(): void } {
  const sockets = new Set<Socket>();
  const connect = buildConnector({ allowH2: false, timeout: handshakeMs });
  const dispatcher = new Agent({
    // Without this, a handshake that is never answered would receive nothing for five minutes.
    headersTimeout: handshakeMs,
    allowH2: false,
    connect: (options, callback) =>
      connect(options, (...result) => {
        if (result[1]) sockets.add(result[1]);
        callback(...result);
      }),
  });
  return {
    dispatcher,
    cut() {
      for (const socket of sockets) socket.destroy();
      void dispatcher.destroy().catch(() => undefined);
    },
  };
}

interface ReceiverDeps {
  appToken: () => Promise<string>;
  endpoint: Endpoint;
  clock: Clock;
  log: Log;
  onEnvelope(envelope: Envelope): void;
}

export interface Receiver {
  run(signal: AbortSignal): Promise<void>;
  health(): ChannelHealth;
  /** Since when the app has more sockets than ours. */
  sharedSinceMs(): number | undefined;
}

/**
 * Slack renews each socket every few hours, and the socket receives nothing meanwhile. Presses then arrive on the other
 * socket.
 */
const sockets = 2;
/** The second socket is renewed early once, so that Slack does not renew both at the same time. */
const staggerMs = 600_000;
/** A socket that ends sooner counts as a failure. */
const shortestLifeMs = 5_000;
/** Slack counts a socket that was just closed, by us or by the pod before us, for a while. */
const countedAfterMs = 120_000;
const firstBackOffMs = 1_000;
const longestBackOffMs = 30_000;

/** Receives until the signal aborts, whatever happens to Slack, its sockets or the token. */
export function createReceiver({ appToken, endpoint, clock, log, onEnvelope }: ReceiverDeps): Receiver {
  let open = 0;
  let trouble: SlackProblem | undefined;
  let isSaid = false;
  let closedMs: number[] = [];
  let others: { sinceMs: number; lastMs: number } | undefined;

  /** Slack says it only when a socket is opened: every few hours. */
  function onHello(connections: number): void {
    const nowMs = clock.now();
    closedMs = closedMs.filter((atMs) => Math.abs(nowMs - atMs) < countedAfterMs);
    const own = open + 1 + closedMs.length;
    others = connections > own ? { sinceMs: others?.sinceMs ?? nowMs, lastMs: nowMs } : undefined;
  }

  async function keepOpen(index: number, signal: AbortSignal): Promise<void> {
    let failures = 0;
    for (let lives = 0; !signal.aborted; lives++) {
      try {
        await live(index > 0 && lives === 0 ? staggerMs : undefined, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        const found = troubleOf(error, 'app');
        fails(found);
        await clock.sleep(backOffMs(found, failures++), signal);
      }
    }
  }

  /** One socket until it ends: by itself, at shutdown, or early because it is to be renewed. */
  async function live(renewAfterMs: number | undefined, signal: AbortSignal): Promise<void> {
    const renew = new AbortController();
    const over = new AbortController();
    const after = (ms: number, action: () => void): void =>
      void clock.sleep(ms, over.signal).then(() => over.signal.aborted || action());
    let openedAtMs: number | undefined;
    const onOpen = (): void => {
      openedAtMs = clock.now();
      open += 1;
      after(shortestLifeMs, works);
      if (renewAfterMs !== undefined) after(renewAfterMs, () => renew.abort());
    };
    const either = AbortSignal.any([signal, renew.signal]);
    try {
      const farewell = await holdSocket(
        { appToken: await appToken(), endpoint, clock, onOpen, onHello, onEnvelope },
        either,
      );
      if (clock.now() - (openedAtMs ?? 0) < shortestLifeMs) throw new SlackTrouble(cutShort(farewell));
    } catch (error) {
      if (!renew.signal.aborted) throw error;
    } finally {
      over.abort();
      if (openedAtMs !== undefined) {
        open -= 1;
        closedMs.push(clock.now());
      }
    }
  }

  function works(): void {
    if (isSaid) log.info({ was: trouble?.kind }, 'slack works again');
    isSaid = false;
    trouble = undefined;
  }

  /** One log line when the trouble changes, not one per attempt; none while the other socket still works. */
  function fails(found: SlackProblem): void {
    if (open === 0 && (!isSaid || trouble?.kind !== found.kind)) {
      isSaid = true;
      log.warn({ kind: found.kind, reason: found.say }, 'slack does not work');
    }
    trouble = found;
  }

  return {
    async run(signal) {
      await Promise.all(Array.from({ length: sockets }, (_, index) => keepOpen(index, signal)));
    },
    sharedSinceMs: () => (others && others.lastMs - others.sinceMs >= countedAfterMs ? others.sinceMs : undefined),
    health() {
      if (open === 0) return { ok: false, detail: trouble?.say ?? 'connecting' };
      return { ok: true, detail: open === sockets ? 'receiving' : `receiving over ${open} of ${sockets} sockets` };
    },
  };
}

const cutShort = (farewell: string): SlackProblem => ({
  kind: 'Disconnected',
  say: `Slack ends its sockets as soon as they are open (${farewell})`,
});

const backOffMs = (trouble: SlackProblem, failures: number): number =>
  trouble.kind === 'TooFast' || trouble.kind === 'NoToken'
    ? (trouble.retryMs ?? longestBackOffMs)
    : Math.min(firstBackOffMs * 2 ** failures, longestBackOffMs);
