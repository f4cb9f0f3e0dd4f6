import type { Core } from './core.ts';
import type { Change } from './store.ts';

/** Events are kept so long after their last write. */
const lifetimeMs = 60 * 60_000;

/** Events that are old enough go when somebody next asks for anything: no timer is kept for them. */
export function createExpiry({ store, clock, rowOf }: Core) {
  const row = rowOf('Event')!;
  /** In the order of their writes, so the oldest is first. */
  const written = new Map<string, { atMs: number; namespace: string | undefined; name: string }>();
  return {
    note({ row: of, before, after }: Change): void {
      if (of !== row) return;
      const { uid, namespace, name } = (after ?? before)!.metadata;
      written.delete(uid);
      if (after) written.set(uid, { atMs: clock.now(), namespace, name });
    },
    sweep(): void {
      for (const [uid, { atMs, namespace, name }] of written) {
        if (clock.now() - atMs < lifetimeMs) return;
        written.delete(uid);
        const found = store.get(row, namespace, name);
        if (found?.metadata.uid === uid) store.remove(row, found);
      }
    },
  };
}
