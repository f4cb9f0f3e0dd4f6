/**
 * Shell-like globs on names: `*` is any run of characters, `?` one; everything else is literal.
 * Not by RegExp: a glob may come from chat, and a dozen stars would keep a backtracking engine busy for years.
 */
export const globMatches = (glob: string, name: string): boolean =>
  aligns(glob, name, (wanted, found) => wanted === '?' || wanted === found);

/** A star stands for any run of what is in the text; whether something else stands for one of it, `fits` says. */
function aligns(glob: string, text: string, fits: (wanted: string | undefined, found: string) => boolean): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1; // the last star seen, and how much of the text it covers: only that one is ever tried again
  let covered = 0;
  while (at < text.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++;
      covered = at;
    } else if (fits(glob[inGlob], text[at]!)) {
      inGlob++;
      at++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++covered;
    } else return false;
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}

export const matchesAny = (globs: readonly string[], name: string): boolean =>
  globs.some((glob) => globMatches(glob, name));

export const isLiteral = (glob: string): boolean => !/[*?]/.test(glob);

/**
 * Whether the glob matches whatever the pattern does. The pattern is read as a text in which a star can only be met by
 * a star, so it never says yes where a name could slip through; in doubt it says no (`?*` and `*a`).
 */
export const covers = (glob: string, pattern: string): boolean =>
  aligns(ordered(glob), ordered(pattern), (wanted, found) => found !== '*' && (wanted === '?' || wanted === found));

/** `*?` and `?*` are the same: the stars of a run come last. */
const ordered = (glob: string): string =>
  glob.replace(/[*?]+/g, (run) => `${run.replaceAll('*', '')}${run.includes('*') ? '*' : ''}`);
