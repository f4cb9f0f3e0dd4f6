import type { Cluster } from '../../cluster/cluster.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';

const readiness = 'readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}';

/** A Deployment of the workload image; `args` chooses how it behaves. */
export const deployment = (name: string, replicas: number, args: string[], probe = readiness): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  progressDeadlineSeconds: 30
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: app
          image: localhost/app:1.0
          imagePullPolicy: IfNotPresent
          args: ${JSON.stringify(args)}
          resources: {requests: {memory: 16Mi}, limits: {memory: 64Mi}}
          ${probe}
`;

export const applyIn = (cluster: Cluster, namespace: string, manifest: string): Promise<string> =>
  cluster.kubectl(['-n', namespace, 'apply', '-f', '-'], { input: manifest });

interface Deployment {
  metadata: { generation: number };
  status?: { observedGeneration?: number; conditions?: { type: string; status: string }[] };
}

export const available = (cluster: Cluster, namespace: string, name: string): Promise<true> =>
  cluster.waitFor(
    `${name} in ${namespace} to be available`,
    async () => {
      const { metadata, status } = (await cluster.get<Deployment>('deployments', namespace, name))!;
      const isKnown = (status?.observedGeneration ?? 0) >= metadata.generation;
      return isKnown && status?.conditions?.some((one) => one.type === 'Available' && one.status === 'True');
    },
    60_000,
  );

/** A quota that the namespace's pods do not fit in. */
export const quota = (name: string): string => `
apiVersion: v1
kind: ResourceQuota
metadata: {name: ${name}}
spec: {hard: {requests.memory: 1Mi, limits.memory: 1Mi}}
`;

/** (a) A ResourceQuota blocks a Deployment's pods. */
export async function breakByQuota(cluster: Cluster, namespace: string, names: string[] = ['api']): Promise<void> {
  await applyIn(cluster, namespace, quota('platform-hardening'));
  for (const name of names) await applyIn(cluster, namespace, deployment(name, 2, ['run']));
}

/** (b) A new revision of a healthy Deployment crash-loops. */
export async function breakByRollout(cluster: Cluster, namespace: string, name = 'checkout'): Promise<void> {
  await cluster.kubectl([
    '-n',
    namespace,
    'patch',
    `deploy/${name}`,
    '--type=json',
    '-p',
    JSON.stringify([{ op: 'replace', path: '/spec/template/spec/containers/0/args', value: ['crash'] }]),
  ]);
}

export async function onlyFix(cluster: Cluster, namespace: string): Promise<Remediation | undefined> {
  const fixes = await cluster.list<Remediation>('remediations.tapfix.dev', namespace);
  if (fixes.length > 1)
    throw new Error(`one Remediation expected, there are: ${fixes.map((fix) => fix.metadata.name).join(', ')}`);
  return fixes[0];
}

/** Its conditions in the order in which they came, for the message of a failed test. */
const lifeOf = (fix: Remediation | undefined): string =>
  (fix?.status?.conditions ?? [])
    .toSorted((a, b) => (a.lastTransitionTime < b.lastTransitionTime ? -1 : 1))
    .map(({ type, status, reason, message, lastTransitionTime }) =>
      [lastTransitionTime, type, status, reason, message].join(' '),
    )
    .join('\n');

export async function fixInPhase(
  cluster: Cluster,
  namespace: string,
  phase: string,
  timeoutMs: number,
): Promise<Remediation> {
  let last: Remediation | undefined;
  const probe = async (): Promise<Remediation | undefined> => {
    last = await onlyFix(cluster, namespace);
    const now = last?.status?.phase ?? 'absent';
    if (now !== phase && ['Failed', 'Expired', 'Recovered', 'Resolved', 'Rejected'].includes(now))
      throw new Error(`it is ${now}`);
    return now === phase ? last : undefined;
  };
  try {
    return await cluster.waitFor(`the Remediation in ${namespace} to be ${phase}`, probe, timeoutMs);
  } catch (error) {
    const pods = await cluster.kubectl(['-n', namespace, 'get', 'pods', '-o', 'wide']);
    throw new Error(`${(error as Error).message}\n${last?.status?.phase}\n${lifeOf(last)}\n${pods}`, { cause: error });
  }
}
