import type { ChannelName } from '../../channels/channel.ts';
import type { Config } from '../../config/schema.ts';
import { isWatched } from '../../config/selection.ts';
import { type Api, isConflict } from '../../kube/api.ts';
import type { Notice } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import type { Listener, Store, StoreReader } from '../../kube/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { createQueue, type Outcome } from '../../lib/queue.ts';
import {
  type Escalating,
  escalationAnnotation,
  type EscalationNote,
  planEscalations,
  targetsOf,
} from '../plan/escalation.ts';
import { nameOfNotice, noticeBody } from './notice-body.ts';

interface EscalationsDeps {
  api: Pick<Api, 'create'>;
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

interface Escalations {
  /** Called by the stores of Remediations and of Notices. */
  listener: Listener<unknown>;
  /** The configuration or a mute changed. */
  refresh(): void;
}

const key = 'escalate';

/**
 * Creates the escalations that are due: Notices of the form `escalation`, which the outbox sends. The Notice says what has
 * gone where, so a restart neither repeats nor forgets it.
 */
export function createEscalations(deps: EscalationsDeps): Escalations {
  const { api, clock, log, current, fixes, notices, namespace } = deps;
  const queue = createQueue({
    clock,
    signal: deps.signal,
    concurrency: 1,
    handle: pass,
    onError: (_, error) => log.debug({ err: messageOf(error) }, 'escalation not written yet'),
  });

  async function pass(): Promise<Outcome> {
    if (!fixes.isComplete() || !notices.isComplete()) return undefined;
    const { due, againInMs } = planEscalations({
      notices: notices.all(),
      fixes: fixes.all(),
      targets: targetsOf(current().escalation).filter(({ address }) => deps.channels().has(address.channel)),
      nowMs: clock.now(),
      isMuted: (fix) => deps.isMuted(fix) || !isWatched(current(), fix.metadata.namespace ?? '', namespace),
    });
    for (const one of due) await write(one);
    return againInMs === undefined ? undefined : { againInMs };
  }

  async function write({ target, members, of }: Escalating): Promise<void> {
    const name = nameOfNotice(target.address, 'escalation', of);
    if (notices.named(namespace, name)) return;
    const note: EscalationNote = { target: target.id };
    const annotations = { [escalationAnnotation]: JSON.stringify(note) };
    const step = { address: target.address, form: 'escalation' as const, members };
    try {
      notices.put(
        await api.create<Notice>({ kind: 'Notice', namespace }, noticeBody(name, namespace, step, annotations)),
      );
    } catch (error) {
      if (!isConflict(error)) throw error; // it exists: the watch delivers it
    }
    log.warn({ channel: target.address.channel, incidents: members.length }, 'escalated, nobody has answered');
  }

  return {
    listener: { onList: () => queue.add(key), onChange: () => queue.add(key) },
    refresh: () => queue.add(key),
  };
}
