/** "1 pod", "3 pods". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** At most this many UTF-16 units, with "…" where text is missing; never cuts through a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = max - 1;
  const head = text.slice(0, end);
  return `${/[\uD800-\uDBFF]$/.test(head) ? head.slice(0, -1) : head}…`;
}

/**
 * Control characters, separators, and letters that are blank: each takes the place of something. Newline and tab stay.
 */
const blank =
  // oxlint-disable-next-line no-control-regex
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\u115f\u1160\u3164\uffa0\u2800]/g;
/**
 * Characters without a shape: zero-width ones, marks of direction, variation selectors, tags. On a card, which people
 * approve by its text, they can only deceive.
 */
const shapeless = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u17b4\u17b5]/gu;
/** Characters that mean nothing to anybody else: of private use, not assigned, halves of characters. */
const unknown = /[\p{Co}\p{Cn}\p{Cs}]/gu;

/** The same text without any character that cannot be seen or changes the order in which the others are read. */
export const visible = (text: string): string =>
  text.replace(blank, ' ').replace(shapeless, '').replace(unknown, '\ufffd');

/** Text that the resource's schema accepts and a phone can show, cut to fit. */
export const plain = (text: string, maxLength: number): string => cut(visible(text), maxLength);

/** The same on one line. */
export const line = (text: string, maxLength: number): string =>
  plain(plain(text, text.length).replace(/\s+/g, ' ').trim(), maxLength);

/** Letters to insert, delete or replace to get from one word to the other (Levenshtein). */
export function editsApart(from: string, to: string): number {
  // Somebody may have written a whole paragraph instead of a word; it resembles no word that we know.
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

/** A hint for a mistyped word, or the list of known words when none is close. */
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

/** "svc-2" before "svc-10". */
export const naturalOrder: (a: string, b: string) => number = new Intl.Collator('en', { numeric: true }).compare;

/** A long name, shortened where names differ least: in the middle. Both of its ends stay. */
export function middleCut(name: string, max: number): string {
  if (name.length <= max) return name;
  const tail = Math.floor((max - 1) / 2);
  return `${cut(name, max - tail)}${name.slice(-tail).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** How many lines a phone makes of it: it breaks between words, and within a word only if that is longer than a line. */
export function linesIn(text: string, columns: number): number {
  let lines = 1;
  let used = 0;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const onThisLine = used === 0 ? word.length : used + 1 + word.length;
    if (onThisLine <= columns) used = onThisLine;
    else {
      if (used > 0) lines += 1;
      lines += Math.ceil(word.length / columns) - 1;
      used = word.length % columns || columns;
    }
  }
  return lines;
}

/** The text in at most so many lines, with "…" where words are missing at its end. */
export function cutToLines(text: string, lines: number, columns: number): string {
  if (text.length <= lines * columns && linesIn(text, columns) <= lines) return text;
  for (let max = lines * columns; max > 0; max--) {
    const shorter = cut(text, max);
    if (linesIn(shorter, columns) > lines) continue;
    const atWord = shorter.replace(/[\s,;:·]+\S*…$/u, ' …');
    return atWord.length > shorter.length / 2 ? atWord : shorter;
  }
  return '';
}

/** At the beginning of a sentence. Our own name is never capitalised. */
export const capitalised = (text: string): string =>
  text.startsWith('tapfix ') ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const none = '(none)';

export const step = (before: string, after: string): string => `${before || none} → ${after || none}`;
