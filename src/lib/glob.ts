/**
 * Shell-like globs on names: `*` is any run of characters, `?` one; everything else is literal.
 * Not by RegExp: a glob may come from chat, and a dozen stars would keep a backtracking engine busy for years.
 */
export function globMatches(glob: string, name: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1; // the last star seen, and how much of the name it covers: only that one is ever tried again
  let covered = 0;
  while (at < name.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++;
      covered = at;
    } else if (glob[inGlob] === '?' || glob[inGlob] === name[at]) {
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
