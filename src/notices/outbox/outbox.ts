import { type Channel, type ChannelName, ChatMoved, type Place } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { type Api, isConflict, isNotFound } from '../../kube/api.ts';
import { aboutOf, isCard, type Notice, type NoticeSpec } from '../../kube/notice.ts';
import { levelOf } from '../../kube/outage.ts';
import { latestIn, type Remediation } from '../../kube/remediation.ts';
import type { Listener, Store, StoreReader } from '../../kube/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import { type Log, scrub } from '../../lib/log.ts';
import type { Outcome } from '../../lib/queue.ts';
import { isRehearsed, type Questions } from '../cards/card-context.ts';
import type { EscalationFrame } from '../cards/escalation-words.ts';
import { isSettled } from '../cards/head.ts';
import { nameOf } from '../cards/people.ts';
import { planMessages } from '../plan/coalesce.ts';
import { isStillEscalated, mentionsFor, targetsOf } from '../plan/escalation.ts';
import { createChatTimes } from '../plan/limits.ts';
import { isStillDue, reminderAnnotation, reminderOf } from '../plan/reminder.ts';
import { addressesOf, chatKey } from '../plan/route.ts';
import { isPostedAt } from '../plan/unwatched.ts';
import { isWatched } from '../../config/selection.ts';
import type { MessageStep, SeenTimes } from '../plan/waiting.ts';
import { createChatQueues, planKey } from './chat-queues.ts';
import { createDeliveries, createPacing, isStuck } from './delivery.ts';
import { memberOf, mostMembers, nameOfNotice, noticeBody } from './notice-body.ts';
import { createNoticeStatus } from './notice-status.ts';
import { foundAfter, isCounting } from './rendering.ts';
import { createSender } from './sender.ts';

/**
 * A message that was not sent yet goes to the chat that the vendor named. Its Notice is patched before the message is
 * sent, so that its place is known even if we are killed. A message that it was to reply to stays in the old chat, so
 * the reply reference is dropped.
 */
function moved(notice: Notice, chat: string, api: Pick<Api, 'patch'>): Promise<Notice> {
  const { namespace, name } = notice.metadata;
  const { replyTo: _there, ...note } = reminderOf(notice) ?? {};
  const metadata = 'kind' in note && { annotations: { [reminderAnnotation]: JSON.stringify(note) } };
  const ref = { kind: 'Notice', ...(namespace && { namespace }), name } as const;
  return api.patch<Notice>(ref, 'merge', { ...(metadata && { metadata }), spec: { chat } });
}

export interface OutboxDeps {
  api: Pick<Api, 'create' | 'patch' | 'delete'>;
  /** The Remediations that this installation is responsible for. */
  fixes: StoreReader<Remediation>;
  /** A Remediation that is no longer in `fixes`, because its namespace is no longer watched. */
  otherFix?: (uid: string) => Remediation | undefined;
  /** Keyed by their members' uids. */
  notices: Store<Notice>;
  clock: Clock;
  log: Log;
  current: () => Config;
  channels: () => ReadonlyMap<ChannelName, Channel>;
  /** tapfix's own namespace, where Notices live. */
  namespace: string;
  timeZone: string;
  confirms: Questions;
  signal: AbortSignal;
  /** Whether a missing object is known to be gone. That is unknown for a namespace that may not be read. */
  isHeard?: (namespace: string) => boolean;
  /** For metrics. */
  onNotice?: (what: 'posted' | 'edited' | 'failed', about: Pick<NoticeSpec, 'channel' | 'form'>) => void;
}

interface Outbox {
  /** Called by the stores of Remediations and of Notices. */
  listeners: { fixes: Listener<Remediation>; notices: Listener<Notice> };
  /** The configuration changed: every message is checked again. */
  refresh(): void;
  noticeAt(channel: ChannelName, place: Place, message: string): Notice | undefined;
  /** A Notice, its message id at the vendor, and its Remediations. */
  posted(notice: string): { notice: Notice; message: string | undefined; members: Remediation[] } | undefined;
  idle(): Promise<void>;
}

/** How soon to check again after something that is under way. */
const outcomeMs = 500;
/** How often incidents that were found late are counted again. */
const lookAgainMs = 5_000;

