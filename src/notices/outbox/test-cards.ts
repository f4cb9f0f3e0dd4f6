import { type Api, isConflict, isNotFound } from '../../kube/api.ts';
import { aboutAnnotation, aboutOf, type Notice, type NoticeSubject } from '../../kube/notice.ts';
import type { Store } from '../../kube/store.ts';
import { type Clock, iso } from '../../lib/clock.ts';
import { testCardMs } from '../plan/blindness.ts';
import { type Address, chatKey } from '../plan/route.ts';
import { nameOfNotice, noticeBody } from './notice-body.ts';

interface TestCardsDeps {
  api: Pick<Api, 'create' | 'patch'>;
  notices: Store<Notice>;
  clock: Clock;
  /** tapfix's own namespace, where Notices live. */
  namespace: string;
}

export interface TestCards {
  /** False if there was one in this chat within the last minute: alerts need the room. */
  post(address: Address): Promise<boolean>;
  /** Records who pressed it; false if it was pressed before, or has expired. */
  press(notice: Notice, by: string): Promise<boolean>;
}

/** One in a minute and chat. */
const apartMs = 60_000;

/**
 * Cards that somebody asks for to see whether they arrive, and whether presses do. Each is a Notice of the form `system`,
 * never a Remediation: the outbox sends it, and self-watch.ts ends it.
 */
export function createTestCards({ api, notices, clock, namespace }: TestCardsDeps): TestCards {
  const isRecent = (notice: Notice, address: Address): boolean => {
    const about = aboutOf(notice);
    const isHere = about?.what === 'test' && chatKey(notice.spec) === chatKey(address);
    return isHere && Math.abs(clock.now() - Date.parse(about.from)) < apartMs;
  };

  return {
    async post(address) {
      if (notices.all().some((notice) => isRecent(notice, address))) return false;
      const about: NoticeSubject = { what: 'test', from: iso(clock.now()) };
      const name = nameOfNotice(address, 'system', `test ${Math.floor(clock.now() / apartMs)}`);
      const body = noticeBody(name, namespace, { address, form: 'system', members: [] }, annotation(about));
      try {
        notices.put(await api.create<Notice>({ kind: 'Notice', namespace }, body));
        return true;
      } catch (error) {
        if (isConflict(error)) return false;
        throw error;
      }
    },
    async press(notice, by) {
      const about = aboutOf(notice);
      const nowMs = clock.now();
      if (about?.what !== 'test' || about.until || Math.abs(nowMs - Date.parse(about.from)) >= testCardMs) return false;
      const { name, resourceVersion } = notice.metadata;
      const annotations = annotation({ ...about, until: iso(nowMs), by });
      try {
        const body = { metadata: { resourceVersion, annotations } };
        notices.put(await api.patch<Notice>({ kind: 'Notice', namespace, name }, 'merge', body));
        return true;
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return false;
        throw error;
      }
    },
  };
}

const annotation = (about: NoticeSubject): Record<string, string> => ({ [aboutAnnotation]: JSON.stringify(about) });
