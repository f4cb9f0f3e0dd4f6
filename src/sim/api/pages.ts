import type { Answer, Request } from './model.ts';

const version = {
  major: '1',
  minor: '36',
  // Nobody shall take it for a cluster.
  gitVersion: 'v1.36.0+tapfix-sim',
  gitTreeState: 'simulated: no RBAC, no admission policies, no CEL, no nodes but those that somebody plays',
  platform: 'tapfix',
};

/** What is no resource: health and version. */
export function page({ method, path }: Request): Answer | undefined {
  if (method !== 'GET') return undefined;
  if (path === '/version') return { status: 200, body: version };
  return ['/healthz', '/livez', '/readyz'].includes(path) ? { status: 200, body: 'ok' } : undefined;
}
