/** One request the API server answered, from its audit log. */
export interface AuditEvent {
  verb: string;
  user: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
  dryRun: boolean;
  code: number;
  at: string;
  requestObject?: unknown;
  userAgent?: string;
  /** Who asked, by address: the pods of a Deployment have one user. */
  from?: string;
}

const writes = ['create', 'update', 'patch', 'delete', 'deletecollection'];

/** Writes only, with the body where tests look at what was asked for. The first matching rule wins. */
export const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules: [
    { level: 'None', verbs: ['get', 'list', 'watch'] },
    // The heartbeat of the components themselves: most of the volume, none of the interest.
    {
      level: 'None',
      resources: [
        { group: 'coordination.k8s.io', resources: ['leases'] },
        { group: '', resources: ['events', 'nodes/status'] },
        { group: 'events.k8s.io', resources: ['events'] },
      ],
    },
    {
      level: 'Request',
      verbs: writes,
      resources: [
        { group: '', resources: ['resourcequotas', 'pods', 'pods/eviction'] },
        {
          group: 'apps',
          resources: ['deployments', 'deployments/scale', 'replicasets', 'statefulsets', 'daemonsets'],
        },
        { group: 'rbac.authorization.k8s.io', resources: ['rolebindings'] },
        { group: 'tapfix.dev', resources: ['remediations', 'remediations/status'] },
      ],
    },
    { level: 'Metadata' },
  ],
};

interface LogLine {
  stage: string;
  verb: string;
  requestURI: string;
  user: { username: string };
  userAgent?: string;
  sourceIPs?: string[];
  objectRef?: { resource?: string; subresource?: string; namespace?: string; name?: string };
  responseStatus?: { code?: number };
  requestObject?: DryRunBody;
  requestReceivedTimestamp: string;
}

interface DryRunBody {
  dryRun?: unknown;
  deleteOptions?: { dryRun?: unknown };
}

/** Reads a log that may still be growing: a last line without its end is left for the next time. */
export function parseAuditLog(text: string): AuditEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogLine)
    .filter((line) => line.stage === 'ResponseComplete')
    .map(toEvent);
}

function toEvent(line: LogLine): AuditEvent {
  const { resource = '', subresource, namespace, name } = line.objectRef ?? {};
  return {
    verb: line.verb,
    user: line.user.username,
    resource,
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
    dryRun: isDryRun(line.requestURI, line.requestObject),
    code: line.responseStatus?.code ?? 0,
    at: line.requestReceivedTimestamp,
    ...(line.requestObject !== undefined && { requestObject: line.requestObject }),
    ...(line.userAgent !== undefined && { userAgent: line.userAgent }),
    ...(line.sourceIPs?.[0] !== undefined && { from: line.sourceIPs[0] }),
  };
}

/** Dry run is asked for in the query, in the options of a delete, or in those inside an eviction. */
export function isDryRun(uri: string, body: unknown): boolean {
  if (new URL(uri, 'https://unused').searchParams.has('dryRun')) return true;
  if (typeof body !== 'object' || body === null) return false;
  const { dryRun, deleteOptions } = body as DryRunBody;
  return [dryRun, deleteOptions?.dryRun].some((value) => Array.isArray(value) && value.length > 0);
}
