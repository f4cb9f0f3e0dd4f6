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

/** Letters to insert, delete or replace to get from one word to the other (Levenshtein). */
export function editsApart(from: string, to: string): number {
  // A configuration may hold a novel where a word should be; it is like no word we know.
  if (Math.abs(from.length - to.length) > 10) return Infinity;
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (letter === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
