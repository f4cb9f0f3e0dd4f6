import { createHash } from 'node:crypto';

/** The same value gives the same hash whatever the order of its keys. */
export function hashOf(value: unknown, hexCharacters = 64): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, hexCharacters);
}

export function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      inner && typeof inner === 'object' && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  );
}

export const sameValue = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);
