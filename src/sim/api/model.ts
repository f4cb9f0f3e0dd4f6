import type { ObjectMeta } from '../../kube/api.ts';
import { iso } from '../../lib/clock.ts';

/** Any JSON object. */
export type Tree = Record<string, unknown>;

export interface Meta extends ObjectMeta {
  generateName?: string;
  finalizers?: string[];
  deletionGracePeriodSeconds?: number;
}

/** An object of the API, as it is stored. Once stored it is never changed, only replaced. */
export interface Obj extends Tree {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  spec?: Tree;
  status?: Tree;
}

export interface Request {
  method: string;
  /** Without the query. */
  path: string;
  query: Record<string, string>;
  contentType?: string | undefined;
  /** The raw text. */
  body?: string | undefined;
  /** Of the Authorization header, without "Bearer". */
  token?: string | undefined;
  userAgent?: string | undefined;
  /** Ends a watch. */
  signal?: AbortSignal | undefined;
}

/** A body that is a string is a page of text; all others are JSON. */
export type Answer =
  | { status: number; body: object | string; lines?: undefined }
  | { status: 200; lines: AsyncIterable<object>; body?: undefined };

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The object there is, or an empty one. */
export const tree = (value: unknown): Tree => (isTree(value) ? value : {});
export const trees = (value: unknown): Tree[] => (Array.isArray(value) ? value.filter(isTree) : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
export const count = (value: unknown, otherwise = 0): number => (typeof value === 'number' ? value : otherwise);

export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((node, key) => (isTree(node) ? node[key] : undefined), value);

/** A time as the API server writes it: to the second. */
export const stamp = (ms: number): string => iso(ms).replace(/\.\d+Z$/, 'Z');

/** Go has no difference between "not there" and "null", and drops both: so does this, at every depth. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item)) as T;
  if (!isTree(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)])) as T;
}
