import type { Clock } from '../lib/clock.ts';
import { ApiError, isForbidden } from './api.ts';
import { TooLarge } from './bounds.ts';
import type { Kind } from './resources.ts';

/** Why nothing arrives: nobody answers, an open connection stays silent, the server refuses, or it sends more than we take. */
export type Why = 'unreachable' | 'silent' | 'forbidden' | 'unauthorized' | 'too large' | 'failing';

/** A past period in which a watch received nothing. */
export interface Gap {
  fromMs: number;
  untilMs: number;
  why: Why;
}

/** A period in which a watch receives nothing, and which still lasts. */
export interface ContactTrouble {
  /** When contact broke. For a connection that died silently: when it last received something. */
  sinceMs: number;
  /** failingSinceMs: when we noticed it. failedAtMs: when it failed last. */
  failingSinceMs: number;
  failedAtMs: number;
  why: Why;
}

/** How much one watch can see. */
export interface Sight {
  kind: Kind;
  /** undefined is the whole cluster. */
  namespace?: string;
  /** True once the first list was complete. */
  synced: boolean;
  /** True if this installation may not see the kind, and does not need to. */
  isOptedOut?: boolean;
  trouble?: ContactTrouble;
  /** The long gaps, oldest first. */
  gaps: readonly Gap[];
}

/** Shorter gaps are normal for a watch. */
export const longGapMs = 60_000;
const mostGaps = 10;

/** A healthy watch ends within a minute. After a longer silence, what arrives may be late. */
const longestSilenceMs = 75_000;

/** Remembers when the server was last heard from, when it was not, and why. */
export function createContact(clock: Clock) {
  let begunMs: number | undefined;
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let trouble: ContactTrouble | undefined;
  const gaps: Gap[] = [];

  const lastSignMs = (): number => (Number.isFinite(heardAtMs) ? heardAtMs : (begunMs ?? clock.now()));

  return {
    begin: (): void => void (begunMs ??= clock.now()),
    heardAtMs: (): number => heardAtMs,
    /**
     * Call it when the server sent something. Returns the silence that this ends, if it was longer than a normal pause
     * and not the wait for the very first answer.
     */
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
    /** `isSilent`: we gave up the connection because nothing arrived. */
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
  if (error instanceof TooLarge) return 'too large';
  return error.code === 401 ? 'unauthorized' : 'failing';
}
