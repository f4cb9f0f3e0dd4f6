/**
 * Shell-like globs on names: `*` is any run of characters, `?` one; everything else is literal.
 * Not by RegExp: a glob may come from chat, and a dozen stars would keep a backtracking engine busy for years.
 */
export const globMatches = (glob: string, name: string): boolean =>
  aligns(glob, name, (wanted, found) => wanted === '?' || wanted === found);

/**
 * A star matches any run of the text's characters; `fits` decides whether another glob character matches one of them.
 */
function aligns(glob: string, text: string, fits: (wanted: string | undefined, found: string) => boolean): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1; // the last star seen, and how much of the text it matches; only that one is ever retried
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
 * Whether the glob matches every name that the pattern matches. The pattern is read as a text in which only a star
 * matches a star, so the answer is never true when some name would not match. In doubt it is false (`?*` and `*a`).
 */
export const covers = (glob: string, pattern: string): boolean =>
  aligns(ordered(glob), ordered(pattern), (wanted, found) => found !== '*' && (wanted === '?' || wanted === found));

/** `*?` and `?*` mean the same: in each run, the stars are moved to the end. */
const ordered = (glob: string): string =>
  glob.replace(/[*?]+/g, (run) => `${run.replaceAll('*', '')}${run.includes('*') ? '*' : ''}`);
