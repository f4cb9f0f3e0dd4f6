import { type Api, isNotFound } from '../../kube/api.ts';
import type { Notice } from '../../kube/notice.ts';
import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Delivery } from './delivery.ts';

interface StatusDeps {
  api: Pick<Api, 'patch'>;
  clock: Clock;
  log: Log;
  namespace: string;
}

export type NoticeStatusWriter = ReturnType<typeof createNoticeStatus>;

const errorEveryMs = 60_000;

/** Records the result of sending a message in the status of its Notice. */
export function createNoticeStatus({ api, clock, log, namespace }: StatusDeps) {
  async function patchStatus(notice: Notice, status: object): Promise<void> {
    const ref = { kind: 'Notice', namespace, name: notice.metadata.name, subresource: 'status' } as const;
    try {
      await api.patch<Notice>(ref, 'merge', { status });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  return {
    /** The one patch that completes a Notice. If it fails it is retried, and nothing is posted twice. */
    async save(notice: Notice, delivery: Delivery): Promise<void> {
      const { message, shown, postedAt, attempts } = delivery;
      await patchStatus(notice, { message, shown, postedAt, attempts, lastError: null });
      delivery.saved = delivery.shown === shown;
    },
    /** At most once a minute. If this cannot be written, sending is still retried. */
    async saveError(notice: Notice, delivery: Delivery, lastError: string): Promise<void> {
      if (clock.now() - (delivery.errorSavedAtMs ?? -errorEveryMs) < errorEveryMs) return;
      delivery.errorSavedAtMs = clock.now();
      try {
        await patchStatus(notice, { lastError, attempts: delivery.attempts });
      } catch (error) {
        log.debug({ notice: notice.metadata.name, reason: messageOf(error) }, 'notice error not recorded');
      }
    },
  };
}