/**
 * Posts each message once: a Notice is created, then sent, then completed by one patch. Each pass over a Notice renders
 * its members again, so nothing can be lost, only late.
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { api, clock, log, current, namespace } = deps;
  const { fixes, notices } = deps;
  const seen = createSeen(clock);
  /** Members that are gone, as they were last seen. Their message must still be edited. */
  const departed = new Map<string, Remediation>();
  const isComplete = (): boolean => fixes.isComplete() && notices.isComplete();
  const noticeNamed = (name: string): Notice | undefined => notices.named(namespace, name);
  const deliveries = createDeliveries();
  const pacing = createPacing();
  const status = createNoticeStatus(deps);
  const times = createChatTimes({ clock, current, fixes, notices, deliveries, pacing, namespace });
  const sender = createSender({
    clock,
    current,
    timeZone: deps.timeZone,
    namespace,
    confirms: deps.confirms,
    pacing,
    status,
    postTimes: times.postTimes,
    editWaitMs: times.editWaitMs,
    isStormy: times.isStormy,
    signal: deps.signal,
    onNotice: deps.onNotice,
  });
  /** Notices whose creation may or may not have succeeded. Exactly these are retried first. */
  const opening = new Map<string, MessageStep & { do: 'open' }>();
  /** The same for added members. If they went into another message as well, they would be posted twice. */
  const joining = new Map<string, MessageStep & { do: 'join' }>();
  const queues = createChatQueues({
    clock,
    signal: deps.signal,
    handle: (key) => (key === planKey ? plan() : tend(key).catch((error: unknown) => follow(key, error))),
    onError: reportError,
  });
  deps.confirms.onChange((uid) => lookAt(notices.withKey(uid)));

  function lookAt(notices: readonly Notice[]): void {
    queues.plan();
    for (const notice of notices) queues.add(notice);
  }

  /** Also those about what it replaces: only a card gets it as a member. */
  function noticesAbout(fix: Remediation): Notice[] {
    const found = new Set(notices.withKey(fix.metadata.uid));
    const passed = new Set<Remediation>();
    for (let one = before(fix); one && !passed.has(one); one = before(one)) {
      passed.add(one);
      for (const notice of notices.withKey(one.metadata.uid)) if (!isCard(notice)) found.add(notice);
    }
    return [...found];
  }

  const before = ({ spec }: Remediation): Remediation | undefined => fixes.get(spec.follows?.uid ?? '');

  async function plan(): Promise<Outcome> {
    if (!isComplete()) return undefined;
    for (const step of opening.values()) await open(step);
    for (const step of joining.values()) await join(step);
    if (opening.size > 0) return { againInMs: 1_000 };
    const config = current();
    const { steps, againInMs, busy } = planMessages({
      // Skip unwatched namespaces; messages already posted are edited to say so.
      fixes: fixes.all().filter(({ metadata }) => isWatched(config, metadata.namespace ?? '', namespace)),
      notices: notices.all(),
      nowMs: clock.now(),
      coalesceMs: config.notices.coalesce,
      maxPerMinute: config.notices.maxPerMinute,
      stormOver: config.notices.storm.incidents,
      addressesOf: (of) => addressesOf(config, of).filter(({ channel }) => deps.channels().has(channel)),
      seen: (fix) => seen.of(fix),
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
    if (!noticeNamed(name)) {
      opening.set(name, step);
      try {
        notices.put(await api.create<Notice>({ kind: 'Notice', namespace }, noticeBody(name, namespace, step)));
      } catch (error) {
        if (isConflict(error)) return; // it exists already: the watch delivers it, posted or not
        throw error;
      }
    }
    opening.delete(name);
    queues.add({ metadata: { name }, spec: step.address });
  }

  async function join(step: MessageStep & { do: 'join' }): Promise<void> {
    const { name } = step.notice.metadata;
    const notice = noticeNamed(name);
    const { members = [] } = notice?.spec ?? {};
    // It was sent meanwhile. A member that joined it now would make no sound.
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
        notices.put(await api.patch<Notice>({ kind: 'Notice', namespace, name }, 'merge', grown));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        forget(name); // somebody deleted it: its members are planned again
      }
    }
    joining.delete(name);
    queues.add(step.notice);
  }

  async function tend(name: string): Promise<Outcome> {
    const notice = noticeNamed(name);
    if (!notice || !isComplete()) return undefined;
    const channel = deps.channels().get(notice.spec.channel);
    if (notice.spec.form === 'system') return channel && tendSystem(notice, channel);
    if (!isCard(notice) && !['reminder', 'escalation'].includes(notice.spec.form)) return undefined;
    const members = membersOf(notice);
    const delivery = deliveries.of(notice);
    const pauseMs = pacing.pausedForMs(notice.spec, clock.now());
    if (members.length === 0) return letGo(notice, channel);
    // It was not sent yet and has the wrong place, or is no longer wanted: remove it, its members are planned again.
    const isWanted = (fix: Remediation): boolean => isPostedAt(fix, notice.spec, current(), namespace);
    if (!delivery.message && !delivery.posting && !members.some(isWanted)) return remove(notice);
    if (!delivery.message && !delivery.posting && !isStillWanted(notice, members)) return remove(notice);
    if (!channel) return undefined;
    if (joining.has(name) && !delivery.message) return { againInMs: outcomeMs }; // it is about to get more members
    const waitMs =
      pauseMs > 0 ? pauseMs : await sender.bringUpToDate({ notice, members, ...frameOf(notice), channel, delivery });
    if (!delivery.saved) await status.save(notice, delivery);
    return waitMs > 0 ? { againInMs: waitMs } : undefined;
  }

  /** A card shows what replaces its members because that joins it; whatever repeats a card follows them by itself. */
  function membersOf(notice: Notice): Remediation[] {
    const members = notice.spec.members.flatMap(({ uid }) => fixes.get(uid) ?? []);
    if (isCard(notice) || members.length === 0) return members;
    return [...new Set(members.map(latestIn(fixes.all())))];
  }

  function isStillWanted(notice: Notice, members: readonly Remediation[]): boolean {
    const { form } = notice.spec;
    if (form === 'reminder') return isStillDue(notice, members, clock.now());
    return form !== 'escalation' || isStillEscalated(notice, members, targetsOf(current().escalation), clock.now());
  }

  function frameOf(notice: Notice): { escalation?: EscalationFrame } {
    if (notice.spec.form !== 'escalation') return {};
    const config = current();
    const mentions = mentionsFor(notice, targetsOf(config.escalation), (by) => nameOf(config, by));
    const cards = notice.spec.members.flatMap(({ uid }) =>
      notices
        .withKey(uid)
        .filter(isCard)
        .map(({ spec }) => spec),
    );
    return { escalation: { id: notice.metadata.name, mentions, cards } };
  }

  /** The chat has a new id: the message goes there. */
  async function follow(name: string, error: unknown): Promise<Outcome> {
    const notice = noticeNamed(name);
    if (!notice || !(error instanceof ChatMoved)) throw error;
    const there = await moved(notice, error.to, api);
    notices.put(there);
    lookAt([there]);
    return undefined;
  }

  /**
   * A message about tapfix itself. Its content is in the Notice (self-watch.ts), plus the number of incidents found
   * late.
   */
  async function tendSystem(notice: Notice, channel: Channel): Promise<Outcome> {
    const about = aboutOf(notice);
    const delivery = deliveries.of(notice);
    const isFinal = about?.what === 'blind' && delivery.message !== undefined && !isCounting(about, clock.now());
    let waitMs = pacing.pausedForMs(notice.spec, clock.now());
    if (about && !isFinal && waitMs === 0) {
      const isHere = ({ metadata }: Remediation): boolean =>
        addressesOf(current(), metadata.namespace ?? '').some((own) => chatKey(own) === chatKey(notice.spec));
      const system = { about, found: foundAfter(about, fixes.all().filter(isHere)) };
      waitMs = await sender.bringUpToDate({ notice, members: [], system, channel, delivery });
    }
    if (!delivery.saved) await status.save(notice, delivery);
    if (waitMs > 0) return { againInMs: waitMs };
    return about && isCounting(about, clock.now()) ? { againInMs: lookAgainMs } : undefined;
  }

  /**
   * All its Remediations are gone. A message that still asks for something is edited to say so; then its Notice is
   * deleted.
   */
  async function letGo(notice: Notice, channel: Channel | undefined): Promise<Outcome> {
    const isUnknown = notice.spec.members.some((member) => !(deps.isHeard?.(member.namespace) ?? true));
    if (isUnknown) return undefined;
    const members = notice.spec.members.flatMap(({ uid }) => departed.get(uid) ?? deps.otherFix?.(uid) ?? []);
    const isRead = notice.spec.form !== 'reminder' && notice.spec.channel !== 'webhook';
    if (channel && isRead && members.some((fix) => !isSettled(fix))) {
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
    const notice = noticeNamed(name);
    if (notice) notices.remove(notice.metadata.uid);
    afterNotice(name);
  }

  /** A Notice is gone: forget its delivery, and departed members that were only in it. */
  function afterNotice(name: string): void {
    deliveries.forget(name);
    for (const uid of departed.keys()) if (notices.withKey(uid).length === 0) departed.delete(uid);
  }

  function depart(fix: Remediation): void {
    if (notices.withKey(fix.metadata.uid).length > 0) departed.set(fix.metadata.uid, fix);
    seen.forget(fix.metadata.uid);
  }

  function reportError(key: string, error: unknown, retryInMs: number, failures: number): void {
    if (levelOf(error, failures) === 'debug') return log.debug({ notice: key, err: messageOf(error) }, 'message waits');
    const notice = noticeNamed(key);
    const reason = scrub(messageOf(error));
    const delivery = notice && deliveries.of(notice);
    if (delivery?.errorLogged === reason) return; // logged once, until it works again
    if (delivery) delivery.errorLogged = reason;
    const channel = notice?.spec.channel;
    log.warn({ notice: key, channel, reason, retryInMs: Math.round(retryInMs) }, 'message not sent yet');
  }

  return {
    listeners: {
      fixes: {
        onList(all, gone) {
          gone.forEach(depart);
          seen.list(all);
          lookAt(notices.all());
        },
        onChange(change) {
          if (change.type === 'upsert') seen.note(change.view);
          else if (change.last) depart(change.last);
          lookAt(change.type === 'gone' ? notices.withKey(change.uid) : noticesAbout(change.view));
        },
      },
      notices: {
        onList(all, gone) {
          for (const { metadata } of gone) afterNotice(metadata.name);
          lookAt(all);
        },
        onChange(change) {
          if (change.type === 'gone') afterNotice(change.name);
          lookAt(change.type === 'gone' ? [] : [change.view]);
        },
      },
    },
    refresh: () => lookAt(notices.all()),
    noticeAt: (channel, place, message) =>
      notices
        .all()
        .find(
          (notice) =>
            notice.spec.channel === channel &&
            notice.spec.chat === place.chat &&
            deliveries.of(notice).message === message,
        ),
    posted(name) {
      const notice = noticeNamed(name);
      const members = notice?.spec.members.flatMap(({ uid }) => fixes.get(uid) ?? []) ?? [];
      return notice && { notice, members, message: deliveries.of(notice).message };
    },
    idle: () => queues.idle(),
  };
}

/** When this process first saw each Remediation, and when it first saw it rehearsed. */
function createSeen(clock: Clock) {
  const times = new Map<string, SeenTimes>(); // by uid
  function note(fix: Remediation): void {
    const seen = times.get(fix.metadata.uid) ?? { firstMs: clock.now() };
    if (isRehearsed(fix)) seen.rehearsedMs ??= clock.now();
    times.set(fix.metadata.uid, seen);
  }
  return {
    /** A time in the future means that the clock was set back since: from then on it counts as seen just now. */
    of({ metadata }: Remediation): SeenTimes {
      const nowMs = clock.now();
      const seen = times.get(metadata.uid) ?? { firstMs: nowMs };
      seen.firstMs = Math.min(seen.firstMs, nowMs);
      if (seen.rehearsedMs !== undefined) seen.rehearsedMs = Math.min(seen.rehearsedMs, nowMs);
      return seen;
    },
    note,
    list(fixes: readonly Remediation[]): void {
      const uids = new Set(fixes.map(({ metadata }) => metadata.uid));
      for (const uid of times.keys()) if (!uids.has(uid)) times.delete(uid);
      fixes.forEach(note);
    },
    forget: (uid: string): void => void times.delete(uid),
  };
}
