import { createHash } from 'node:crypto';

/** The same value gives the same hash whatever the order of its keys. */
export function hashOf(value: unknown, hexCharacters = 64): string {
  return createHash('sha256').update(canonical(value)).digest('hex').slice(0, hexCharacters);
}

/** The same in fewer characters: each has six bits, and is safe in a URL and in a chat button. */
export function shortHashOf(value: unknown, characters: number): string {
  return createHash('sha256').update(canonical(value)).digest('base64url').slice(0, characters);
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

/** Whether both are the same as JSON: without regard to the order of keys, and to those that are undefined. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, n) => sameValue(item ?? null, b[n] ?? null));
  if (!isPlain(a) || !isPlain(b)) return canonical(a) === canonical(b);
  let keys = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    keys += 1;
    if (!sameValue(a[key], b[key])) return false;
  }
  for (const key in b) if (b[key] !== undefined) keys -= 1;
  return keys === 0;
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** A UUID in 22 characters, so that it fits a chat button's 64 bytes. */
export function shortUid(uid: string): string {
  const hex = uid.replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/i.test(hex)) throw new RangeError(`not a uid: ${uid}`);
  return Buffer.from(hex, 'hex').toString('base64url');
}

export function longUid(short: string): string | undefined {
  const hex = Buffer.from(short, 'base64url').toString('hex');
  if (short.length !== 22 || hex.length !== 32) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
