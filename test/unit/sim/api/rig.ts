import { actions } from '../../../../src/actions/table.ts';
import { customResourceDefinitions } from '../../../../src/manifests/crd.ts';
import type { ApiServerOptions } from '../../../../src/sim/api/api-server.ts';
import { localApi } from '../../../../src/sim/api/local-api.ts';
import type { ApiRequest } from '../../../../src/sim/api/model.ts';
import { createFullApiServer } from '../../../sim/full-sim.ts';
import { fakeClock } from '../../../support/fake-clock.ts';

export interface Said {
  status: number;
  body: Record<string, unknown> & { message?: string; reason?: string };
}

/** A server in virtual time with the namespace shop, a client of it, and a way to send anything. */
export async function rig(options: Partial<ApiServerOptions> = {}) {
  const clock = fakeClock();
  const server = createFullApiServer({ clock, definitions: customResourceDefinitions(actions), ...options });
  const api = localApi(server);
  await api.create({ kind: 'Namespace' }, { metadata: { name: 'shop' } });
  async function ask(method: string, path: string, body?: unknown, over: Partial<ApiRequest> = {}): Promise<Said> {
    const [pathname = '', query = ''] = path.split('?');
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const request = {
      method,
      path: pathname,
      query: Object.fromEntries(new URLSearchParams(query)),
      body: text,
      ...over,
    };
    const answer = await server.handle(request);
    return { status: answer.status, body: (answer.body ?? {}) as Said['body'] };
  }
  return { clock, server, api, ask };
}

/** Lets what is ready run, without letting any time or any turn of the event loop pass. */
export async function microtasks(count = 50): Promise<void> {
  for (let i = 0; i < count; i++) await Promise.resolve();
}
