import type { KubeObject } from '../../src/kube/api.ts';
import type { Notice } from '../../src/kube/notice.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { createStore, type Store } from '../../src/kube/store.ts';
import type { Change } from '../../src/kube/watch.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { createOutbox, type OutboxDeps } from '../../src/notices/outbox/outbox.ts';

/** A store that a test fills in place of the watches. The first list makes it complete, as the feed does. */
function filled<V extends KubeObject>(store: Store<V>) {
  return {
    store,
    list(views: readonly V[]): void {
      const isFirst = !store.isComplete();
      store.list(undefined, views);
      if (!isFirst) return;
      store.complete();
      store.repeat();
    },
    apply: (change: Change<V>): void => store.apply(change),
  };
}

export const fixStore = (clock: Clock) =>
  filled(createStore<Remediation>({ clock, keysOf: ({ spec }) => [spec.incident.key] }));

export const noticeStore = (clock: Clock) =>
  filled(createStore<Notice>({ clock, keysOf: ({ spec }) => spec.members.map(({ uid }) => uid) }));

/** An outbox on stores that a test fills: lists and changes of Remediations and Notices go in here. */
export function storedOutbox(deps: Omit<OutboxDeps, 'fixes' | 'notices'>) {
  const [fixes, notices] = [fixStore(deps.clock), noticeStore(deps.clock)];
  const outbox = createOutbox({ ...deps, fixes: fixes.store, notices: notices.store });
  fixes.store.subscribe(outbox.listeners.fixes);
  notices.store.subscribe(outbox.listeners.notices);
  return {
    ...outbox,
    onFixes: fixes.list,
    onFix: fixes.apply,
    onNotices: notices.list,
    onNotice: notices.apply,
    fixes: fixes.store.all,
    fixByUid: fixes.store.get,
    noticesWith: notices.store.withKey,
    stores: { fixes: fixes.store, notices: notices.store },
  };
}
