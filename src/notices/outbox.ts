import type { Channel, ChannelName, Place } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Api } from '../kube/api.ts';
import { isConflict, isNotFound } from '../kube/api.ts';
import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import type { Change } from '../kube/watch.ts';
import type { Clock } from '../lib/clock.ts';
import { iso } from '../lib/clock.ts';
import { RetryLater, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { scrub } from '../lib/log.ts';
import type { Outcome } from '../lib/queue.ts';
import { createQueue } from '../lib/queue.ts';
import { composeMessage } from './compose.ts';
import type { Questions } from './context.ts';
import { createDeliveries, createPacing, isStuck } from './delivery.ts';
import type { Delivery } from './delivery.ts';
import { countsOf, whatIsDue } from './due.ts';
import type { Step } from './group.ts';
import { planMessages } from './group.ts';
import type { Message } from './message.ts';
import { contextFor, memberOf, nameOfNotice, noticeBody } from './notice-body.ts';
import { createNoticeStatus } from './notice-status.ts';
import { addressesOf } from './route.ts';
import { createShelf } from './shelf.ts';
import { stateHash } from './state.ts';

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
  /** For counting. */
  onNotice?: (what: 'posted' | 'edited' | 'failed', channel: ChannelName) => void;
}

export interface Outbox {
  onFixes(fixes: Remediation[]): void;
  onFix(change: Change<Remediation>): void;
  onNotices(notices: Notice[]): void;
  onNotice(change: Change<Notice>): void;
  /** The configuration changed: every message is looked at again. */
  refresh(): void;
  fixByUid(uid: string): Remediation | undefined;
  noticeAt(channel: ChannelName, place: Place, message: string): Notice | undefined;
  idle(): Promise<void>;
}

const planKey = 'plan';

/**
 * Says what there is to say, once: a Notice is created, then sent, then completed by one patch.
 * Each pass over a Notice renders its members afresh, so nothing can be lost, only late.
 */
