import { createHash } from 'node:crypto';
import { canonical } from '../../lib/hash.ts';
import type { Template } from './shapes.ts';

/** No vowels, no 0, 1, 3: no generated name is a word. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Kubernetes' way to write a 32-bit hash: its decimal digits, each as a letter of the alphabet; up to ten. */
export function shortHash(value: unknown): string {
  const number = createHash('sha256').update(canonical(value)).digest().readUInt32BE(0);
  return [...String(number)].map((digit) => alphabet[digit.charCodeAt(0) % alphabet.length]).join('');
}

export const hashLabel = 'pod-template-hash';

/** A template as its author wrote it, whatever ReplicaSet it came from. */
export function withoutHash(template: Template = {}): Template {
  const { [hashLabel]: _, ...labels } = template.metadata?.labels ?? {};
  return { ...template, metadata: { ...template.metadata, labels } };
}

export const sameTemplate = (a: Template | undefined, b: Template | undefined): boolean =>
  canonical(plain(withoutHash(a))) === canonical(plain(withoutHash(b)));

/** Empty and missing are the same to Kubernetes; the API server also writes a null creationTimestamp into templates. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!value || typeof value !== 'object') return value;
  const kept = Object.entries(value)
    .map(([key, inner]) => [key, plain(inner)] as const)
    .filter(([, inner]) => inner !== null && inner !== undefined && !isEmpty(inner));
  return Object.fromEntries(kept);
}

const isEmpty = (value: unknown): boolean => typeof value === 'object' && Object.keys(value as object).length === 0;

/** Names that get a generated suffix are cut so that the whole fits a label's 63 characters. */
export const cutName = (name: string, suffix: string, most = 63): string =>
  `${name.slice(0, most - suffix.length - 1)}-${suffix}`;
