/** A cluster on paper: enough workloads that owners must be looked up, and enough events that counting matters. */
export const workloads = 200;
const podsEach = 3;
export const namespace = 'shop';

const uid = (kind: number, n: number): string => `${kind}0000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffix = (n: number): string => [0, 1, 2, 3, 4].map((at) => letters[Math.floor(n / 27 ** at) % 27]).join('');
const hash = (n: number): string => `${4 + (n % 6)}d9f8b6c4${'456789bcdf'[n % 10]}`;

const meta = (name: string, id: string, owner?: { apiVersion: string; kind: string; name: string; uid: string }) => ({
  name,
  namespace,
  uid: id,
  resourceVersion: '1',
  creationTimestamp: '2026-11-17T03:00:00Z',
  ...(owner && { ownerReferences: [{ ...owner, controller: true }] }),
});

const deploymentName = (n: number): string => `workload-${n}`;
const setName = (n: number): string => `${deploymentName(n)}-${hash(n)}`;
const podName = (n: number): string => `${setName(Math.floor(n / podsEach) % workloads)}-${suffix(n)}`;

export const pods = workloads * podsEach;

/** By plural and name; what an owner's look-up asks for. */
export function objectOf(plural: string, name: string): object | undefined {
  const n = Number(/^workload-(\d+)/.exec(name)?.[1] ?? Number.NaN);
  if (plural === 'deployments') return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: meta(name, uid(1, n)) };
  if (plural === 'replicasets') {
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: deploymentName(n), uid: uid(1, n) };
    return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: meta(name, uid(2, n), owner) };
  }
  if (plural === 'pods') {
    const at = Array.from({ length: pods }, (_, i) => i).find((i) => podName(i) === name);
    return at === undefined ? undefined : podOf(at, false);
  }
  if (plural === 'namespaces')
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { ...meta(name, uid(5, 0)), namespace: undefined } };
  return undefined;
}

export function podOf(n: number, ready: boolean): object {
  const set = Math.floor(n / podsEach) % workloads;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: setName(set), uid: uid(2, set) };
  const state = { running: { startedAt: '2026-11-17T03:00:05Z' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...meta(podName(n), uid(3, n), owner), labels: { app: deploymentName(set) } },
    spec: {
      nodeName: `node-${n % 50}`,
      containers: [{ name: 'app', image: 'shop/app:1', env: [{ name: 'A', value: 'b'.repeat(200) }] }],
    },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-11-17T03:00:06Z' }],
      containerStatuses: [
        { name: 'app', ready, restartCount: 0, state, lastState: {}, image: 'shop/app:1', imageID: 'x' },
      ],
    },
  };
}

/** A Warning of a kubelet, as it comes off the wire. */
export function eventOf(n: number): object {
  const pod = n % pods;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { ...meta(`${podName(pod)}.${n.toString(16)}`, uid(4, n)), resourceVersion: String(n + 10) },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: podName(pod), uid: uid(3, pod) },
    type: 'Warning',
    reason: 'BackOff',
    message: `Back-off restarting failed container app in pod ${podName(pod)}_${namespace}(${uid(3, pod)})`,
    source: { component: 'kubelet', host: 'node-1' },
    firstTimestamp: '2026-11-17T03:00:10Z',
    lastTimestamp: '2026-11-17T03:10:10Z',
    count: 12,
    reportingComponent: 'kubelet',
    reportingInstance: 'node-1',
  };
}
