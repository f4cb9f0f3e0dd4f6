import type { Cluster } from '../../cluster/cluster.ts';
import type { Condition, Remediation } from '../../../src/kube/remediation.ts';
import { aRemediation } from './remediation.ts';
import { account } from './scene.ts';

export type WorkloadKind = 'Deployment' | 'StatefulSet' | 'DaemonSet';

export interface WorkloadOptions {
  kind?: WorkloadKind;
  name?: string;
  replicas?: number;
  image?: string;
  args?: string[];
  metadata?: object;
  /** Of the template. */
  annotations?: Record<string, string>;
  /** Beside what every workload here has. */
  spec?: object;
  podSpec?: object;
}

const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 };

/** A workload that is ready when its process serves; without args the ConfigMap `mode` says how it behaves. */
export function workload(options: WorkloadOptions = {}): object {
  const { kind = 'Deployment', name = 'checkout', replicas = 1, image = 'localhost/app:1.0', args } = options;
  const mode = { env: [{ name: 'MODE', valueFrom: { configMapKeyRef: { name: 'mode', key: 'mode' } } }] };
  const container = {
    name: 'app',
    image,
    imagePullPolicy: 'IfNotPresent',
    readinessProbe,
    ...(args ? { args } : mode),
  };
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name, ...options.metadata },
    spec: {
      ...(kind !== 'DaemonSet' && { replicas }),
      ...(kind === 'StatefulSet' && { serviceName: name }),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, ...(options.annotations && { annotations: options.annotations }) },
        spec: { terminationGracePeriodSeconds: 1, containers: [container], ...options.podSpec },
      },
      ...options.spec,
    },
  };
}

export const mode = (value: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'mode' },
  data: { mode: value },
});

interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { started?: boolean }[];
  };
}

export interface Live {
  metadata: {
    uid: string;
    labels?: object;
    annotations?: Record<string, string>;
    generation: number;
    managedFields?: { manager: string; fieldsV1: object }[];
  };
  spec: {
    replicas?: number;
    template: { metadata: { annotations?: Record<string, string> }; spec: Record<string, unknown> };
  };
}

/** What people do with kubectl, and what the API server wrote down. */
export function createStage(cluster: Cluster) {
  const apply = (namespace: string, ...objects: object[]) =>
    cluster.kubectl(['-n', namespace, 'apply', '-f', '-'], {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    });
  const pods = async (namespace: string): Promise<Pod[]> =>
    (await cluster.list<Pod>('pods', namespace)).filter(({ metadata }) => !metadata.deletionTimestamp);
  const isReady = ({ status }: Pod): boolean =>
    status.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;
  const read = (namespace: string, kind: string, name = 'checkout') =>
    cluster.get<Live>(`${kind.toLowerCase()}s`, namespace, name);
  const fix = async (namespace: string, name: string) =>
    (await cluster.get<Remediation>('remediations.tapfix.dev', namespace, name))!;
  const condition = async (namespace: string, name: string, type: string): Promise<Condition | undefined> =>
    (await fix(namespace, name)).status?.conditions?.find((c) => c.type === type);

  /** In the name of the cluster's administrator: nothing that tapfix would have to come to by itself. */
  const proposal = (namespace: string, name: string, incident: object, action: object) => {
    const known = aRemediation('').spec.incident;
    return aRemediation(
      name,
      { incident: { ...known, key: `${namespace}/${name}`, ...incident }, action },
      { namespace },
    );
  };
  return {
    apply,
    pods,
    isReady,
    read,
    fix,
    condition,
    proposal,
    async uidOf(namespace: string, kind: string, name = 'checkout'): Promise<string> {
      return (await read(namespace, kind, name))!.metadata.uid;
    },
    /** So many pods that serve, and so many that do not. */
    counted: (namespace: string, ready: number, unready = 0, timeoutMs = 60_000) =>
      cluster.waitFor(
        `${ready} ready and ${unready} other pods in ${namespace}`,
        async () => {
          const all = await pods(namespace);
          return all.filter(isReady).length === ready && all.length === ready + unready ? all : undefined;
        },
        timeoutMs,
      ),
    /** What they read at their start they have read. */
    started: (namespace: string) =>
      cluster.waitFor(
        `the pods in ${namespace} to have started`,
        async () =>
          (await pods(namespace)).every(({ status }) => status.containerStatuses?.every(({ started }) => started)),
        60_000,
      ),
    propose: (namespace: string, name: string, incident: object, action: object) =>
      cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(proposal(namespace, name, incident, action)) }),
    /** What the rehearsal came to. */
    rehearsed: (namespace: string, name: string): Promise<Condition> =>
      cluster.waitFor(
        `${name} to be rehearsed`,
        async () => {
          const confirmed = await condition(namespace, name, 'Confirmed');
          return confirmed && condition(namespace, name, 'Rehearsed');
        },
        30_000,
      ),
    approve: (namespace: string, name: string) =>
      cluster.kubectl([
        '-n',
        namespace,
        'patch',
        'fix',
        name,
        '--type',
        'merge',
        '-p',
        '{"spec":{"approval":{"state":"Approved"}}}',
      ]),
    ended: (namespace: string, name: string, timeoutMs = 60_000): Promise<Remediation> =>
      cluster.waitFor(
        `${name} to end`,
        async () => {
          const now = await fix(namespace, name);
          return ['Recovered', 'Failed', 'Resolved', 'Expired'].includes(now.status?.phase ?? '') ? now : undefined;
        },
        timeoutMs,
      ),
    /** Every write of the three accounts to anything but tapfix's own resources: "tapfix-writer patch deployments checkout". */
    async writes(namespace: string, dryRun = false): Promise<string[]> {
      const own = ['remediations', 'rolebindings', 'serviceaccounts'];
      const accounts = ['tapfix-writer', 'tapfix-watcher', 'tapfix-controller'].map(account);
      return (await cluster.audit())
        .filter((event) => event.namespace === namespace && accounts.includes(event.user) && event.code < 300)
        .filter((event) => event.dryRun === dryRun && !own.includes(event.resource) && event.verb !== 'get')
        .map(({ user, verb, resource, subresource, name }) =>
          [user.split(':').pop(), verb, [resource, subresource].filter(Boolean).join('/'), name].join(' '),
        );
    },
  };
}
export type Stage = ReturnType<typeof createStage>;
