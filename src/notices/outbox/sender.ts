import { type Channel, ChatMoved, NotSent, type Turn } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { isCard, type Notice, type NoticeSpec } from '../../kube/notice.ts';
import { type Remediation, severityOf, snoozedUntilMs } from '../../kube/remediation.ts';
import { type Clock, iso } from '../../lib/clock.ts';
import { messageOf, RetryLater } from '../../lib/errors.ts';
import { scrub } from '../../lib/log.ts';
import { nextSlot } from '../../lib/window.ts';
import { closesAtMs, isPending, type MessageContext, type Questions } from '../cards/card-context.ts';
import { composeFarewell } from '../cards/compose.ts';
import type { Message } from '../cards/message.ts';
import { reminderOf } from '../plan/reminder.ts';
import type { Address } from '../plan/route.ts';
import { type Delivery, type Pacing, whatIsDue } from './delivery.ts';
import { contextFor } from './notice-body.ts';
import type { NoticeStatusWriter } from './notice-status.ts';
import { type Content, isShownForGood, renderingOf, stormEveryMs } from './rendering.ts';

interface SenderDeps {
  clock: Clock;
  current: () => Config;
  timeZone: string;
  /** tapfix's own namespace. */
  namespace: string;
  confirms: Questions;
  pacing: Pacing;
  status: NoticeStatusWriter;
  /** When messages were posted in that chat, at least during the last minute. */
  postTimes(address: Address): number[];
  editWaitMs(address: Address, about: 'counts' | 'state' | 'press'): number;
  /** A storm is being posted there, so other messages are edited less often as well. */
  isStormy(address: Address): boolean;
  /** Aborted when this process stops or another one takes over: what was not sent by then is the next one's to send. */
  signal: AbortSignal;
  /** For metrics. */
  onNotice?: ((what: 'posted' | 'edited' | 'failed', about: Pick<NoticeSpec, 'channel' | 'form'>) => void) | undefined;
}

/** Everything about one message: its record, and the channel that sends it. */
interface Parcel extends Content {
  notice: Notice;
  channel: Channel;
  delivery: Delivery;
}

interface Sender {
  /** Posts or edits, if that is due and allowed. Returns how long to wait before checking again; 0 means no need. */
  bringUpToDate(parcel: Parcel): Promise<number>;
  /** Its Remediations are gone: a message that still asks for something is edited to say so. Best effort. */
  sayFarewell(parcel: Parcel): Promise<void>;
}

const minuteMs = 60_000;

