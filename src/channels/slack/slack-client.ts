import { SocketModeReceiver, webApi } from '@slack/bolt';
import type { Dispatcher } from 'undici';

export type WebClient = webApi.WebClient;

/** How long Slack may take before it counts as gone; the library waits for ever, or for minutes. */
export interface CallPatience {
  /** Long, because what is given up may have arrived all the same, and would then be there twice. */
  callMs: number;
  handshakeMs: number;
  /** For the whole of opening a socket: its address, the handshake, Slack's hello. */
  helloMs: number;
  pongMs: number;
}
export const usualPatience: CallPatience = { callMs: 30_000, handshakeMs: 5_000, helloMs: 15_000, pongMs: 5_000 };

/** Where Slack is, and how long it may take. */
export interface Endpoint {
  apiUrl: string;
  patience: CallPatience;
}

const nothing = (): void => undefined;
/** The library's own log is long and may hold tickets; what matters is thrown or emitted as well. */
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
 * New for each client: the library changes what it is given. Nothing is tried again by itself: a post whose answer was
 * lost would be there twice, and one 429 would hold up every other call.
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

/** A socket that is opened once. Opening the next one is ours: left to itself it pauses, backs off without a bound, or gives up for good. */
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
