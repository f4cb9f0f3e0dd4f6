import type { Api } from '../../kube/api.ts';
import { type Call, errorOf, type Transport } from '../../kube/client-transport.ts';
import { apiOver } from '../../kube/client.ts';
import { type PatientOptions, patientTransport } from '../../kube/retry.ts';
import type { ApiServer } from './api-server.ts';
import type { ApiAnswer, ApiRequest } from './model.ts';

interface LocalOptions {
  token?: string;
  /** The field manager of all writes. */
  manager?: string;
  /** How the client over HTTP repeats requests; without it each is sent once. */
  patience?: PatientOptions;
}

/** The usual client without a network. Errors and paths are the same as over HTTP, and answers share no objects with the server. */
export function localApi(server: Pick<ApiServer, 'handle'>, options: LocalOptions = {}): Api {
  const { token, manager, patience } = options;
  const transport = localTransport(server, token);
  return apiOver({
    server: 'in this process',
    ...(manager && { manager }),
    transport: patience ? patientTransport(transport, patience) : transport,
    withToken: (other) => localApi(server, { ...options, token: other }),
  });
}

function localTransport(server: Pick<ApiServer, 'handle'>, token: string | undefined): Transport {
  async function ask(call: Call, signal?: AbortSignal): Promise<ApiAnswer> {
    call.check?.();
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
      call.onOpen?.();
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

/** A copy, as if it came over the network: the reader may change it. */
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
