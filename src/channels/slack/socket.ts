import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { untilAborted } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Endpoint, SocketClient } from './client.ts';
import { createSocketClient } from './client.ts';
import type { Trouble } from './errors.ts';
import { SlackTrouble } from './errors.ts';

/** Something that Slack pushed. It repeats what was not acknowledged within three seconds, or says so to the presser. */
export interface Envelope {
  envelope_id: string;
  /** interactive, slash_commands, events_api... */
  type: string;
  body: unknown;
  ack(): Promise<void>;
}

export interface SocketDeps {
  appToken: string;
  endpoint: Endpoint;
  clock: Clock;
  onOpen(): void;
  onEnvelope(envelope: Envelope): void;
}

/** One socket from its opening to its end: resolves to what Slack said at the end, throws when it could not be opened. */
export async function holdSocket(deps: SocketDeps, signal: AbortSignal): Promise<string> {
  const line = createLine(deps.endpoint.patience.handshakeMs);
  const client = createSocketClient(deps.appToken, deps.endpoint, line.dispatcher);
  let broken: unknown;
  client.on('error', (error: unknown) => (broken = error));
  client.on('slack_event', deps.onEnvelope);
  const ended = new Promise<string>((resolve) => {
    client.once('disconnected', () => resolve('closed'));
    // Slack announces the end and leaves the connection open; waiting for it to close would take seconds.
    client.on('ws_message', (data: unknown) => {
      const farewell = farewellIn(data);
      if (farewell !== undefined) resolve(farewell);
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
    // The first sends a farewell, the second waits for none.
    void client.disconnect();
    void client.disconnect();
    line.cut();
  }
}

/** A handshake that failed rejects with nothing: the reason was an event. */
async function openInTime(client: SocketClient, { clock, endpoint: { patience } }: SocketDeps): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(patience.helloMs, done.signal).then(() => 'late' as const);
  try {
    if ((await Promise.race([client.start(), late])) === 'late') throw new SlackTrouble(noHello);
  } finally {
    done.abort();
  }
}

const noHello: Trouble = { kind: 'Unreachable', say: 'Slack does not greet on its socket', retryMs: 5_000 };
const switchedOff: Trouble = {
  kind: 'SocketModeOff',
  say: 'Socket Mode is switched off for the Slack app: switch it on in the app’s settings',
  retryMs: 30_000,
};
const closed = (): SlackTrouble =>
  new SlackTrouble({ kind: 'Disconnected', say: 'Slack closed its socket at once', retryMs: 5_000 });

/** Why Slack wants us to leave: warning, refresh_requested, link_disabled, too_many_websockets; undefined: it does not. */
function farewellIn(data: unknown): string | undefined {
  try {
    const { type, reason } = JSON.parse(String(data)) as { type?: unknown; reason?: unknown };
    return type === 'disconnect' ? String(reason) : undefined;
  } catch {
    return undefined;
  }
}

/** Connections of one socket's own, so that they can be ended: after the upgrade nobody else knows them any more. */
function createLine(handshakeMs: number): { dispatcher: Agent; cut(): void } {
  const sockets = new Set<Socket>();
  const connect = buildConnector({ allowH2: false, timeout: handshakeMs });
  const dispatcher = new Agent({
    // A handshake that is never answered would otherwise leave us deaf for five minutes.
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
