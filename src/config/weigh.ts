/** What stands in the file at this moment, as a hash: of its text, or of why it cannot be read. */
export interface Reading {
  hash: string;
  /** It is not there, as in the middle of a swap. */
  isMissing: boolean;
}

/** What was judged last, whatever the verdict, and since when something else is there. */
export interface Standing {
  judged: string;
  other?: { hash: string; sinceMs: number };
}

export type Weighed = { standing: Standing } & (
  | { do: 'nothing' }
  | { do: 'lookAgain'; inMs: number }
  /** It stays: it is to be judged now. */
  | { do: 'judge' }
);

/** Whoever writes without a swap writes piece by piece: half a file may be wrong, or valid and not what is meant. */
const settleMs = 500;
/** The kubelet removes the link a moment before it makes the next one. */
const missingMs = 8_000;

/** Pure. Only what stays as it is for a while is judged, and each only once until something else was judged. */
export function weigh({ judged, other }: Standing, { hash, isMissing }: Reading, nowMs: number): Weighed {
  if (hash === judged) return { standing: { judged }, do: 'nothing' };
  const sinceMs = other?.hash === hash ? other.sinceMs : nowMs;
  const leftMs = sinceMs + (isMissing ? missingMs : settleMs) - nowMs;
  if (leftMs > 0) return { standing: { judged, other: { hash, sinceMs } }, do: 'lookAgain', inMs: leftMs };
  return { standing: { judged: hash }, do: 'judge' };
}
