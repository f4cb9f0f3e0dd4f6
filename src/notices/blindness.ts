import { type Gap, longGapMs, type Sight, type Why } from '../kube/contact.ts';

/* Pure. What the watches together say about how far we see, and saw. */

/** Nothing at all was seen, and that is over. */
export interface Blindness {
  fromMs: number;
  untilMs: number;
  why: Why;
}

type Span = Gap;

const isExpected = ({ isOptedOut }: Sight): boolean => !isOptedOut;

const spansOf = ({ gaps, trouble }: Sight): Span[] => [
  ...gaps,
  ...(trouble ? [{ fromMs: trouble.sinceMs, untilMs: Number.POSITIVE_INFINITY, why: trouble.why }] : []),
];

const clearest = (a: Why, b: Why): Why => (b === 'unreachable' ? b : a);

/** When neither sees, if that is long enough to be worth a word. */
const common = (some: readonly Span[], others: readonly Span[]): Span[] =>
  some.flatMap((a) =>
    others.flatMap((b) => {
      const fromMs = Math.max(a.fromMs, b.fromMs);
      const untilMs = Math.min(a.untilMs, b.untilMs);
      return untilMs - fromMs >= longGapMs ? [{ fromMs, untilMs, why: clearest(a.why, b.why) }] : [];
    }),
  );

/** The server was there until it was last heard by anybody, and is there again when it is heard by the first. */
const sharedBy = (sights: readonly Sight[]): Span[] => {
  const [first = [], ...others] = sights.filter(isExpected).map(spansOf);
  return others.reduce(common, first);
};

/**
 * Those that are over. All is seen again when the last watch is back, which comes within half a minute of the first;
 * one that does not come back is a matter of its own.
 */
export function blindnessOf(sights: readonly Sight[], nowMs: number): Blindness[] {
  return sharedBy(sights).flatMap(({ fromMs, untilMs, why }) => {
    const isIn = (span: Span): boolean => span.fromMs <= fromMs && span.untilMs >= untilMs;
    const backMs = sights.filter(isExpected).map((sight) => spansOf(sight).find(isIn)!.untilMs);
    const isAllBack = backMs.every(Number.isFinite);
    if (!Number.isFinite(untilMs) || (!isAllBack && nowMs < untilMs + longGapMs)) return [];
    const inTime = backMs.filter((ms) => ms <= untilMs + longGapMs);
    return [{ fromMs, untilMs: Math.max(untilMs, ...inTime), why }];
  });
}

/** What we cannot see while we can see other things: refused for a minute, and refused again since the others are back. */
export function unseenOf(sights: readonly Sight[]): Sight[] {
  if (sights.filter(isExpected).every(({ trouble }) => trouble)) return [];
  const contactMs = Math.max(0, ...sharedBy(sights).map(({ untilMs }) => untilMs).filter(Number.isFinite)); // prettier-ignore
  return sights.filter(
    ({ trouble }) => trouble && trouble.failedAtMs - Math.max(trouble.failingSinceMs, contactMs) >= longGapMs,
  );
}

/** Whether everything that ought to be seen was seen within the last minute. */
export const seesAll = (sights: readonly Sight[], nowMs: number): boolean =>
  sights.length > 0 &&
  sights.every(({ synced, trouble }) => synced && (!trouble || nowMs - trouble.sinceMs < longGapMs));
