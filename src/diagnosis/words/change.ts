import { type Raw, str } from '../../kube/raw.ts';

/** One difference; the lower its rank, the more it matters. */
export interface Change {
  rank: number;
  text: string;
}

export const none = '(none)';
export const step = (before: string, after: string): string => `${before || none} → ${after || none}`;

const longestScalar = 60;

/** "a → b" of two values that are worth showing; undefined when they are not. */
export function scalar(before: unknown, after: unknown): string | undefined {
  const isShort = (value: unknown): boolean =>
    value === undefined ||
    (['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= longestScalar);
  if (!isShort(before) || !isShort(after)) return undefined;
  return step(before === undefined ? '' : String(before), after === undefined ? '' : String(after));
}

/** Two lists of named things, by name, in the order of the newer one; `was` or `is` is missing where there is none. */
export function pairs(before: readonly Raw[], after: readonly Raw[]): { name: string; was?: Raw; is?: Raw }[] {
  const old = new Map(before.map((item) => [str(item['name']), item]));
  const now = new Map(after.map((item) => [str(item['name']), item]));
  return [...new Set([...now.keys(), ...old.keys()])].map((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    return { name, ...(was && { was }), ...(is && { is }) };
  });
}
