import { createConfirms } from '../../../src/approvals/confirms.ts';
import { type Channel, type ChannelName, ChatMoved, NotSent, type Turn } from '../../../src/channels/channel.ts';
import type { Config } from '../../../src/config/schema.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import type { Message } from '../../../src/notices/cards/message.ts';
import type { OutboxDeps } from '../../../src/notices/outbox/outbox.ts';
import { createReminders } from '../../../src/notices/outbox/reminder-writer.ts';
import { whereChatsAre } from '../../../src/notices/plan/route.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, at } from '../../support/fixes.ts';
import { storedOutbox } from '../../support/stores.ts';
import { noticeServer } from './notice-server.ts';

export const silentLog = { debug() {}, info() {}, warn() {}, error() {} };

export interface Said {
  what: 'post' | 'edit';
  chat: string;
  id: string;
  headlines: string[];
  atMs: number;
  replyTo?: string;
}

/** An outbox with everything around it: a cluster that keeps Notices, a vendor that can be down, a clock. */
export function aDesk(
  over: { config?: Partial<Config>; server?: ReturnType<typeof noticeServer>; forgets?: boolean } = {},
) {
  const clock = fakeClock(Date.parse(at('02:12:40')));
  const server = over.server ?? noticeServer();
  const said: Said[] = [];
  const vendor = {
    down: undefined as Error | undefined,
    tried: 0,
    hangs: (_chat: string): boolean => false,
    /** Chats that have another id, and which of them we were told of. */
    moved: new Map<string, string>(),
    known: new Map<string, string>(),
    /** Posts wait for their turn as long as it is true, or until their caller gives up. */
    isBusy: false,
    turns: [] as Turn['urgency'][],
  };
  const never = new Promise<never>(() => undefined);
  let next = 4711;

  const say = (what: Said['what'], chat: string, id: string, message: Message, replyTo?: string): void => {
    vendor.tried += 1;
    if (vendor.down) throw vendor.down;
    const headlines = message.cards.map(({ headline }) => headline);
    said.push({ what, chat, id, headlines, atMs: clock.now(), ...(replyTo !== undefined && { replyTo }) });
  };
  const ownTurn = async (signal: AbortSignal | undefined): Promise<void> => {
    for (const isGivenUp = (): boolean => signal?.aborted === true; vendor.isBusy; await clock.sleep(500))
      if (isGivenUp()) throw new NotSent();
  };
  const aChannel = (name: ChannelName): Channel => ({
    name,
    forgets: over.forgets ?? false,
    chatNow: (chat) => vendor.known.get(chat) ?? chat,
    async post({ chat }, message, replyTo, turn) {
      vendor.turns.push(turn?.urgency);
      if (vendor.isBusy) await ownTurn(turn?.signal);
      const to = vendor.moved.get(chat);
      if (to !== undefined) {
        vendor.known.set(chat, to);
        throw new ChatMoved(to);
      }
      const id = String(next++);
      if (vendor.hangs(chat)) return never;
      say('post', chat, id, message, replyTo);
      return id;
    },
    async edit({ chat }, id, message, turn) {
      vendor.turns.push(turn?.urgency);
      say('edit', chat, id, message);
    },
    run: async () => {},
    health: () => ({ ok: true, detail: '' }),
  });
  const config = aConfig(over.config);
  const names = (Object.keys(config.channels) as ChannelName[]).filter(
    (name) => config.channels[name as keyof Config['channels']],
  );
  const channels = new Map(names.map((name) => [name, aChannel(name)]));

  /** A process: it can be killed, and another one started on the same cluster. */
  function start(more: Pick<OutboxDeps, 'isHeard'> = {}) {
    const stop = new AbortController();
    const confirms = createConfirms({ clock, signal: stop.signal });
    const outbox = storedOutbox({
      api: server.api,
      clock,
      log: silentLog,
      current: () => whereChatsAre(config, channels),
      channels: () => channels,
      namespace: 'tapfix',
      timeZone: 'Europe/Berlin',
      confirms,
      signal: stop.signal,
      ...more,
    });
    server.watch((change) => outbox.onNotice(change));
    return { outbox, confirms, kill: () => stop.abort() };
  }
  /** Started and fed with what exists. */
  function startWith(fixes: Remediation[], more: Pick<OutboxDeps, 'isHeard'> = {}) {
    const process = start(more);
    process.outbox.onNotices(server.all());
    process.outbox.onFixes(fixes);
    return process;
  }
  const posts = (): string[][] => said.filter(({ what }) => what === 'post').map(({ headlines }) => headlines);
  const editsSaid = (): string[][] => said.filter(({ what }) => what === 'edit').map(({ headlines }) => headlines);
  return { clock, server, said, vendor, config, start, startWith, posts, edits: editsSaid };
}

export const upsert = (view: Remediation) => ({ type: 'upsert', view }) as const;
export const gone = ({ metadata }: Remediation) =>
  ({ type: 'gone', namespace: metadata.namespace!, name: metadata.name, uid: metadata.uid }) as const;

/** The outbox with the reminders beside it, as they run: each sees what the other writes. */
export function aDeskWithReminders() {
  const desk = aDesk();
  const { api } = desk.server;
  const removeAtOnce = api.delete;
  // Another call of the network: whoever created it has had its answer by then.
  api.delete = async (...which) => new Promise(setImmediate).then(() => removeAtOnce(...which));
  const { outbox } = desk.startWith([aFix()]);
  const stop = new AbortController();
  const channels = () => new Map<ChannelName, unknown>([['telegram', {}]]);
  const more = { current: () => desk.config, channels, namespace: 'tapfix', isMuted: () => false };
  const { fixes, notices } = outbox.stores;
  const reminders = createReminders({
    api: desk.server.api,
    fixes,
    notices,
    clock: desk.clock,
    log: silentLog,
    signal: stop.signal,
    ...more,
  });
  desk.server.watch((change) => {
    outbox.onNotice(change);
  });
  fixes.subscribe(reminders.listener);
  notices.subscribe(reminders.listener);
  notices.repeat();
  const created = (): number => desk.server.calls.filter((call) => call === 'create').length;
  return { ...desk, outbox, stop, created };
}
