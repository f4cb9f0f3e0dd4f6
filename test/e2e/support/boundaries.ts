import type { WriteSeen } from '../../cluster/cluster.ts';

/** A write, and in which namespace it is about a fix. */
export interface Boundary {
  namespace: string;
  /** With everything that differs from run to run taken out. */
  what: string;
}

export const namespaceIn = ({ path }: { path: string }): string => /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? '';
const isOfStatus = ({ path }: WriteSeen): boolean => /\/remediations\/[^/]+\/status$/.test(path);
const isToken = ({ path }: WriteSeen): boolean => path.endsWith('/serviceaccounts/tapfix-writer/token');
const isMint = ({ method, path }: WriteSeen): boolean => method === 'POST' && path.endsWith('/rolebindings');
const isEvent = ({ path }: WriteSeen): boolean => path.endsWith('/events');
const phaseIn = ({ body }: WriteSeen): string | undefined =>
  (body as { status?: { phase?: string } } | undefined)?.status?.phase;

/** What was minted is used and given back under one lock: a token is for the last binding there was. */
function ownerOf(write: WriteSeen, before: readonly WriteSeen[]): string {
  const binding = isToken(write) ? before.findLast(isMint) : write;
  return binding ? namespaceIn(binding) : '';
}

/** Rights are minted for the rehearsal and again for the fix; the last phase that was said tells which. */
function stageOf(namespace: string, before: readonly WriteSeen[]): string {
  const last = before.findLast((write) => namespaceIn(write) === namespace && isOfStatus(write) && phaseIn(write));
  return (last && phaseIn(last)) ?? 'new';
}

function said(write: WriteSeen): string | undefined {
  if (isOfStatus(write)) return phaseIn(write) ?? 'judged';
  // Both of a phase, on the Remediation and on its target, are sent at once: one boundary.
  if (isEvent(write)) return (write.body as { reason: string }).reason;
  return undefined;
}

/** The boundary that a real write is, among all that were seen. What comes again in the same stage is the same. */
export function boundaryOf(write: WriteSeen, all: readonly WriteSeen[]): Boundary | undefined {
  if (write.dryRun) return undefined;
  const before = all.slice(0, write.n - 1);
  const namespace = ownerOf(write, before);
  const generic = write.path
    .replace(`/namespaces/${namespace}/`, '/namespaces/NS/')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
    .replace(/\/(remediations|replicasets)\/[^/]+/, '/$1/NAME');
  const about = said(write) ?? `while ${stageOf(namespace, before)}`;
  return { namespace, what: `${write.method} ${generic}: ${about}` };
}

/** All that a life had in its namespace, each once, in order. */
export function boundariesIn(namespace: string, all: readonly WriteSeen[]): string[] {
  const own = all.flatMap((write) => boundaryOf(write, all) ?? []).filter((one) => one.namespace === namespace);
  return [...new Set(own.map(({ what }) => what))];
}
