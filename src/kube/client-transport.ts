import { type Dispatcher, request } from 'undici';
import pkg from '../../package.json' with { type: 'json' };
import { untilAborted } from '../lib/abort.ts';
import { messageOf } from '../lib/errors.ts';
import { ApiError, Unreachable } from './api.ts';
import type { Agents } from './client-agents.ts';
import type { GetIdentity } from './client-credentials.ts';
import { badAnswer, cut, errorOf, noAnswer } from './client-errors.ts';
import { linesOf } from './client-lines.ts';

export interface Call {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  body?: object;
  contentType?: string;
  accept?: string;
}

export interface TransportDeps {
  /** The address of the API server. */
  server: string;
  agents: Agents;
  identity: GetIdentity;
  timeoutMs: number;
}

export interface Transport {
  /** The decoded answer. Throws ApiError or Unreachable, nothing else. */
  answer<T>(call: Call): Promise<T>;
  /** The answer as it is, which is not JSON. Throws as answer() does. */
  text(call: Call, longestMs: number): Promise<string>;
  /** The answer's lines as they come; ends when the server or the signal ends it. Throws as answer() does. */
  lines(call: Call, signal: AbortSignal): AsyncGenerator<unknown>;
}

const longestErrorBytes = 64 * 1024;
const longestLineBytes = 8 * 1024 * 1024;

export function createTransport({ server, agents, identity, timeoutMs }: TransportDeps): Transport {
  async function open(call: Call, signal: AbortSignal, use: 'calls' | 'streams'): Promise<Dispatcher.ResponseData> {
    const { tls, headers } = await untilAborted(identity(), signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw new Unreachable(`no credentials for the API server ${server}: ${messageOf(error)}`, { cause: error });
    });
    const query = new URLSearchParams(call.query).toString();
    const answer = await request(`${server}${call.path}${query && `?${query}`}`, {
      dispatcher: agents.for(tls)[use],
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

  const known = (error: unknown, longestMs = timeoutMs): Error =>
    error instanceof ApiError || error instanceof Unreachable ? error : noAnswer(server, error, longestMs);

  const text = (call: Call, longestMs: number): Promise<string> =>
    open(call, AbortSignal.timeout(longestMs), 'calls')
      .then(({ body }) => body.text())
      .catch((error: unknown) => Promise.reject(known(error, longestMs)));

  const answer = async <T>(call: Call): Promise<T> => decoded(server, await text(call, timeoutMs)) as T;

  async function* lines(call: Call, signal: AbortSignal): AsyncGenerator<unknown> {
    try {
      const { body } = await open(call, signal, 'streams');
      for await (const line of linesOf(body, longestLineBytes)) yield decoded(server, line);
    } catch (error) {
      if (!signal.aborted) throw known(error);
    }
  }

  return { answer, text, lines };
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

/** An error page may be of any size, or break off: its start is enough. */
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
    // The status is known; the rest of its text is not worth another error.
  }
  return Buffer.concat(parts).toString('utf8');
}
