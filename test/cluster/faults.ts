import { setTimeout as sleep } from 'node:timers/promises';

/** A request as tests match it: the path without its query. */
export interface RequestSeen {
  readonly method: string;
  readonly path: string;
  readonly query: string;
}

/** A request that is not a GET, numbered from 1 in the order it was complete. */
export interface WriteSeen {
  readonly n: number;
  readonly method: string;
  readonly path: string;
  readonly dryRun: boolean;
  readonly at: number;
  /** Whom the bearer token is for; nothing checks it here. */
  readonly user?: string;
  /** What it sent, if that was JSON. */
  readonly body?: unknown;
}

export interface Held {
  readonly write: WriteSeen;
  /** Lets it go on; a write held before is forwarded even if its sender has gone meanwhile, as a slow network would. */
  release(): void;
  /** Destroys the connection; a write held before is never forwarded. */
  drop(): void;
}

/**
 * A status; or what a network does. `lost`: it was done, and the connection broke before the answer. `half-open`: the
 * answer begins, and nothing more of it ever comes.
 */
export type Failure = number | 'reset' | 'black hole' | 'garbage' | 'lost' | 'truncated' | 'drip' | 'half-open';
export type Moment = 'before' | 'after';

interface Hold {
  readonly moment: Moment;
  readonly match: (write: WriteSeen) => boolean;
  readonly taken: (held: Held) => void;
}

interface Limited<T> {
  readonly match: (request: RequestSeen) => boolean;
  readonly what: T;
  timesLeft: number;
}

/** What a test asked to go wrong, and has not gone wrong yet. */
export class Faults {
  readonly #failures: Limited<Failure>[] = [];
  readonly #delays: Limited<number>[] = [];
  readonly #holds: Hold[] = [];
  readonly #held = new Set<Held>();

  fail(match: (request: RequestSeen) => boolean, what: Failure, times: number): void {
    this.#failures.push({ match, what, timesLeft: times });
  }

  delay(match: (request: RequestSeen) => boolean, ms: number, times: number): void {
    this.#delays.push({ match, what: ms, timesLeft: times });
  }

  hold(moment: Moment, match: (write: WriteSeen) => boolean): Promise<Held> {
    return new Promise((taken) => this.#holds.push({ moment, match, taken }));
  }

  nextFailure(request: RequestSeen): Failure | undefined {
    return takeOne(this.#failures, request);
  }

  async passDelays(request: RequestSeen): Promise<void> {
    const ms = takeOne(this.#delays, request);
    if (ms !== undefined) await sleep(ms);
  }

  /** Resolves to whether the write goes on: at once when no one holds it, else when its holder decides. */
  passHolds(moment: Moment, write: WriteSeen): Promise<boolean> {
    const index = this.#holds.findIndex((hold) => hold.moment === moment && hold.match(write));
    const [hold] = index === -1 ? [] : this.#holds.splice(index, 1);
    if (hold === undefined) return Promise.resolve(true);
    return new Promise((resolve) => {
      const decide = (goesOn: boolean) => {
        this.#held.delete(held);
        resolve(goesOn);
      };
      const held: Held = { write, release: () => decide(true), drop: () => decide(false) };
      this.#held.add(held);
      hold.taken(held);
    });
  }

  /** Nothing goes wrong from here on; what is held stays held. */
  heal(): void {
    this.#failures.length = 0;
    this.#delays.length = 0;
  }

  dropAllHeld(): void {
    for (const held of this.#held) held.drop();
  }
}

function takeOne<T>(rules: readonly Limited<T>[], request: RequestSeen): T | undefined {
  const rule = rules.find(({ timesLeft, match }) => timesLeft > 0 && match(request));
  if (rule === undefined) return undefined;
  rule.timesLeft -= 1;
  return rule.what;
}
