import { type Channel, type ChannelName, ChatMoved, type Place } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { type Api, isConflict, isNotFound } from '../../kube/api.ts';
import { aboutOf, type Notice, type NoticeSpec } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import type { Change } from '../../kube/watch.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { type Log, scrub } from '../../lib/log.ts';
import type { Outcome } from '../../lib/queue.ts';
import type { Questions } from '../cards/card-context.ts';
import { isOverInChat } from '../cards/head.ts';
import { planMessages } from '../plan/coalesce.ts';
import { createChatTimes } from '../plan/limits.ts';
import { isStillDue, reminderAnnotation, reminderOf } from '../plan/reminder.ts';
import { addressesOf, chatKey, whereChatsAre } from '../plan/route.ts';
import { isPostedAt, isWatched } from '../plan/unwatched.ts';
import type { MessageStep } from '../plan/waiting.ts';
import { createChatQueues, planKey } from './chat-queues.ts';
import { createDeliveries, createPacing, isStuck } from './delivery.ts';
import { memberOf, mostMembers, nameOfNotice, noticeBody } from './notice-body.ts';
import { createNoticeStatus } from './notice-status.ts';
import { foundAfter, isCounting } from './rendering.ts';
import { createSender } from './sender.ts';
import { createShelf } from './shelf.ts';

/**
 * A message that has not left goes to the chat that the vendor named; its Notice says so before it is sent, so that
 * it is known where it is, whenever we are killed. What it was to answer stayed in the old chat.
 */
function moved(notice: Notice, chat: string, api: Pick<Api, 'patch'>): Promise<Notice> {
  const { namespace, name } = notice.metadata;
  const kind = reminderOf(notice)?.kind;
  const metadata = kind && { annotations: { [reminderAnnotation]: JSON.stringify({ kind }) } };
  const ref = { kind: 'Notice', ...(namespace && { namespace }), name } as const;
  return api.patch<Notice>(ref, 'merge', { ...(metadata && { metadata }), spec: { chat } });
}

export interface OutboxDeps {
  api: Pick<Api, 'create' | 'patch' | 'delete'>;
  clock: Clock;
  log: Log;
  current: () => Config;
  channels: () => ReadonlyMap<ChannelName, Channel>;
  /** tapfix's own, where Notices live. */
  namespace: string;
  timeZone: string;
  confirms: Questions;
  signal: AbortSignal;
  /** Whether what is not there is known to be gone; of a namespace that may not be read nobody knows. */
  isHeard?: (namespace: string) => boolean;
  /** For counting. */
  onNotice?: (what: 'posted' | 'edited' | 'failed', about: Pick<NoticeSpec, 'channel' | 'form'>) => void;
}

interface Outbox {
  /** The configuration, its chats by the ids that they have now: messages and presses are there. */
  current(): Config;
  onFixes(fixes: Remediation[]): void;
  onFix(change: Change<Remediation>): void;
  onNotices(notices: Notice[]): void;
  onNotice(change: Change<Notice>): void;
  /** The configuration changed: every message is looked at again. */
  refresh(): void;
  fixByUid(uid: string): Remediation | undefined;
  noticeAt(channel: ChannelName, place: Place, message: string): Notice | undefined;
  /** A Notice with the message that the vendor knows, and the Remediations that it tells of. */
  posted(notice: string): { notice: Notice; message: string | undefined; members: Remediation[] } | undefined;
  noticesWith(uid: string): Notice[];
  fixes(): Remediation[];
  idle(): Promise<void>;
}

/** How soon to look again at what is being done at this moment. */
const outcomeMs = 500;
/** How often incidents that were found late are counted again. */
const lookAgainMs = 5_000;

