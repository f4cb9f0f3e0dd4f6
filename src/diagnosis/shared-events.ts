import type { KubeObject, ListSelector, Reader } from '../kube/api.ts';
import type { Kind } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';

/** An answer stays good for three times as long as it took, so that no more than a quarter of the time goes into asking. */
const goodFor = 3;
const longestMs = 10_000;

/**
 * A reader that asks for a list of events once, however many want it at that moment. The API server keeps events on disk
 * only: for each such list it reads all of the namespace's, which takes seconds when there are thousands, and when two
 * hundred workloads fail as many ask the same. On a quiet day an answer is gone a moment after it came.
 */
export function createSharedEvents(reader: Reader, clock: Clock): Reader {
  const answers = new Map<string, Promise<KubeObject[]>>();

  async function ask(namespace: string | undefined, selector: ListSelector, forget: () => void): Promise<KubeObject[]> {
    const askedAtMs = clock.now();
    try {
      const events = await reader.list<KubeObject>('Event', namespace, selector);
      void clock.sleep(Math.min((clock.now() - askedAtMs) * goodFor, longestMs)).then(forget);
      return events;
    } catch (error) {
      forget();
      throw error;
    }
  }

  function listEvents(namespace: string | undefined, selector: ListSelector): Promise<KubeObject[]> {
    const question = `${namespace ?? ''} ${selector.labelSelector ?? ''} ${selector.fieldSelector ?? ''}`;
    const known = answers.get(question);
    if (known) return known;
    const answer = ask(namespace, selector, () => answers.delete(question));
    answers.set(question, answer);
    return answer;
  }

  return {
    get: (ref) => reader.get(ref),
    list: <T extends KubeObject>(kind: Kind, namespace?: string, selector: ListSelector = {}) =>
      kind === 'Event' ? (listEvents(namespace, selector) as Promise<T[]>) : reader.list<T>(kind, namespace, selector),
  };
}
