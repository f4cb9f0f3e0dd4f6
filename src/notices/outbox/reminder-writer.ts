import type { ChannelName } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { type Api, isConflict, isNotFound } from '../../kube/api.ts';
import type { Notice } from '../../kube/notice.ts';
import { acknowledgedUntil, acknowledgedUntilMs, isBroken, type Remediation } from '../../kube/remediation.ts';
import type { Listener, Store, StoreReader } from '../../kube/store.ts';
import { type Clock, iso } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { createQueue, type Outcome } from '../../lib/queue.ts';
import { answerMs } from '../plan/answer.ts';
import { planReminders, type Reminder, reminderAnnotation, type ReminderNote, reminderOf } from '../plan/reminder.ts';
import { planRises } from '../plan/rise.ts';
import { isWatched } from '../../config/selection.ts';
import { nameOfNotice, noticeBody } from './notice-body.ts';

interface RemindersDeps {
  api: Pick<Api, 'create' | 'patch' | 'delete'>;
  /** The Remediations that this installation is responsible for. */
  fixes: StoreReader<Remediation>;
  notices: Store<Notice>;
  clock: Clock;
  log: Log;
  current(): Config;
  /** The channels that are connected. */
  channels(): ReadonlyMap<ChannelName, unknown>;
  /** tapfix's own namespace, where Notices live. */
  namespace: string;
  isMuted(fix: Remediation): boolean;
  signal: AbortSignal;
}

interface Reminders {
  /** Called by the stores of Remediations and of Notices. */
  listener: Listener<unknown>;
  /** The configuration or a mute changed. */
  refresh(): void;
}

const key = 'remind';

/**
 * Creates the reminders that are due: Notices of the form `reminder`, which the outbox sends. The same reminder always
 * has the same name, so there is only one, even if we are killed.
 */
export function createReminders(deps: RemindersDeps): Reminders {
  const { api, clock, log, current, fixes, notices, namespace } = deps;
  const queue = createQueue({
    clock,
    signal: deps.signal,
    concurrency: 1,
    handle: pass,
    onError: (_, error) => log.debug({ err: messageOf(error) }, 'reminder not written yet'),
  });

  async function pass(): Promise<Outcome> {
    if (!fixes.isComplete() || !notices.isComplete()) return undefined;
    const { reminders, reminder, coalesce } = current().notices;
    const facts = {
      notices: notices.all().filter(({ spec }) => deps.channels().has(spec.channel)),
      fix: (uid: string) => fixes.get(uid),
      nowMs: clock.now(),
      isMuted: (fix: Remediation) =>
        deps.isMuted(fix) || !isWatched(current(), fix.metadata.namespace ?? '', namespace),
    };
    const replies = facts.notices.filter((notice) => reminderOf(notice)?.kind === 'worse');
    const unanswered = planReminders({ ...facts, gapsMs: reminders, repeats: reminder === undefined });
    const plans = [unanswered, planRises({ ...facts, replies, coalesceMs: coalesce })];
    for (const { due } of plans) for (const one of due) await write(one);
    for (const notice of unanswered.outdated) await remove(notice);
    for (const fix of fixes.all()) if (hasNoEnd(fix)) await setEnd(fix);
    const waits = plans.flatMap(({ againInMs }) => againInMs ?? []);
    return waits.length === 0 ? undefined : { againInMs: Math.min(...waits) };
  }

  async function write({ kind, card, members, of, ordinal }: Reminder): Promise<void> {
    const name = nameOfNotice(card.spec, 'reminder', of);
    if (notices.named(namespace, name)) return;
    const note: ReminderNote = {
      kind,
      card: card.metadata.name,
      ...(ordinal !== undefined && { ordinal }),
      replyTo: card.status!.message!,
    };
    const annotations = { [reminderAnnotation]: JSON.stringify(note) };
    const step = { address: card.spec, form: 'reminder' as const, members };
    try {
      notices.put(
        await api.create<Notice>({ kind: 'Notice', namespace }, noticeBody(name, namespace, step, annotations)),
      );
    } catch (error) {
      if (!isConflict(error)) throw error; // it exists: the watch delivers it
    }
  }

  async function remove({ metadata: { name, uid } }: Notice): Promise<void> {
    try {
      await api.delete({ kind: 'Notice', namespace, name }, { uid });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    notices.remove(uid);
  }

  /** An acknowledgement by kubectl names a person, but not until when that counts. */
  async function setEnd({ metadata: { namespace: of = '', name, resourceVersion } }: Remediation): Promise<void> {
    const annotations = { [acknowledgedUntil]: iso(clock.now() + answerMs) };
    try {
      await api.patch<Remediation>({ kind: 'Remediation', namespace: of, name }, 'merge', {
        metadata: { resourceVersion, annotations },
      });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) throw error; // it has changed: the next pass looks again
    }
  }

  return {
    listener: { onList: () => queue.add(key), onChange: () => queue.add(key) },
    refresh: () => queue.add(key),
  };
}

const hasNoEnd = (fix: Remediation): boolean => isBroken(fix) && Number.isNaN(acknowledgedUntilMs(fix) ?? 0);
