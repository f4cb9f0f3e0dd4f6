import type { Config } from '../config/schema.ts';
import { readToken } from '../config/tokens.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Channel, ChannelName } from './channel.ts';

export interface ChannelsDeps {
  config: Config;
  clock: Clock;
  log: Log;
  /** The user of our own credentials: who presses on the console. */
  identity: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** One row per channel; what is not configured is not even loaded. */
export async function createChannels({
  config,
  clock,
  log,
  identity,
  env,
}: ChannelsDeps): Promise<Map<ChannelName, Channel>> {
  const channels = new Map<ChannelName, Channel>();
  const { telegram, console } = config.channels;
  if (telegram) {
    const { createTelegram } = await import('./telegram/telegram.ts');
    const token = (): Promise<string | undefined> => readToken('TELEGRAM_BOT_TOKEN', env);
    channels.set('telegram', createTelegram({ token, apiRoot: telegram.apiRoot, log, clock }));
  }
  if (console) {
    const { createConsole } = await import('./console.ts');
    // A ServiceAccount is not a person: it may show a card, not decide on it.
    const by = identity.startsWith('system:serviceaccount:') ? undefined : identity;
    channels.set('console', createConsole({ input: process.stdin, output: process.stdout, by, log }));
  }
  if (config.channels.slack) log.warn({}, 'channels.slack is configured, but this version does not speak Slack yet');
  return channels;
}
