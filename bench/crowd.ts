/** Many objects, each made from its number: pods that are gone, pods that are well, workloads that break at once. */
export const namespaces = Array.from({ length: 20 }, (_, n) => `team-${n}`);
export const namespaceOf = (n: number): string => namespaces[n % namespaces.length]!;

const uid = (kind: number, n: number): string => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffix = (n: number): string => [0, 1, 2, 3, 4].map((at) => letters[Math.floor(n / 27 ** at) % 27]).join('');
const hash = (n: number): string => `${4 + (n % 6)}d9f8b6c4${'456789bcdf'[n % 10]}`.replace(/^4/, '5');

interface Owned {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}
const meta = (namespace: string, name: string, id: string, owner?: Owned) => ({
  name,
  namespace,
  uid: id,
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-11-17T03:00:00Z',
  ...(owner && { ownerReferences: [{ ...owner, controller: true }] }),
});

const nameOf = (n: number, prefix: string): string => `${prefix}-${n}`;
const setName = (n: number, prefix: string): string => `${nameOf(n, prefix)}-${hash(n)}`;
const template = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { containers: [{ name: 'app', image: 'shop/app:1', env: [{ name: 'A', value: 'b'.repeat(200) }] }] },
});
/** Deployments of different prefixes are different objects. */
const number = (n: number, prefix: string): number => n + (prefix === 'storm' ? 1_000_000 : 0);

export function deploymentOf(n: number, replicas: number, prefix = 'storm'): object {
  const name = nameOf(n, prefix);
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      ...meta(namespaceOf(n), name, uid(1, number(n, prefix))),
      annotations: { 'deployment.kubernetes.io/revision': '1' },
    },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
    status:
      prefix === 'storm'
        ? { observedGeneration: 1, replicas, updatedReplicas: replicas, unavailableReplicas: replicas }
        : {
            observedGeneration: 1,
            replicas,
            updatedReplicas: replicas,
            readyReplicas: replicas,
            availableReplicas: replicas,
          },
  };
}

export function replicaSetOf(n: number, replicas: number, prefix = 'storm'): object {
  const name = nameOf(n, prefix);
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: uid(1, number(n, prefix)) };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      ...meta(namespaceOf(n), setName(n, prefix), uid(2, number(n, prefix)), owner),
      labels: { app: name, 'pod-template-hash': hash(n) },
      annotations: { 'deployment.kubernetes.io/revision': '1' },
    },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name) },
    status: { observedGeneration: 1, replicas },
  };
}

function podOf(n: number, name: string, set: number, prefix: string, isReady: boolean): object {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: setName(set, prefix),
    uid: uid(2, number(set, prefix)),
  };
  const running = { running: { startedAt: '2026-11-17T03:00:05Z' } };
  const waiting = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } };
  const times = { startedAt: '2026-11-17T03:09:00Z', finishedAt: '2026-11-17T03:09:05Z' };
  const lastState = { terminated: { exitCode: 1, reason: 'Error', ...times } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta(namespaceOf(set), name, uid(3, n), owner), labels: { app: nameOf(set, prefix) } },
    spec: { nodeName: `node-${n % 50}`, ...template('').spec },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: '2026-11-17T03:00:06Z' },
        { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-17T03:00:00Z' },
      ],
      containerStatuses: [
        {
          name: 'app',
          ready: isReady,
          restartCount: isReady ? 0 : 3,
          image: 'shop/app:1',
          imageID: 'x',
          ...(isReady ? { state: running, lastState: {} } : { state: waiting, lastState }),
        },
      ],
    },
  };
}

export const stormPodOf = (n: number, i: number): object =>
  podOf(n * 10 + i, `${setName(n, 'storm')}-${suffix(n * 10 + i)}`, n, 'storm', false);

/** Five pods each of workloads that nobody reads. The namespace is that of the pod's number. */
export function healthyPodOf(n: number): object {
  const set = (n % namespaces.length) + namespaces.length * Math.floor(n / (5 * namespaces.length));
  return podOf(2_000_000 + n, `${setName(set, 'well')}-${suffix(n)}`, set, 'well', true);
}

/** A Warning about a pod that is gone: one pod each, of 200 workloads of which a tenth still exists. */
export function goneEventOf(n: number): object {
  const workload = n % 200;
  const namespace = namespaceOf(workload);
  const name = `${setName(workload, 'shop')}-${suffix(n * 7 + 3)}`;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { ...meta(namespace, `${name}.${n.toString(16)}`, uid(4, n)), resourceVersion: String(n + 200) },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid: uid(5, n) },
    type: 'Warning',
    reason: 'BackOff',
    message: `Back-off restarting failed container app in pod ${name}_${namespace}(${uid(5, n)})`,
    source: { component: 'kubelet', host: 'node-1' },
    firstTimestamp: '2026-11-17T03:00:10Z',
    lastTimestamp: '2026-11-17T03:10:10Z',
    count: 12,
    reportingComponent: 'kubelet',
    reportingInstance: 'node-1',
  };
}