/**
 * Says what there is to say, once: a Notice is created, then sent, then completed by one patch.
 * Each pass over a Notice renders its members afresh, so nothing can be lost, only late.
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { api, clock, log, namespace } = deps;
  const current = (): Config => whereChatsAre(deps.current(), deps.channels());
  const shelf = createShelf(clock);
  const deliveries = createDeliveries();
  const pacing = createPacing();
  const status = createNoticeStatus(deps);
  const times = createChatTimes({ clock, current, shelf, deliveries, pacing });
  const sender = createSender({ ...deps, current, ...times, pacing, status });
  /** Notices whose creation may or may not have arrived: exactly these are tried again first. */
  const opening = new Map<string, MessageStep & { do: 'open' }>();
  /** The same of members that were added: told elsewhere as well, they would be told twice. */
  const joining = new Map<string, MessageStep & { do: 'join' }>();
  const queues = createChatQueues({
    clock,
    signal: deps.signal,
    handle: (key) => (key === planKey ? plan() : tend(key).catch((error: unknown) => follow(key, error))),
    onError: reportError,
  });
  deps.confirms.onChange((uid) => lookAt(shelf.noticesWith(uid)));

  function lookAt(notices: readonly Notice[]): void {
    queues.plan();
    for (const notice of notices) queues.add(notice);
  }

  async function plan(): Promise<Outcome> {
    if (!shelf.complete()) return undefined;
    for (const step of opening.values()) await open(step);
    for (const step of joining.values()) await join(step);
    if (opening.size > 0) return { againInMs: 1_000 };
    const config = current();
    const { steps, againInMs, busy } = planMessages({
      // Of what is no longer watched nobody is told; what was told says so.
      fixes: shelf.fixes().filter(({ metadata }) => isWatched(config, metadata.namespace ?? '', namespace)),
      notices: shelf.notices(),
      nowMs: clock.now(),
      coalesceMs: config.notices.coalesce,
      maxPerMinute: config.notices.maxPerMinute,
      stormOver: config.notices.storm.incidents,
      addressesOf: (of) => addressesOf(config, of).filter(({ channel }) => deps.channels().has(channel)),
      seen: (fix) => shelf.seen(fix),
      ...times,
      isStuck: (notice) => isStuck(deliveries.of(notice)),
      isPosting: (notice) => deliveries.of(notice).posting,
    });
    times.setBusy(busy);
    for (const step of steps) await (step.do === 'open' ? open(step) : join(step));
    const waitMs = opening.size > 0 ? Math.min(againInMs ?? 1_000, 1_000) : againInMs;
    return waitMs === undefined ? undefined : { againInMs: waitMs };
  }

  async function open(step: MessageStep & { do: 'open' }): Promise<void> {
    const name = nameOfNotice(step.address, step.form, step.members[0]!.metadata.uid);
    if (!shelf.notice(name)) {
      opening.set(name, step);
      try {
        shelf.created(await api.create<Notice>({ kind: 'Notice', namespace }, noticeBody(name, namespace, step)));
      } catch (error) {
        if (isConflict(error)) return; // it is there already: the watch brings it, posted or not
        throw error;
      }
    }
    opening.delete(name);
    queues.add({ metadata: { name }, spec: step.address });
  }

  async function join(step: MessageStep & { do: 'join' }): Promise<void> {
    const { name } = step.notice.metadata;
    const notice = shelf.notice(name);
    const { members = [] } = notice?.spec ?? {};
    // It left meanwhile: what would join it now would be told without a sound.
    if (step.unsent && notice && (deliveries.of(notice).posting || deliveries.of(notice).message)) {
      joining.delete(name);
      return queues.planAfter(outcomeMs);
    }
    const inside = new Set(members.map(({ uid }) => uid));
    const added = step.members.map(memberOf).filter(({ uid }) => !inside.has(uid));
    if (members.length > 0 && added.length > 0) {
      joining.set(name, step);
      const grown = { spec: { members: [...members, ...added].slice(-mostMembers) } };
      try {
        shelf.created(await api.patch<Notice>({ kind: 'Notice', namespace, name }, 'merge', grown));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        forget(name); // somebody deleted it: its members are planned anew
      }
    }
    joining.delete(name);
    queues.add(step.notice);
  }

  async function tend(name: string): Promise<Outcome> {
    const notice = shelf.notice(name);
    if (!notice || !shelf.complete()) return undefined;
    const channel = deps.channels().get(notice.spec.channel);
    if (notice.spec.form === 'system') return channel && tendSystem(notice, channel);
    if (!['card', 'boot', 'storm', 'reminder'].includes(notice.spec.form)) return undefined;
    const members = notice.spec.members.flatMap(({ uid }) => shelf.fix(uid) ?? []);
    const delivery = deliveries.of(notice);
    const pauseMs = pacing.pausedForMs(notice.spec, clock.now());
    if (members.length === 0) return letGo(notice, channel);
    // It has not left, and would go to the wrong place, or is not wanted by now: its members are planned anew.
    const isWanted = (fix: Remediation): boolean => isPostedAt(fix, notice.spec, current(), namespace);
    if (!delivery.message && !delivery.posting && !members.some(isWanted)) return remove(notice);
    const isReminder = notice.spec.form === 'reminder';
    if (isReminder && !delivery.message && !isStillDue(notice, members, clock.now())) return remove(notice);
    if (!channel) return undefined;
    if (joining.has(name) && !delivery.message) return { againInMs: outcomeMs }; // it is about to grow
    const waitMs = pauseMs > 0 ? pauseMs : await sender.bringUpToDate({ notice, members, channel, delivery });
    if (!delivery.saved) await status.save(notice, delivery);
    return waitMs > 0 ? { againInMs: waitMs } : undefined;
  }

  /** Its chat has another id by now: there it goes. */
  async function follow(name: string, error: unknown): Promise<Outcome> {
    const notice = shelf.notice(name);
    if (!notice || !(error instanceof ChatMoved)) throw error;
    const there = await moved(notice, error.to, api);
    shelf.created(there);
    lookAt([there]);
    return undefined;
  }

  /** About tapfix itself: what it tells is in the Notice (self-watch.ts), and how many incidents were found late. */
  async function tendSystem(notice: Notice, channel: Channel): Promise<Outcome> {
    const about = aboutOf(notice);
    const delivery = deliveries.of(notice);
    const isFinal = about?.what === 'blind' && delivery.message !== undefined && !isCounting(about, clock.now());
    let waitMs = pacing.pausedForMs(notice.spec, clock.now());
    if (about && !isFinal && waitMs === 0) {
      const isHere = ({ metadata }: Remediation): boolean =>
        addressesOf(current(), metadata.namespace ?? '').some((own) => chatKey(own) === chatKey(notice.spec));
      const system = { about, found: foundAfter(about, shelf.fixes().filter(isHere)) };
      waitMs = await sender.bringUpToDate({ notice, members: [], system, channel, delivery });
    }
    if (!delivery.saved) await status.save(notice, delivery);
    if (waitMs > 0) return { againInMs: waitMs };
    return about && isCounting(about, clock.now()) ? { againInMs: lookAgainMs } : undefined;
  }

  /** No Remediation of it is left: what still asks for something is told so, and its Notice goes. */
  async function letGo(notice: Notice, channel: Channel | undefined): Promise<Outcome> {
    const isUnknown = notice.spec.members.some((member) => !(deps.isHeard?.(member.namespace) ?? true));
    if (isUnknown) return undefined;
    const members = notice.spec.members.flatMap(({ uid }) => shelf.departed(uid) ?? []);
    if (channel && notice.spec.form !== 'reminder' && members.some((fix) => !isOverInChat(fix))) {
      const nowMs = clock.now();
      const waitMs = Math.max(pacing.pausedForMs(notice.spec, nowMs), times.editWaitMs(notice.spec, 'state'));
      if (waitMs > 0) return { againInMs: waitMs };
      await sender.sayFarewell({ notice, members, channel, delivery: deliveries.of(notice) });
    }
    return remove(notice);
  }

  async function remove(notice: Notice): Promise<Outcome> {
    const { name, uid } = notice.metadata;
    try {
      await api.delete({ kind: 'Notice', namespace, name }, { uid });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    forget(name);
    return undefined;
  }

  function forget(name: string): void {
    shelf.dropNotice(name);
    deliveries.forget(name);
  }

  function reportError(key: string, error: unknown, retryInMs: number): void {
    const notice = shelf.notice(key);
    const reason = scrub(messageOf(error));
    const delivery = notice && deliveries.of(notice);
    if (delivery?.errorLogged === reason) return; // said once, until it works again
    if (delivery) delivery.errorLogged = reason;
    const channel = notice?.spec.channel;
    log.warn({ notice: key, channel, reason, retryInMs: Math.round(retryInMs) }, 'message not sent yet');
  }

  return {
    current,
    onFixes(fixes) {
      shelf.listFixes(fixes);
      lookAt(shelf.notices());
    },
    onFix(change) {
      const uid = change.type === 'gone' ? change.uid : change.view.metadata.uid;
      const about = shelf.noticesWith(uid);
      if (change.type === 'gone') shelf.dropFix(uid);
      else shelf.putFix(change.view);
      lookAt(about);
    },
    onNotices(notices) {
      for (const name of shelf.listNotices(notices)) deliveries.forget(name);
      lookAt(shelf.notices());
    },
    onNotice(change) {
      if (change.type === 'gone') forget(change.name);
      else shelf.putNotice(change.view);
      lookAt(change.type === 'gone' ? [] : [change.view]);
    },
    refresh: () => lookAt(shelf.notices()),
    fixByUid: (uid) => shelf.fix(uid),
    noticesWith: (uid) => shelf.noticesWith(uid),
    fixes: () => shelf.fixes(),
    noticeAt: (channel, place, message) =>
      shelf
        .notices()
        .find(
          (notice) =>
            notice.spec.channel === channel &&
            notice.spec.chat === place.chat &&
            deliveries.of(notice).message === message,
        ),
    posted(name) {
      const notice = shelf.notice(name);
      const members = notice?.spec.members.flatMap(({ uid }) => shelf.fix(uid) ?? []) ?? [];
      return notice && { notice, members, message: deliveries.of(notice).message };
    },
    idle: () => queues.idle(),
  };
}
