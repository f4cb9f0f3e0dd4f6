import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { historyNames } from '../../../src/kube/history-maps.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { customResourceDefinitions } from '../../../src/manifests/crd.ts';
import type { ApiServer } from '../../../src/sim/api/api-server.ts';
import { listen } from '../../../src/sim/api/http.ts';
import { localApi } from '../../../src/sim/api/local-api.ts';
import { createFullApiServer } from '../../sim/full-sim.ts';
import { greetIn } from '../../support/greeted.ts';
import { userToken } from './tapfix.ts';

/** What a tapfix that runs has open, by plural. */
export const allWatches = [
  'daemonsets',
  'deployments',
  'events',
  'horizontalpodautoscalers',
  'jobs',
  'nodes',
  'notices',
  'persistentvolumeclaims',
  'pods',
  'remediations',
  'replicasets',
  'statefulsets',
  'storageclasses',
];

export interface StartOptions {
  port?: number;
  /** The Remediations that are there from the start. */
  remediations?: readonly Remediation[];
  /** Requests to such a path are never answered. */
  stuck?: RegExp;
}

export interface StartedApiServer {
  url: string;
  /** "GET /api/v1/pods" */
  seen: string[];
  /** Watches that are open now, by their plural. */
  watched(): string[];
}

/** The simulated API server on a port, without controllers. It notes requests and open watches. */
export async function startApiServer(t: TestContext, options: StartOptions = {}): Promise<StartedApiServer> {
  const { port = 0, remediations = [], stuck } = options;
  const server = createFullApiServer({
    clock: systemClock,
    definitions: customResourceDefinitions(actions),
    tokens: { [userToken]: { username: 'ada@example.com', groups: ['system:masters'] } },
  });
  await seed(server, remediations);
  const seen: string[] = [];
  const watches = new Set<string>();

  const handle: ApiServer['handle'] = async (request) => {
    seen.push(`${request.method} ${request.path}`);
    if (stuck?.test(request.path)) return new Promise(() => undefined);
    const answer = await server.handle(request);
    const plural = request.path.split('/').at(-1)!;
    if (answer.lines) {
      watches.add(plural);
      request.signal?.addEventListener('abort', () => watches.delete(plural));
    }
    return answer;
  };

  const { url, close } = await listen({ handle }, { port });
  t.after(close);
  return { url, seen, watched: () => [...watches].sort() };
}

/** The chats of the tests' configurations, in which tapfix was before. */
const knownChats = [
  { channel: 'telegram', chat: '-100500' },
  { channel: 'slack', chat: 'C0123456789' },
] as const;

async function seed(server: ApiServer, remediations: readonly Remediation[]): Promise<void> {
  const api = localApi(server);
  for (const name of ['tapfix', 'shop']) await api.create({ kind: 'Namespace' }, { metadata: { name } });
  for (const name of ['tapfix-mutes', ...historyNames('watcher'), ...historyNames('controller')])
    await api.create({ kind: 'ConfigMap', namespace: 'tapfix' }, { metadata: { name } });
  await greetIn(api, 'tapfix', knownChats);
  for (const { metadata, status, ...fix } of remediations) {
    const { name, namespace } = metadata;
    const place = { kind: 'Remediation', namespace } as const;
    await api.create(place, { ...fix, metadata: { name } });
    await api.patch({ ...place, name, subresource: 'status' }, 'merge', { status });
  }
}

/** A port of this machine where nobody listens, and none that the system would give to another test meanwhile. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(10_000 + Math.floor(Math.random() * 10_000), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
