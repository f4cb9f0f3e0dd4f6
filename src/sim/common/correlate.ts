import { LRUCache } from 'lru-cache';

/** What an event is about, as Kubernetes writes it down. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  fieldPath?: string;
}

export interface Happening {
  about: ObjectRef;
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** What becomes of it: a new Event, one more of an Event that is there, or nothing. */
export type Verdict =
  | { do: 'create'; name: string; message: string; combined: boolean }
  | { do: 'count'; name: string; message: string; count: number; firstMs: number; combined: boolean }
  | { do: 'drop' };

/** The limits of client-go's recorder: https://github.com/kubernetes/client-go/blob/master/tools/record/events_cache.go */
const burst = 25;
const oneMoreEveryMs = 300_000;
const alike = 10;
const alikeWithinMs = 600_000;
const remembered = { max: 4096 };

const objectKey = ({ kind, namespace, name, uid, apiVersion }: ObjectRef): string =>
  [kind, namespace, name, uid, apiVersion].join('\n');

/**
 * Of one source: events that differ only in their message are combined from the tenth in ten minutes on, repeats are
 * counted, and about one object no more than 25 of a type are written at once, then one in five minutes. What is
 * dropped is counted nevertheless, so a count may jump.
 */
export function createCorrelator(nameFor: (about: ObjectRef) => string) {
  const similar = new LRUCache<string, { messages: Set<string>; lastMs: number }>(remembered);
  const written = new LRUCache<string, { count: number; firstMs: number; name: string }>(remembered);
  const budgets = new LRUCache<string, { left: number; atMs: number }>(remembered);

  function isOneOfMany({ about, type, reason, message }: Happening, nowMs: number): boolean {
    const key = [objectKey(about), type, reason].join('\n');
    const seen = similar.get(key);
    const group = seen && nowMs - seen.lastMs <= alikeWithinMs ? seen : { messages: new Set<string>(), lastMs: 0 };
    group.messages.add(message);
    group.lastMs = nowMs;
    similar.set(key, group);
    if (group.messages.size < alike) return false;
    group.messages.delete(group.messages.values().next().value!);
    return true;
  }

  function isWithinBudget({ about, type }: Happening, nowMs: number): boolean {
    const key = [objectKey(about), type].join('\n');
    const { left, atMs } = budgets.get(key) ?? { left: burst, atMs: nowMs };
    const now = Math.min(burst, left + (nowMs - atMs) / oneMoreEveryMs);
    budgets.set(key, { left: now >= 1 ? now - 1 : now, atMs: nowMs });
    return now >= 1;
  }

  return {
    judge(happening: Happening, nowMs: number): Verdict {
      const { about, type, reason } = happening;
      const combined = isOneOfMany(happening, nowMs);
      const message = combined ? `(combined from similar events): ${happening.message}` : happening.message;
      const own = combined ? [] : [about.fieldPath, message];
      const key = [objectKey(about), type, reason, ...own].join('\n');
      const before = written.get(key);
      const name = before?.name ?? nameFor(about);
      const [count, firstMs] = [(before?.count ?? 0) + 1, before?.firstMs ?? nowMs];
      written.set(key, { count, firstMs, name });
      if (!isWithinBudget(happening, nowMs)) return { do: 'drop' };
      return before
        ? { do: 'count', name, message, count, firstMs, combined }
        : { do: 'create', name, message, combined };
    },
  };
}
