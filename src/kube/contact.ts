import type { Clock } from '../lib/clock.ts';
import { ApiError, isForbidden } from './api.ts';
import type { Kind } from './resources.ts';

/** Why nothing is heard: nobody answers, no word came on an open connection, or the answer is no. */
export type Why = 'unreachable' | 'silent' | 'forbidden' | 'unauthorized' | 'failing';

/** A time in which a watch heard nothing, and which is over. */
export interface Gap {
  fromMs: number;
  untilMs: number;
  why: Why;
}

/** The same while it lasts. */
export interface ContactTrouble {
  /** When it broke; of a connection that died without a word, when it was last heard. */
  sinceMs: number;
  /** When we came to know, and when it failed last. */
  failingSinceMs: number;
  failedAtMs: number;
  why: Why;
}

/** How far one watch sees. */
export interface Sight {
  kind: Kind;
  /** undefined is the whole cluster. */
  namespace?: string;
  /** It has seen everything once. */
  synced: boolean;
  /** This installation may not see it, and need not. */
  isOptedOut?: boolean;
  trouble?: ContactTrouble;
  /** The long ones, oldest first. */
  gaps: readonly Gap[];
}

/** Shorter ones are part of the ordinary life of a watch. */
export const longGapMs = 60_000;
const mostGaps = 10;

/** A healthy watch ends within a minute: after a longer silence what comes may be late. */
const longestSilenceMs = 75_000;

/** Remembers when the server was heard, when it was not, and why. */
export function createContact(clock: Clock) {
  let begunMs: number | undefined;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let trouble: ContactTrouble | undefined;
  const gaps: Gap[] = [];

  const lastSignMs = (): number => (Number.isFinite(heardAtMs) ? heardAtMs : (begunMs ?? clock.now()));

  return {
    begin: (): void => void (begunMs ??= clock.now()),
    heardAtMs: (): number => heardAtMs,
    /** The server said something. Returns the silence that this ends, if it was more than a pause, and not the first word. */
    heard(): Pick<Gap, 'fromMs' | 'untilMs'> | undefined {
      const untilMs = clock.now();
      const fromMs = lastSignMs();
      const isGap = trouble !== undefined || untilMs - fromMs > longestSilenceMs;
      const isFirst = !Number.isFinite(heardAtMs);
      const { sinceMs, why } = trouble ?? { sinceMs: fromMs, why: 'silent' as const };
      if (isGap && untilMs - sinceMs >= longGapMs) gaps.push({ fromMs: sinceMs, untilMs, why });
      gaps.splice(0, gaps.length - mostGaps);
      trouble = undefined;
      heardAtMs = untilMs;
      return isGap && !isFirst ? { fromMs, untilMs } : undefined;
    },
    /** `isSilent`: the connection was given up because nothing came. */
    failed(error: unknown, isSilent = false): void {
      const failedAtMs = clock.now();
      const why = isSilent ? 'silent' : whyOf(error);
      const began = { sinceMs: isSilent ? lastSignMs() : failedAtMs, failingSinceMs: failedAtMs };
      trouble = { ...(trouble ?? began), failedAtMs, why };
    },
    state: (): Pick<Sight, 'trouble' | 'gaps'> => ({ ...(trouble && { trouble }), gaps }),
  };
}

function whyOf(error: unknown): Why {
  if (isForbidden(error)) return 'forbidden';
  if (!(error instanceof ApiError)) return 'unreachable';
  return error.code === 401 ? 'unauthorized' : 'failing';
}
