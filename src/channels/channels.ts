import type { Config } from '../config/schema.ts';
import { readToken } from '../config/tokens.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Channel, ChannelName } from './channel.ts';

export interface ChannelsDeps {
  config: Config;
  /** Those that the configuration in force names, which may be another one later. */
  chatsOf: (channel: ChannelName) => readonly string[];
  clock: Clock;
  log: Log;
  /** The user of our own credentials: who presses on the console. */
  identity: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** One row per channel; what is not configured is not even loaded. */
export async function createChannels({
  config,
  chatsOf,
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
    const { createConsole } = await import('./console.ts');
    // A ServiceAccount is not a person: it may show a card, not decide on it.
    const by = identity.startsWith('system:serviceaccount:') ? undefined : identity;
    channels.set('console', createConsole({ input: process.stdin, output: process.stdout, by, log }));
  }
  return channels;
}
