import type { Config } from '../../config/schema.ts';
import type { Notice } from '../../kube/notice.ts';
import type { Remediation } from '../../kube/remediation.ts';
import type { StoreReader } from '../../kube/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { canBeApproved } from '../cards/card-context.ts';
import { type Deliveries, isStuck, type Pacing } from '../outbox/delivery.ts';
import { type Address, chatKey } from './route.ts';

interface ChatTimesDeps {
  clock: Clock;
  current(): Config;
  fixes: StoreReader<Remediation>;
  notices: StoreReader<Notice>;
  deliveries: Deliveries;
  /** tapfix's own namespace, where Notices live. */
  namespace: string;
  pacing: Pacing;
}

const minuteMs = 60_000;

/**
 * When messages were posted in a chat: from the Notices, so that it survives a restart, and from what this process
 * sent.
 */
export function createChatTimes({ clock, current, fixes, notices, deliveries, pacing, namespace }: ChatTimesDeps) {
  let busy: ReadonlySet<string> = new Set();
  const postedAtMs = (notice: Notice): number | undefined => {
    const { postedAt } = deliveries.of(notice);
    return postedAt === undefined ? undefined : Date.parse(postedAt);
  };
  const noticesIn = (address: Address): Notice[] =>
    notices.all().filter(({ spec }) => chatKey(spec) === chatKey(address));
  /** A confirmation may be asked there at any moment. */
  const mayAsk = (address: Address): boolean => {
    const { confirm } = current().approval;
    const isAsked = (fix: Remediation | undefined): boolean =>
      fix !== undefined && confirm.includes(fix.spec.action?.type ?? '') && canBeApproved(fix, clock.now());
    return noticesIn(address).some(({ spec }) => spec.members.some(({ uid }) => isAsked(fixes.get(uid))));
  };
  return {
    postedAtMs,
    /** 0: it may be edited now. */
    editWaitMs: (address: Address, about: Parameters<Pacing['waitMs']>[1]): number =>
      pacing.waitMs(address, about, clock.now(), mayAsk(address)),
    /** Posts recorded in Notices, and posts of this process, whatever happened to their Notices. */
    postTimes(address: Address): number[] {
      const posted = noticesIn(address).flatMap((notice): [string, number][] => {
        const atMs = postedAtMs(notice);
        return atMs === undefined ? [] : [[notice.metadata.name, atMs]];
      });
      return [...new Map([...pacing.posts(address, clock.now()), ...posted]).values()];
    },
    /** Posts of Notices that are gone, or that were stuck and are being posted now. */
    alsoSentAtMs: (address: Address): number[] =>
      [...pacing.posts(address, clock.now())].flatMap(([name, atMs]) => {
        const notice = notices.named(namespace, name);
        return notice && !isStuck(deliveries.of(notice)) ? [] : [atMs];
      }),
    setBusy: (places: readonly Address[]): void => void (busy = new Set(places.map(chatKey))),
    /** A storm is coming, or is being posted there, until a minute after it was posted. */
    isStormy: (address: Address): boolean =>
      busy.has(chatKey(address)) ||
      noticesIn(address).some((notice) => {
        const atMs = notice.spec.form === 'storm' ? postedAtMs(notice) : undefined;
        return atMs !== undefined && Math.abs(clock.now() - atMs) < minuteMs;
      }),
  };
}
