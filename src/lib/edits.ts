/** Letters to insert, delete or replace to get from one word to the other (Levenshtein). */
export function editsApart(from: string, to: string): number {
  // Somebody may have written a novel where a word should be; it is like no word we know.
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
