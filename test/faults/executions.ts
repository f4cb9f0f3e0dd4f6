import type { ApiServer } from '../../src/sim/api/api-server.ts';
import type { ApiRequest } from '../../src/sim/api/model.ts';
import { isDryRun } from '../cluster/audit.ts';
import type { Execution } from './books.ts';

/** The same server; it notes what was really changed with minted rights. Nobody else here has a token. */
export const bookkeeping = (server: Pick<ApiServer, 'handle'>, book: Execution[]): Pick<ApiServer, 'handle'> => ({
  async handle(request) {
    const answer = await server.handle(request);
    if (request.token && answer.status < 300) book.push(...executionIn(request));
    return answer;
  },
});

/** Our mark travels in the patch; what is deleted is deleted once, whoever asked. */
function executionIn({ method, path, query, body = '' }: ApiRequest): Execution[] {
  if (method === 'GET' || query['dryRun'] || isDryRun('', JSON.parse(body || '{}'))) return [];
  if (method === 'PATCH' && !/\/deployments\/[^/]+(\/scale)?$/.test(path)) return []; // a nudge of those who wait
  const [, marked] = /"tapfix\.dev\/fix":\s*"([^"]+)"/.exec(body) ?? [];
  const [, added] = /tapfix\.dev~1fix","value":"([^"]+)"/.exec(body) ?? [];
  const [, namespace = '', name = ''] = /\/namespaces\/([^/]+)\/[^/]+\/([^/]+)/.exec(path) ?? [];
  return [{ fix: marked ?? added, namespace, name, what: `${method} ${path}` }];
}
