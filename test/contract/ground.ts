import assert from 'node:assert/strict';
import { type Api, ApiError, type KubeObject, type WatchLine } from '../../src/kube/api.ts';
import type { Kind } from '../../src/kube/resources.ts';

/** Any object, as it comes off the wire. */
export interface Thing extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
  [field: string]: unknown;
}

export interface RawCall {
  body?: unknown;
  contentType?: string;
  token?: string;
}

export interface RawAnswer {
  status: number;
  text: string;
  /** Of JSON; of all else an empty object. */
  body: Thing & {
    message?: string;
    reason?: string;
    items?: Thing[];
    details?: { causes?: { reason: string; message: string }[] };
  };
}

/** What a case stands on: one API server, whichever. */
export interface Server {
  api: Api;
  /** One request as it is written, for what the client would never send. */
  raw(method: string, path: string, call?: RawCall): Promise<RawAnswer>;
  /** Makes a namespace in which pods can be created at once; it is removed at the end. */
  freshNamespace(): Promise<string>;
  /** Returns when so much time has passed for the server; where its clock can be sent ahead, that is at once. */
  pass(ms: number): Promise<void>;
  /** Makes the server forget what happened before now; watches that are open may end. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

export interface Ground extends Server {
  /** A namespace for these cases, used by nobody else. */
  ns: string;
}

/** One fact about the API server, as a sentence. */
export type Facts = Record<string, (ground: Ground) => Promise<void>>;

export async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const outcome = await work.then(
    (value) => assert.fail(`it was not refused: ${JSON.stringify(value)?.slice(0, 500)}`),
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof ApiError, String(outcome));
  return outcome;
}

/** "409 Conflict" */
export const word = ({ code, reason }: ApiError): string => `${code} ${reason}`;
export const said = async (work: Promise<unknown>): Promise<string> => word(await refusal(work));
export const rawWord = ({ status, body }: RawAnswer): string => `${status} ${body.reason ?? ''}`.trim();

/** Looks again until it is so: what controllers do takes a moment. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false>,
  withinMs = 20_000,
): Promise<T> {
  const untilMs = Date.now() + withinMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    assert.ok(Date.now() < untilMs, `not within ${withinMs / 1000} s: ${what}`);
    await pause(50);
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let names = 0;
/** A name that no other case uses. */
export const named = (prefix = 'it'): string => `${prefix}-${process.pid}-${++names}`;

export const json = 'application/json-patch+json';
export const merge = 'application/merge-patch+json';

/** Watches until a line for which `isLast`; everything it was told. */
export async function watched(
  { api }: Pick<Ground, 'api'>,
  kind: Kind,
  namespace: string,
  query: Record<string, string>,
  isLast: (line: WatchLine, lines: WatchLine[]) => boolean,
): Promise<WatchLine[]> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), 20_000);
  const lines: WatchLine[] = [];
  try {
    for await (const line of api.watch(kind, namespace, query, stop.signal)) {
      lines.push(line);
      if (isLast(line, lines)) break;
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
  return lines;
}

/** "ADDED a" */
export const told = ({ type, object }: WatchLine): string => `${type} ${object.metadata?.name ?? ''}`.trim();
