import type { ObjectMeta } from '../../kube/api.ts';
import { type Clock, iso } from '../../lib/clock.ts';
import type { KindRow } from '../kinds/kinds.ts';
import type { ObjectStore } from './object-store.ts';

/** Any JSON object. */
export type Tree = Record<string, unknown>;

export interface Meta extends ObjectMeta {
  generateName?: string;
  finalizers?: string[];
  deletionGracePeriodSeconds?: number;
}

/** An API object as it is stored. A stored object is never changed, only replaced. */
export interface Obj extends Tree {
  apiVersion: string;
  kind: string;
  metadata: Meta;
  spec?: Tree;
  status?: Tree;
}

export interface ApiRequest {
  method: string;
  /** Without the query. */
  path: string;
  query: Record<string, string>;
  contentType?: string | undefined;
  /** The raw text. */
  body?: string | undefined;
  /** The token of the Authorization header, without "Bearer". */
  token?: string | undefined;
  userAgent?: string | undefined;
  /** Ends a watch. */
  signal?: AbortSignal | undefined;
}

/** A string body is a page of text; any other body is JSON. */
export type ApiAnswer =
  | { status: number; body: object | string; lines?: undefined }
  | { status: 200; lines: AsyncIterable<object>; body?: undefined };

/** The target of a path: a collection, one object, or a subresource of an object. */
export interface RequestTarget {
  row: KindRow;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

export const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** The value if it is an object, otherwise an empty object. */
export const tree = (value: unknown): Tree => (isTree(value) ? value : {});
export const trees = (value: unknown): Tree[] => (Array.isArray(value) ? value.filter(isTree) : []);
export const text = (value: unknown): string => (typeof value === 'string' ? value : '');
export const count = (value: unknown, otherwise = 0): number => (typeof value === 'number' ? value : otherwise);

export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((node, key) => (isTree(node) ? node[key] : undefined), value);

/** A time as the API server writes it, with whole seconds. */
export const stamp = (ms: number): string => iso(ms).replace(/\.\d+Z$/, 'Z');

/** Go does not distinguish a missing field from null and drops both. This does the same at every depth. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutNulls(item)) as T;
  if (!isTree(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNulls(inner)])) as T;
}

/** Every part of the server works with these. */
export interface ServerCore {
  store: ObjectStore;
  clock: Clock;
  random: () => number;
  rows: readonly KindRow[];
  /** Undefined for a kind that this server does not serve. */
  rowOf(kind: string, group?: string): KindRow | undefined;
  /** Checks a new object against the rest of the cluster; throws the real server's refusal. */
  admit(row: KindRow, object: Obj, when: AdmissionStage): void;
}

/** The namespace is checked before the object is validated, the quotas after it. */
export type AdmissionStage = 'before it is checked' | 'when it is known to be valid';

export interface WriteSettings {
  dryRun: boolean;
  /** The field manager. */
  manager: string;
}

/** All objects of a kind; none if the kind is not served. */
export function objectsOf({ store, rowOf }: ServerCore, kind: string, namespace?: string): Obj[] {
  const row = rowOf(kind);
  return row ? store.all(row, namespace) : [];
}

/** The server's own writes carry the name of the real cluster's controllers. */
export const serverItself: WriteSettings = { dryRun: false, manager: 'kube-controller-manager' };
