import { STATUS_CODES } from 'node:http';
import { type Dispatcher, request } from 'undici';
import pkg from '../../package.json' with { type: 'json' };
import { untilAborted } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { messageOf } from '../lib/errors.ts';
import { ApiError, noSuchPath, Unreachable } from './api.ts';
import type { Agents, GetIdentity } from './client-credentials.ts';
import { longestObjectBytes, TooLarge } from './bounds.ts';

/** The parts of a Kubernetes Status that we use. */
interface Status {
  kind?: unknown;
  code?: unknown;
  message?: unknown;
  reason?: unknown;
  details?: { retryAfterSeconds?: unknown } | null;
}

const longestMessage = 1024;
const notInstalled =
  "the cluster does not know tapfix's resources: kubectl apply --server-side -f deploy/manifests brings them";

export const cut = (text: string, most = longestMessage): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most)}...` : line;
};

/** The error for an answer of 300 or more: a Status from the API server, or a page from a proxy in between. */
export function errorOf(code: number, headers: Dispatcher.ResponseData['headers'], text: string, path = ''): ApiError {
  const status = parsed(text);
  if (status?.kind === 'Status') return errorOfStatus(status, code, afterMs(Number(headers['retry-after'])));
  const words = STATUS_CODES[code] ?? 'error';
  const message = text ? `HTTP ${code} ${words}: ${cut(text, 300)}` : `HTTP ${code} ${words}`;
  if (code === 404 && path.startsWith('/apis/tapfix.dev/')) return new ApiError(notInstalled, code, noSuchPath);
  // A 404 without a Status does not say that the object is gone: it is a proxy's page, or an API that does not exist.
  const reason = code === 404 ? noSuchPath : words.replaceAll(' ', '');
  return new ApiError(message, code, reason, afterMs(Number(headers['retry-after'])));
}

/** A Status object, from an answer or from an ERROR line of a watch. */
export function errorOfStatus(status: Status, code = 500, retryAfterMs?: number): ApiError {
  const own = typeof status.code === 'number' ? status.code : code;
  const words = STATUS_CODES[own] ?? 'error';
  const reason = typeof status.reason === 'string' && status.reason ? status.reason : words.replaceAll(' ', '');
  const message = typeof status.message === 'string' && status.message ? cut(status.message) : `HTTP ${own} ${words}`;
  return new ApiError(message, own, reason, retryAfterMs ?? afterMs(status.details?.retryAfterSeconds));
}

/** The API server would not send this, so something else answered in its place. We treat it like a real 502. */
export const badAnswer = (server: string, what: string): ApiError =>
  new ApiError(`no valid answer from the API server ${server}: ${what}`, 502, 'BadAnswer');

function noAnswer(server: string, cause: unknown, timeoutMs: number): Unreachable {
  const timedOut = cause instanceof Error && cause.name === 'TimeoutError';
  const why = timedOut ? `no answer within ${spokenDuration(timeoutMs)}` : messageOf(cause);
  return new Unreachable(`cannot reach the API server ${server}: ${why}`, { cause });
}

const afterMs = (seconds: unknown): number | undefined =>
  typeof seconds === 'number' && seconds > 0 && Number.isFinite(seconds) ? seconds * 1000 : undefined;

function parsed(text: string): Status | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

const newline = 0x0a;

export class TruncatedLine extends Error {
  override readonly name = 'TruncatedLine';
}

/** A line that was longer than allowed. Only its beginning was kept. */
export class LongLine {
  readonly head: string;
  constructor(head: string) {
    this.head = head;
  }
}

/**
 * The lines of a byte stream. The stream is cut at newline bytes and decoded line by line, so a character or a line
 * that is split between two chunks is whole again here. Text after the last newline is not a line: the generator throws
 * instead.
 */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  longestBytes: number,
): AsyncGenerator<string | LongLine> {
  let parts: Uint8Array[] = [];
  let bytes = 0;
  let long: LongLine | undefined;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const line = long ?? textOf(parts, chunk.subarray(start, end));
      if (parts.length > 0) parts = [];
      bytes = 0;
      long = undefined;
      start = end + 1;
      if (line instanceof LongLine || line.trim()) yield line;
    }
    bytes += chunk.length - start;
    if (start < chunk.length && !long) parts.push(chunk.subarray(start));
    if (bytes <= longestBytes || long) continue;
    long = new LongLine(headOf(parts));
    parts = [];
  }
  if (bytes > 0) throw new TruncatedLine('it ended in the middle of a line');
}

const longestHeadBytes = 8 * 1024;

function headOf(parts: readonly Uint8Array[]): string {
  const enough: Uint8Array[] = [];
  for (let n = 0, bytes = 0; n < parts.length && bytes < longestHeadBytes; bytes += parts[n++]!.length)
    enough.push(parts[n]!);
  return Buffer.concat(enough).subarray(0, longestHeadBytes).toString('utf8');
}

/** Most lines lie within one chunk; those are not copied. */
const textOf = (before: Uint8Array[], { buffer, byteOffset, length }: Uint8Array): string => {
  const end = Buffer.from(buffer, byteOffset, length);
  return before.length === 0 ? end.toString('utf8') : Buffer.concat([...before, end]).toString('utf8');
};

export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  body?: object;
  contentType?: string;
  accept?: string;
  /** A longer answer is TooLarge. */
  longestBytes?: number;
  /** Called with the length of the answer. */
  onBytes?(bytes: number): void;
  /** Called immediately before the request is sent. When it throws, nothing is sent, and the call throws the same. */
  check?(): void;
  /** For lines(): called when the server has accepted the request. */
  onOpen?(): void;
}

interface TransportDeps {
  /** The address of the API server. */
  server: string;
  agents: Agents;
  identity: GetIdentity;
  timeoutMs: number;
}

export interface Transport {
  /** The decoded answer. Throws ApiError or Unreachable or what the call's check throws, nothing else. */
  answer<T>(call: Call, longestMs?: number): Promise<T>;
  /** The answer as text, for answers that are not JSON. Throws as answer() does. */
  text(call: Call, longestMs?: number): Promise<string>;
  /**
   * The answer's lines as they come; ends when the server ends it or the signal aborts. Of a line that is too long only
   * the beginning is given. Throws as answer() does.
   */
  lines(call: Call, signal: AbortSignal): AsyncGenerator<unknown>;
}

const longestErrorBytes = 64 * 1024;

export function createTransport({ server, agents, identity, timeoutMs }: TransportDeps): Transport {
  async function open(call: Call, signal: AbortSignal, use: 'calls' | 'streams'): Promise<Dispatcher.ResponseData> {
    const { tls, headers } = await untilAborted(identity(), signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new Unreachable(`no credentials for the API server ${server}: ${messageOf(error)}`, { cause: error });
    });
    const query = new URLSearchParams(call.query).toString();
    const answer = await request(`${server}${call.path}${query && `?${query}`}`, {
      dispatcher: checking(agents.for(tls)[use], call.check),
      method: call.method,
      headers: {
        'user-agent': `tapfix/${pkg.version}`,
        accept: call.accept ?? 'application/json',
        ...(call.body && { 'content-type': call.contentType ?? 'application/json' }),
        ...headers,
      },
      body: call.body ? JSON.stringify(call.body) : null,
      headersTimeout: timeoutMs,
      signal,
    });
    if (answer.statusCode < 300) return answer;
    throw errorOf(answer.statusCode, answer.headers, await startOf(answer.body), call.path);
  }

  const known = (error: unknown, longestMs = timeoutMs): unknown => {
    if (error instanceof NotSent) return error.cause;
    return error instanceof ApiError || error instanceof Unreachable ? error : noAnswer(server, error, longestMs);
  };

  const text = (call: Call, longestMs = timeoutMs): Promise<string> =>
    open(call, AbortSignal.timeout(Math.ceil(longestMs)), 'calls')
      .then(({ body }) => textWithin(call, body))
      .catch((error: unknown) => Promise.reject(known(error, longestMs)));

  const answer = async <T>(call: Call, longestMs = timeoutMs): Promise<T> =>
    decoded(server, await text(call, longestMs)) as T;

  async function* lines(call: Call, signal: AbortSignal): AsyncGenerator<unknown> {
    try {
      const { body } = await open(call, signal, 'streams');
      call.onOpen?.();
      for await (const line of linesOf(body, longestObjectBytes))
        yield line instanceof LongLine ? line : decoded(server, line);
    } catch (error) {
      if (!signal.aborted) throw known(error);
    }
  }

  return { answer, text, lines };
}

/** The check of a call refused it; its own error is the cause. */
class NotSent extends Error {}

/**
 * The check comes last: when the request has a connection of its own, and its first byte would be written next. Earlier
 * would be too early: a request may wait for a connection for seconds.
 */
function checking(dispatcher: Dispatcher, check: Call['check']): Dispatcher {
  if (!check) return dispatcher;
  const checked = (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler => ({
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context);
      try {
        check();
      } catch (cause) {
        controller.abort(new NotSent('refused by its check', { cause }));
      }
    },
    onResponseStart: (...args) => handler.onResponseStart?.(...args),
    onResponseData: (...args) => handler.onResponseData?.(...args),
    onResponseEnd: (...args) => handler.onResponseEnd?.(...args),
    onResponseError: (...args) => handler.onResponseError?.(...args),
  });
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, checked(handler)));
}

/** The bytes are counted as they arrive: an answer that is too large ends its connection, and is not kept. */
async function textWithin(call: Call, body: AsyncIterable<Uint8Array>): Promise<string> {
  const { method, path, longestBytes = longestObjectBytes } = call;
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes > longestBytes) throw new TooLarge(`the answer to ${method} ${path}`, longestBytes, headOf(parts));
  }
  call.onBytes?.(bytes);
  return Buffer.concat(parts).toString('utf8');
}

function decoded(server: string, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badAnswer(server, text ? `not JSON: ${cut(text, 200)}` : 'an empty body');
  }
  if (!value || typeof value !== 'object') throw badAnswer(server, `not an object: ${cut(text, 200)}`);
  return value;
}

/** An error page may have any size, or break off; its start is enough. */
async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes > longestErrorBytes) break;
    }
  } catch {
    // The status code is already known; a failure to read the rest of the text is not worth another error.
  }
  return Buffer.concat(parts).toString('utf8');
}
