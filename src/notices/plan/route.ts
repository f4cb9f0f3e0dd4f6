import type { Channel, ChannelName, Place } from '../../channels/channel.ts';
import type { Config, Route } from '../../config/schema.ts';
import { matchesAny } from '../../lib/glob.ts';

export interface Address extends Place {
  channel: ChannelName;
}

/** The places for news of this namespace: one per configured channel. */
export function addressesOf(config: Config, namespace: string): Address[] {
  const { telegram, slack, console } = config.channels;
  const addresses: Address[] = [];
  if (telegram) addresses.push({ channel: 'telegram', ...placeOf(telegram.chat, telegram.routes, namespace) });
  if (slack) addresses.push({ channel: 'slack', ...placeOf(slack.channel, slack.routes, namespace) });
  if (console) addresses.push({ channel: 'console', chat: 'console' });
  return addresses;
}

/** Pure. The same configuration with the current ids of its chats. */
export function whereChatsAre(config: Config, channels: ReadonlyMap<ChannelName, Pick<Channel, 'chatNow'>>): Config {
  const { telegram } = config.channels;
  const now = (chat: string): string => channels.get('telegram')?.chatNow?.(chat) ?? chat;
  const hasMoved = ({ chat }: { chat?: string | undefined }): boolean => chat !== undefined && now(chat) !== chat;
  if (!telegram || ![telegram, ...telegram.routes].some(hasMoved)) return config;
  const routes = telegram.routes.map((route) => (hasMoved(route) ? { ...route, chat: now(route.chat!) } : route));
  return { ...config, channels: { ...config.channels, telegram: { ...telegram, chat: now(telegram.chat), routes } } };
}

/** Every configured chat, once. News for all of them goes to the usual topic, if there is one. */
export function everyChat(config: Config): Address[] {
  const { telegram, slack, console } = config.channels;
  const all: Address[] = [];
  const add = (channel: ChannelName, chat: string, routes: readonly Route[]): void => {
    all.push({ channel, chat });
    for (const { chat: own, thread } of routes)
      all.push({ channel, chat: own ?? chat, ...(thread !== undefined && { thread }) });
  };
  if (telegram) add('telegram', telegram.chat, telegram.routes);
  if (slack) add('slack', slack.channel, slack.routes);
  if (console) add('console', 'console', []);
  return [...new Map(all.toReversed().map((address) => [chatKey(address), address])).values()].toReversed();
}

export const chatsOf = (config: Config, name: ChannelName): string[] =>
  everyChat(config).flatMap(({ channel, chat }) => (channel === name ? [chat] : []));

/** The first matching route wins. A route without its own chat is a topic of the usual chat. */
function placeOf(chat: string, routes: readonly Route[], namespace: string): Place {
  const route = routes.find(({ namespaces }) => matchesAny(namespaces, namespace));
  return { chat: route?.chat ?? chat, ...(route?.thread !== undefined && { thread: route.thread }) };
}

export const samePlace = (a: Address, b: Address): boolean =>
  a.channel === b.channel && a.chat === b.chat && (a.thread ?? '') === (b.thread ?? '');

/** Message ids and the limits are per chat, whatever the topic. */
export const chatKey = ({ channel, chat }: Address): string => `${channel} ${chat}`;
