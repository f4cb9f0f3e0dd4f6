import { type WebhookTarget, webhooksIn } from '../config/escalation-schema.ts';
import { readToken } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { sameValue } from '../lib/hash.ts';
import type { Log } from '../lib/log.ts';
import type { Channel, ChannelName } from './channel.ts';

export type Channels = ReadonlyMap<ChannelName, Channel>;

/**
 * The settings that a channel is built from; undefined without that channel. Chats, routes, tokens and webhooks are read
 * at each use.
 */
const madeOf = ({ channels: { telegram, slack, console }, escalation }: Config): Record<ChannelName, unknown> => ({
  telegram: telegram?.apiRoot,
  slack: slack?.apiUrl,
  console: console && true,
  webhook: webhooksIn(escalation).length > 0 ? true : undefined,
});

/** The channels that the new configuration names: the same ones where nothing changed for them, new ones otherwise. */
export async function rebuildChannels(
  running: Channels,
  before: Config,
  now: Config,
  make: (config: Config) => Promise<Channels>,
): Promise<Channels> {
  const [was, is] = [madeOf(before), madeOf(now)];
  const isKept = (name: ChannelName): boolean => running.has(name) && sameValue(was[name], is[name]);
  const fresh = Object.entries(now.channels).filter(([name]) => !isKept(name as ChannelName));
  const escalation = isKept('webhook') ? [] : now.escalation;
  const made = await make({ ...now, channels: Object.fromEntries(fresh), escalation });
  const kept = [...running].filter(([name]) => is[name] !== undefined && isKept(name));
  return new Map([...kept, ...made]);
}

interface ChannelsDeps {
  config: Config;
  /** The chats in the current configuration, which may change later. */
  chatsOf: (channel: ChannelName) => readonly string[];
  /** The webhooks in the current configuration. */
  webhooks: () => readonly WebhookTarget[];
  clock: Clock;
  log: Log;
  /** The user of our own credentials: a press on the console is theirs. */
  identity: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** One row per channel. A channel that is not configured is not even loaded. */
export async function createChannels({
  config,
  chatsOf,
  webhooks,
  clock,
  log,
  identity,
  env,
}: ChannelsDeps): Promise<Map<ChannelName, Channel>> {
  const channels = new Map<ChannelName, Channel>();
  const { telegram, slack, console } = config.channels;
  if (telegram) {
    const { createTelegram } = await import('./telegram/telegram.ts');
    const token = (): Promise<string | undefined> => readToken('TELEGRAM_BOT_TOKEN', env);
    const chats = (): readonly string[] => chatsOf('telegram');
    channels.set('telegram', createTelegram({ token, apiRoot: telegram.apiRoot, chats, log, clock }));
  }
  if (slack) {
    const { createSlack } = await import('./slack/slack.ts');
    const botToken = (): Promise<string | undefined> => readToken('SLACK_BOT_TOKEN', env);
    const appToken = (): Promise<string | undefined> => readToken('SLACK_APP_TOKEN', env);
    const own = (): readonly string[] => chatsOf('slack');
    channels.set('slack', createSlack({ botToken, appToken, apiUrl: slack.apiUrl, channels: own, log, clock }));
  }
  if (console) {
    const { createConsole } = await import('./console/console.ts');
    // A ServiceAccount is not a person: it may show a card, but not decide on it.
    const by = identity.startsWith('system:serviceaccount:') ? undefined : identity;
    channels.set('console', createConsole({ input: process.stdin, output: process.stdout, by, log }));
  }
  if (webhooksIn(config.escalation).length > 0) {
    const { createWebhook } = await import('./webhook/webhook.ts');
    channels.set('webhook', createWebhook({ targets: webhooks, clock }));
  }
  return channels;
}
