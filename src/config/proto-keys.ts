import type { Finding, Path } from './problem.ts';

/** The schema library leaves this one key out without a word; here every unknown key is refused. */
export function protoKeys(value: unknown, path: Path = []): Finding[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => protoKeys(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, key];
    return key === '__proto__' ? [refusal(here)] : protoKeys(inner, here);
  });
}

const refusal = (path: Path): Finding => ({
  path,
  message: path.length === 2 && path[0] === 'classes' ? 'there is no class "__proto__"' : 'is not a known key',
  hint: 'remove it',
});
