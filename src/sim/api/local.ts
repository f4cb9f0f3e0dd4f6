import type { Api } from '../../kube/api.ts';
import { type Call, errorOf, type Transport } from '../../kube/client-transport.ts';
import { apiOver } from '../../kube/client.ts';
import type { Answer as ApiAnswer, Request as ApiRequest } from './model.ts';
import type { ApiServer } from './server.ts';

export interface LocalOptions {
  token?: string;
  /** Under which name writes are booked. */
  manager?: string;
}

/** The client that talks HTTP everywhere else, here without a network: the same errors, the same paths, nothing shared. */
export function localApi(server: Pick<ApiServer, 'handle'>, { token, manager }: LocalOptions = {}): Api {
  return apiOver({
    server: 'in this process',
    ...(manager && { manager }),
    transport: localTransport(server, token),
    withToken: (other) => localApi(server, { token: other, ...(manager && { manager }) }),
  });
}

function localTransport(server: Pick<ApiServer, 'handle'>, token: string | undefined): Transport {
  async function ask(call: Call, signal?: AbortSignal): Promise<ApiAnswer> {
    const answer = await server.handle(requestOf(call, token, signal));
    if (answer.status < 300) return answer;
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    throw errorOf(answer.status, {}, text, call.path);
  }
  return {
    answer: async <T>(call: Call): Promise<T> => copied((await ask(call)).body) as T,
    async text(call) {
      const { body } = await ask(call);
      return typeof body === 'string' ? body : JSON.stringify(body);
    },
    async *lines(call, signal) {
      const { lines } = await ask(call, signal);
      for await (const line of lines ?? []) {
        if (signal.aborted) return;
        yield copied(line);
      }
    },
  };
}

function requestOf(
  { method, path, query = {}, body, contentType }: Call,
  token: string | undefined,
  signal?: AbortSignal,
): ApiRequest {
  const content = body && { body: JSON.stringify(body), contentType: contentType ?? 'application/json' };
  return { method, path, query, userAgent: 'tapfix', ...content, ...(token && { token }), ...(signal && { signal }) };
}

/** As it would come off the wire: what the reader does to it is nobody else's business. */
function copied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (inner !== undefined) copy[key] = copied(inner);
  }
  return copy;
}
