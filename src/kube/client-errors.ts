import { STATUS_CODES } from 'node:http';
import type { Dispatcher } from 'undici';
import { spokenDuration } from '../lib/duration.ts';
import { messageOf } from '../lib/errors.ts';
import { ApiError, noSuchPath, Unreachable } from './api.ts';

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

/** An answer of 300 or more: a Status from the API server, or a page of something in between. */
export function errorOf(code: number, headers: Dispatcher.ResponseData['headers'], text: string, path = ''): ApiError {
  const status = parsed(text);
  if (status?.kind === 'Status') return errorOfStatus(status, code, afterMs(Number(headers['retry-after'])));
  const words = STATUS_CODES[code] ?? 'error';
  const message = text ? `HTTP ${code} ${words}: ${cut(text, 300)}` : `HTTP ${code} ${words}`;
  if (code === 404 && path.startsWith('/apis/tapfix.dev/')) return new ApiError(notInstalled, code, noSuchPath);
  // Whoever says 404 without a Status is not telling that the object is gone: a proxy's page, or an API that is not there.
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

/** What came is not what the API server says; so something else answered in its place, as with a real 502. */
export const badAnswer = (server: string, what: string): ApiError =>
  new ApiError(`no sensible answer from the API server ${server}: ${what}`, 502, 'BadAnswer');

export function noAnswer(server: string, cause: unknown, timeoutMs: number): Unreachable {
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
