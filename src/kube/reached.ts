/**
 * What the watches of one process share: whoever reaches the server again after trouble wakes those that still rest from
 * the same trouble.
 */
export interface Reached {
  /** It was trouble, and is over. */
  again(): void;
  /** Aborts the next time. */
  next(): AbortSignal;
}

export function createReached(): Reached {
  let waiting = new AbortController();
  return {
    again() {
      const woken = waiting;
      waiting = new AbortController();
      woken.abort();
    },
    next: () => waiting.signal,
  };
}
