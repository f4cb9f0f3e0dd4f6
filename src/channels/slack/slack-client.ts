import { SocketModeReceiver, webApi } from '@slack/bolt';
import type { Dispatcher } from 'undici';

export type WebClient = webApi.WebClient;

/** How long Slack may take before a call counts as failed. The library would wait for ever, or for minutes. */
export interface CallPatience {
  /** Long, because a call that we give up may have arrived anyway, and the message would then be there twice. */
  callMs: number;
  handshakeMs: number;
  /** For the whole opening of a socket: its URL, the handshake, Slack's hello. */
  helloMs: number;
  pongMs: number;
}
export const usualPatience: CallPatience = { callMs: 30_000, handshakeMs: 5_000, helloMs: 15_000, pongMs: 5_000 };

/** The address of Slack, and how long it may take. */
export interface Endpoint {
  apiUrl: string;
  patience: CallPatience;
}

const nothing = (): void => undefined;
/** The library's own log is long and may hold tickets. Everything that matters is also thrown or emitted. */
const quiet: webApi.Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  setLevel: nothing,
  setName: nothing,
  getLevel: () => webApi.LogLevel.ERROR,
};

/**
 * New for each client, because the library modifies the object. There are no automatic retries: a post whose answer was
 * lost would be there twice, and one 429 would delay every other call.
 */
const callOptions = ({ apiUrl, patience }: Endpoint): webApi.WebClientOptions => ({
  slackApiUrl: apiUrl,
  logger: quiet,
  retryConfig: { retries: 0 },
  timeout: patience.callMs,
  rejectRateLimitedCalls: true,
});

export const createWebClient = (botToken: string, endpoint: Endpoint): WebClient =>
  new webApi.WebClient(botToken, callOptions(endpoint));

export type SocketClient = SocketModeReceiver['client'];

/**
 * A socket that is opened once. We open the next one ourselves: the library would pause, back off without a limit, or
 * give up for good.
 */
export function createSocketClient(appToken: string, endpoint: Endpoint, dispatcher: Dispatcher): SocketClient {
  const { client } = new SocketModeReceiver({
    appToken,
    dispatcher,
    logger: quiet,
    autoReconnectEnabled: false,
    clientPingTimeout: endpoint.patience.pongMs,
    installerOptions: { clientOptions: callOptions(endpoint) },
  });
  return client;
}
