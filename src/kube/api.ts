import { redact } from '../lib/redact.ts';
import type { Kind, Ref } from './resources.ts';

/** The part that every Kubernetes object has. Times are RFC 3339 strings, as the API server sends them. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFields[];
}

/** The API server's own record of who wrote which fields, and when last. */
export interface ManagedFields {
  manager?: string;
  operation?: string;
  time?: string;
  subresource?: string;
  /** A tree of `f:field` keys. */
  fieldsV1?: Record<string, unknown>;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/**
 * The API server refused, or sent some other answer than success. `reason` is its own term: NotFound, Conflict,
 * Forbidden...
 */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
  /** It is part of an outage that was logged: a line of its own would say nothing new. */
  isSaid = false;
  constructor(message: string, code: number, reason: string, retryAfterMs?: number) {
    super(redact(message)); // the server quotes values that it refuses, and this is logged and recorded
    this.code = code;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** No answer: refused, reset, timed out, not a TLS peer we trust. It is unknown whether a write arrived. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** As in ApiError. */
  isSaid = false;
}

/** The server has not looked at the request, and asks to repeat it: 429, or 503 with the time to wait. */
export const isRefusedUnprocessed = (error: unknown): error is ApiError =>
  hasCode(error, 429) || (hasCode(error, 503) && (error as ApiError).retryAfterMs !== undefined);

/** Nobody answered, or only something between us and the server did, or the server was too busy. */
export const isUnserved = (error: unknown): error is ApiError | Unreachable =>
  error instanceof Unreachable || (error instanceof ApiError && [429, 502, 503, 504].includes(error.code));

export const hasCode = (error: unknown, code: number): boolean => error instanceof ApiError && error.code === code;
/** The reason of a 404 that does not mean "this object is missing". */
export const noSuchPath = 'NoSuchPath';
export const isNotFound = (error: unknown): boolean => hasCode(error, 404) && (error as ApiError).reason !== noSuchPath;
export const isConflict = (error: unknown): boolean => hasCode(error, 409);
export const isForbidden = (error: unknown): boolean => hasCode(error, 403);
/** For a `catch`: `instead` is the result of a read that is forbidden to us. Every other error is thrown on. */
export const ifForbidden =
  <const T>(instead: T) =>
  (error: unknown): T => {
    if (isForbidden(error)) return instead;
    throw error;
  };

/** Reading only. Diagnosis, and every function that gathers facts for a pure decision, gets this. */
export interface Reader {
  /** undefined when there is no such object. */
  get<T extends KubeObject>(ref: Ref): Promise<T | undefined>;
  /** All objects, page by page. Without a namespace: those of the whole cluster. */
  list<T extends KubeObject>(kind: Kind, namespace?: string, selector?: ListSelector): Promise<T[]>;
}

export interface PodLogOptions {
  container: string;
  /** The log of the container's previous run. */
  previous: boolean;
  tailLines: number;
  /** The log is cut off at this size. */
  limitBytes: number;
}

/** Separate from Reader, so that only parts that get this can read what a program wrote to its log. */
export interface LogReader {
  /** undefined when there is no such log. */
  podLog(pod: { namespace: string; name: string }, options: PodLogOptions): Promise<string | undefined>;
}

export interface ListSelector {
  labelSelector?: string;
  fieldSelector?: string;
  /** The objects come without spec and status. */
  metadataOnly?: boolean;
}

export type PatchType = 'json' | 'merge';

export interface WriteOptions {
  dryRun?: boolean;
}

export interface DeleteOptions extends WriteOptions {
  /** For a pod: kubelet sends 0 once the pod has stopped. The default is the grace period in the pod's spec. */
  gracePeriodSeconds?: number;
}

export interface JsonPatchOp {
  op: 'test' | 'add' | 'replace' | 'remove';
  path: string;
  value?: unknown;
}

export interface Preconditions {
  uid?: string;
  resourceVersion?: string;
}

export interface Writer {
  create<T extends KubeObject>(
    ref: { kind: Kind; namespace?: string },
    body: object,
    options?: WriteOptions,
  ): Promise<T>;
  /** POST to a subresource, as TokenRequest and Eviction want it. */
  createSub<T>(ref: Ref, body: object, options?: WriteOptions): Promise<T>;
  patch<T extends KubeObject>(ref: Ref, type: PatchType, body: object, options?: WriteOptions): Promise<T>;
  delete(ref: Ref, preconditions?: Preconditions, options?: DeleteOptions): Promise<void>;
}

export interface Api extends Reader, LogReader, Writer {
  /** An open watch: yields decoded lines until the server ends it. Throws ApiError or Unreachable. */
  watch(
    kind: Kind,
    namespace: string | undefined,
    query: Record<string, string>,
    signal: AbortSignal,
  ): AsyncIterable<WatchLine>;
  /** One page of a list. Throws TooLarge when it has more bytes than that. pagesOf() asks for one after the other. */
  page<T extends KubeObject>(
    kind: Kind,
    namespace: string | undefined,
    query: Record<string, string>,
    longestBytes?: number,
  ): Promise<Page<T>>;
  /** The same server with another identity: a minted ServiceAccount token. */
  withToken(token: string): Api;
  /**
   * The same server and identity. `check` is called immediately before a write is sent (create, createSub, patch,
   * delete), also when it is sent once more, and also in what withToken() makes of it. When `check` throws, nothing is
   * sent, and the write throws the same error. Reads are not checked.
   */
  guardedBy(check: () => void): Api;
}

export interface WatchLine {
  /** TOO LARGE: something happened to this object, which is too large to be read; only its identity is here. */
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR' | 'TOO LARGE';
  object: KubeObject & { code?: number; message?: string; reason?: string };
}

export interface Page<T> {
  items: T[];
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
  /** The length of the answer; absent where none went over a network. */
  bytes?: number;
}

/** The field manager of every write. */
export const fieldManager = 'tapfix';
