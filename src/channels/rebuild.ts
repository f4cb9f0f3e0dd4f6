import type { Config } from '../config/schema.ts';
import { sameValue } from '../lib/hash.ts';
import type { Channel, ChannelName } from './channel.ts';

export type Channels = ReadonlyMap<ChannelName, Channel>;

/** What a channel is made of; chats and routes are read each time, and tokens as well. */
const madeOf = ({ telegram, slack, console }: Config['channels']): Record<ChannelName, unknown> => ({
  telegram: telegram?.apiRoot,
  slack: slack?.apiUrl,
  console: console && true,
});

/** Those that the new configuration names: the same ones where nothing changed for them, new ones otherwise. */
export async function rebuildChannels(
  running: Channels,
  before: Config,
  now: Config,
  make: (config: Config) => Promise<Channels>,
): Promise<Channels> {
  const [was, is] = [madeOf(before.channels), madeOf(now.channels)];
  const isKept = (name: ChannelName): boolean => running.has(name) && sameValue(was[name], is[name]);
  const fresh = Object.entries(now.channels).filter(([name]) => !isKept(name as ChannelName));
  const made = await make({ ...now, channels: Object.fromEntries(fresh) });
  const kept = [...running].filter(([name]) => now.channels[name] !== undefined && isKept(name));
  return new Map([...kept, ...made]);
}