export function createOutbox(deps: OutboxDeps): Outbox {
  const { api, clock, log, current, namespace } = deps;
  const shelf = createShelf(clock);
  const deliveries = createDeliveries();
  const pacing = createPacing();
  const status = createNoticeStatus(deps);
  /** Notices whose creation may or may not have arrived: exactly these are tried again first. */
  const opening = new Map<string, Step & { do: 'open' }>();
  /** The same of members that were added: told elsewhere as well, they would be told twice. */
  const joining = new Map<string, Step & { do: 'join' }>();
  const queue = createQueue({
    clock,
    signal: deps.signal,
    concurrency: 16,
    handle: (key) => (key === planKey ? plan() : tend(key)),
    onError: reportError,
  });
  deps.confirms.onChange((uid) => lookAt(shelf.noticesWith(uid)));

  function lookAt(notices: readonly Notice[]): void {
    queue.add(planKey);
    for (const notice of notices) queue.add(notice.metadata.name);
  }

  async function plan(): Promise<Outcome> {
    if (!shelf.complete()) return undefined;
    for (const step of opening.values()) await open(step);
    for (const step of joining.values()) await join(step);
    if (opening.size > 0) return { againInMs: 1_000 };
    const config = current();
    const { steps, againInMs } = planMessages({
      fixes: shelf.fixes(),
      notices: shelf.notices(),
      nowMs: clock.now(),
      coalesceMs: config.notices.coalesce,
      maxPerMinute: config.notices.maxPerMinute,
      addressesOf: (of) => addressesOf(config, of).filter(({ channel }) => deps.channels().has(channel)),
      seen: (fix) => shelf.seen(fix),
      postedAtMs: (notice) => timeOf(deliveries.of(notice).postedAt),
      isStuck: (notice) => isStuck(deliveries.of(notice)),
      isPosting: (notice) => deliveries.of(notice).posting,
    });
    for (const step of steps) await (step.do === 'open' ? open(step) : join(step));
    const waitMs = opening.size > 0 ? Math.min(againInMs ?? 1_000, 1_000) : againInMs;
    return waitMs === undefined ? undefined : { againInMs: waitMs };
  }

  async function open(step: Step & { do: 'open' }): Promise<void> {
    const name = nameOfNotice(step.address, 'card', step.members[0]!.metadata.uid);
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
    queue.add(name);
  }

  async function join(step: Step & { do: 'join' }): Promise<void> {
    const { name } = step.notice.metadata;
    const { members = [] } = shelf.notice(name)?.spec ?? {};
    const inside = new Set(members.map(({ uid }) => uid));
    const added = step.members.map(memberOf).filter(({ uid }) => !inside.has(uid));
    if (members.length > 0 && added.length > 0) {
      joining.set(name, step);
      const grown = { spec: { members: [...members, ...added].slice(-1000) } };
      try {
        shelf.created(await api.patch<Notice>({ kind: 'Notice', namespace, name }, 'merge', grown));
      } catch (error) {
        if (!isNotFound(error)) throw error;
        forget(name); // somebody deleted it: its members are planned anew
      }
    }
    joining.delete(name);
    queue.add(name);
  }

  async function tend(name: string): Promise<Outcome> {
    const notice = shelf.notice(name);
    if (!notice || !shelf.complete() || notice.spec.form !== 'card') return undefined;
    const members = notice.spec.members.flatMap(({ uid }) => shelf.fix(uid) ?? []);
    if (members.length === 0) return remove(notice);
    const channel = deps.channels().get(notice.spec.channel);
    if (!channel) return undefined;
    const delivery = deliveries.of(notice);
    const pauseMs = pacing.pausedForMs(notice.spec, clock.now());
    const waitMs = pauseMs > 0 ? pauseMs : await bringUpToDate(notice, members, channel, delivery);
    if (!delivery.saved) await status.save(notice, delivery);
    return waitMs > 0 ? { againInMs: waitMs } : undefined;
  }

  /** Returns how long to wait before it may be edited; 0 when the message is as it should be. */
  async function bringUpToDate(
    notice: Notice,
    members: Remediation[],
    channel: Channel,
    delivery: Delivery,
  ): Promise<number> {
    const nowMs = clock.now();
    const context = contextFor(notice, { ...deps, config: current(), nowMs });
    const wanted = { shown: stateHash(members, context), counts: countsOf(members) };
    delivery.shownAtMs ??= nowMs;
    const due = whatIsDue(delivery, wanted, nowMs);
    if (due.do === 'wait') return due.ms;
    if (due.do === 'edit') {
      const forPress = due.about === 'state' && members.some(context.confirming);
      const waitMs = pacing.waitMs(notice.spec, forPress ? 'press' : due.about, nowMs);
      if (waitMs > 0) return waitMs;
    }
    const message = composeMessage(members, context);
    await attempt(notice, delivery, () => (due.do === 'post' ? post : edit)(notice, delivery, channel, message));
    deps.onNotice?.(due.do === 'post' ? 'posted' : 'edited', notice.spec.channel);
    Object.assign(delivery, { ...wanted, shownAtMs: clock.now(), saved: false });
    delete delivery.errorLogged;
    return 0;
  }

  async function post(notice: Notice, delivery: Delivery, channel: Channel, message: Message): Promise<void> {
    delivery.posting = true;
    delivery.attempts += 1;
    const id = await channel.post(notice.spec, message);
    Object.assign(delivery, { message: id, postedAt: iso(clock.now()) }); // before `posting` ends: never "stuck" in between
  }

  async function edit(notice: Notice, delivery: Delivery, channel: Channel, message: Message): Promise<void> {
    pacing.spend(notice.spec, clock.now());
    await channel.edit(notice.spec, delivery.message!, message);
  }

  async function attempt(notice: Notice, delivery: Delivery, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      deps.onNotice?.('failed', notice.spec.channel);
      if (error instanceof RetryLater) pacing.pause(notice.spec, clock.now() + error.afterMs);
      await status.saveError(notice, delivery, scrub(messageOf(error)));
      throw error;
    } finally {
      delivery.posting = false;
    }
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
    noticeAt: (channel, place, message) =>
      shelf
        .notices()
        .find(
          (notice) =>
            notice.spec.channel === channel &&
            notice.spec.chat === place.chat &&
            deliveries.of(notice).message === message,
        ),
    idle: () => queue.idle(),
  };
}

const timeOf = (at: string | undefined): number | undefined => (at === undefined ? undefined : Date.parse(at));