export function createSender(deps: SenderDeps): Sender {
  const { clock, current, pacing, status } = deps;
  const contextOf = (notice: Notice): MessageContext =>
    contextFor(notice, { ...deps, config: current(), nowMs: clock.now() });

  async function bringUpToDate(parcel: Parcel): Promise<number> {
    const { notice, members, delivery } = parcel;
    const nowMs = clock.now();
    const context = contextOf(notice);
    const { wanted, message } = renderingOf(notice, parcel, context);
    if (delivery.message && isShownForGood(notice, delivery.shown, wanted.shown)) return 0;
    if (isForgotten(parcel, nowMs)) delete delivery.shown;
    delivery.shownAtMs ??= nowMs;
    const isAnswering = members.some(context.confirming);
    const calm =
      deps.isStormy(notice.spec) && !isAnswering
        ? { apartMs: notice.spec.form === 'storm' ? stormEveryMs : minuteMs }
        : {};
    const due = whatIsDue(delivery, { ...wanted, ...calm }, nowMs);
    if (due.do === 'wait') return soonest([due.ms, ...members.map((fix) => untilClosedMs(fix, nowMs))]);
    const forPress = due.do === 'edit' && due.about === 'state' && isAnswering;
    const waitMs =
      due.do === 'post' ? postWaitMs(notice, nowMs) : deps.editWaitMs(notice.spec, forPress ? 'press' : due.about);
    if (waitMs > 0) return waitMs;
    const turn = turnOf(members, forPress);
    await attempt(parcel, () => (due.do === 'post' ? post : edit)(parcel, message(), turn));
    deps.onNotice?.(due.do === 'post' ? 'posted' : 'edited', notice.spec);
    Object.assign(delivery, { ...wanted, shownAtMs: clock.now(), saved: false });
    delete delivery.errorLogged;
    return soonest(members.map((fix) => untilClosedMs(fix, nowMs)));
  }

  /**
   * The plan keeps the limit for messages that it opens. A message that could not be sent for a while may come at any
   * time.
   */
  const postWaitMs = ({ spec }: Notice, nowMs: number): number =>
    nextSlot(deps.postTimes(spec), current().notices.maxPerMinute, minuteMs, nowMs) - nowMs;

  async function post({ notice, delivery, channel }: Parcel, message: Message, turn: Turn): Promise<void> {
    const { name } = notice.metadata;
    delivery.posting = true;
    delivery.attempts += 1;
    const postedAt = iso(clock.now()); // the time of the state that it shows: what comes after that is news
    pacing.reserve(notice.spec, name, clock.now());
    const { replyTo } = reminderOf(notice) ?? {};
    const id = await channel.post(notice.spec, message, replyTo, turn).catch((error: unknown) => {
      pacing.release(notice.spec, name);
      // Not an attempt: it had the wrong address, or never left.
      if (error instanceof ChatMoved || error instanceof NotSent) delivery.attempts -= 1;
      throw error;
    });
    Object.assign(delivery, { message: id, postedAt }); // before `posting` ends: never "stuck"
  }

  async function edit({ notice, delivery, channel }: Parcel, message: Message, turn: Turn): Promise<void> {
    pacing.spend(notice.spec, clock.now());
    await channel.edit(notice.spec, delivery.message!, message, turn);
  }

  const turnOf = (members: readonly Remediation[], forPress = false): Turn => {
    const isCritical = members.some((fix) => severityOf(fix) === 'critical');
    return { urgency: forPress ? 'press' : isCritical ? 'critical' : 'usual', signal: deps.signal };
  };

  async function attempt({ notice, delivery }: Parcel, call: () => Promise<void>): Promise<void> {
    try {
      await call();
      pacing.arrived(notice.spec);
    } catch (error) {
      if (error instanceof ChatMoved || error instanceof NotSent) throw error;
      deps.onNotice?.('failed', notice.spec);
      if (error instanceof RetryLater) pacing.failed(notice.spec, error.afterMs, clock.now());
      await status.saveError(notice, delivery, scrub(messageOf(error)));
      throw error;
    } finally {
      delivery.posting = false;
    }
  }

  return {
    bringUpToDate,
    async sayFarewell(parcel) {
      const message = composeFarewell(parcel.members, contextOf(parcel.notice));
      if (!parcel.delivery.message || message.cards.length === 0) return;
      await attempt(parcel, () => edit(parcel, message, turnOf(parcel.members))).catch((error: unknown) => {
        if (error instanceof RetryLater) throw error; // any other refusal is final
      });
    },
  };
}

/** It was posted by an earlier process, and this one has not handled it yet. */
const isForgotten = ({ notice, channel, delivery, members }: Parcel, nowMs: number): boolean =>
  channel.forgets === true &&
  isCard(notice) &&
  delivery.shownAtMs === undefined &&
  delivery.message !== undefined &&
  members.some((fix) => isPending(fix, nowMs));

/** When its buttons stop working, whoever notices first, or when its snooze ends. */
const untilClosedMs = (fix: Remediation, nowMs: number): number =>
  soonest([isPending(fix, nowMs) ? closesAtMs(fix) - nowMs : 0, (snoozedUntilMs(fix, nowMs) ?? nowMs) - nowMs]);

/** The shortest positive wait; 0 if there is none. */
const soonest = (waitsMs: readonly number[]): number => {
  const some = waitsMs.filter((ms) => ms > 0);
  return some.length === 0 ? 0 : Math.min(...some);
};
