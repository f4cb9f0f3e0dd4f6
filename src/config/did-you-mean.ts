import { editsApart } from '../lib/edits.ts';

/** A hint for a mistyped word, or the words there are when none is close. */
export function didYouMean(word: string, known: readonly string[]): string {
  const close = closest(word, known);
  return close ? `did you mean ${close}?` : `one of: ${known.join(', ')}`;
}

/** The known word that differs by no more than a third of its letters. */
export function closest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, apart: editsApart(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, apart }) => apart <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.apart - b.apart);
  return ranked[0]?.candidate;
}
