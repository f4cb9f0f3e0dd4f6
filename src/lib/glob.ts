/** Shell-like globs on names: `*` is any run of characters, `?` one; everything else is literal. */
export function globMatches(glob: string, name: string): boolean {
  const pattern = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replace(/\?/g, '.');
  return new RegExp(`^${pattern}$`, 's').test(name);
}

export const matchesAny = (globs: readonly string[], name: string): boolean =>
  globs.some((glob) => globMatches(glob, name));

export const isLiteral = (glob: string): boolean => !/[*?]/.test(glob);
