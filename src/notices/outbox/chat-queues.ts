import { createQueue, type Outcome, type Queue, type QueueDeps } from '../../lib/queue.ts';
import { type Address, chatKey } from '../plan/route.ts';

/**
 * Each chat has its own queue, and so has the plan. A vendor that does not answer blocks a worker until its timeout,
 * and another chat must not wait for that.
 */
interface ChatQueues {
  plan(): void;
  planAfter(ms: number): void;
  add(notice: { metadata: { name: string }; spec: Address }): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

type ChatQueuesDeps = Pick<QueueDeps, 'clock' | 'signal' | 'handle' | 'onError'>;

/** The key of the plan. No Notice has this name. */
export const planKey = 'plan';
const perChat = 4;
const otherQueueMs = 100;

export function createChatQueues({ clock, signal, handle, onError }: ChatQueuesDeps): ChatQueues {
  const underWay = new Set<string>();
  /** A message whose chat has a new id is in two queues for a moment. Without this it would be sent by both. */
  async function once(key: string): Promise<Outcome> {
    if (underWay.has(key)) return { againInMs: otherQueueMs };
    underWay.add(key);
    try {
      return await handle(key);
    } finally {
      underWay.delete(key);
    }
  }
  const queueWith = (concurrency: number): Queue => createQueue({ clock, signal, handle: once, onError, concurrency });
  const planning = queueWith(1);
  const chats = new Map<string, Queue>();
  function queueOf(address: Address): Queue {
    const key = chatKey(address);
    const queue = chats.get(key) ?? queueWith(perChat);
    chats.set(key, queue);
    return queue;
  }
  return {
    plan: () => planning.add(planKey),
    planAfter: (ms) => planning.addAfter(planKey, ms),
    add: ({ metadata, spec }) => queueOf(spec).add(metadata.name),
    async idle() {
      await Promise.all([planning, ...chats.values()].map((queue) => queue.idle()));
    },
  };
}
