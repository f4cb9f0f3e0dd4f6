import { isFinished } from '../health/pod.ts';
import { ifForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { arr, type Raw, specIn, statusIn, str, timeMs } from '../kube/raw.ts';
import { viewPod } from '../kube/views.ts';
import { iso } from '../lib/clock.ts';
import { counted, line } from '../lib/text.ts';
import { workloadOf } from './pods.ts';

const pressures: Readonly<Record<string, string>> = {
  MemoryPressure: 'is short of memory',
  DiskPressure: 'is short of disk',
  PIDPressure: 'is short of process ids',
  NetworkUnavailable: 'has no network',
};

/** Pure. "kubelet stopped posting its status at 03:11:20Z; the node is short of disk" */
function nodeInWords(node: KubeObject): string {
  const conditions = arr(statusIn(node)['conditions']);
  const isTrue = (type: string): boolean => conditions.some((one) => one['type'] === type && one['status'] === 'True');
  const troubles = Object.entries(pressures).flatMap(([type, words]) => (isTrue(type) ? [words] : []));
  const cordoned = specIn(node)['unschedulable'] === true ? ['is cordoned'] : [];
  const also = [...troubles, ...cordoned];
  const ready = conditions.find(({ type }) => type === 'Ready');
  return [readyInWords(ready), ...(also.length > 0 ? [`the node ${also.join(' and ')}`] : [])].join('; ');
}

function readyInWords(ready: Raw | undefined): string {
  const sinceMs = timeMs(ready?.['lastTransitionTime']);
  const since = sinceMs > 0 ? ` since ${iso(sinceMs)}` : '';
  if (!ready) return 'the node has not reported its status yet';
  if (ready['status'] === 'True') return `the node is ready${since}`;
  if (ready['status'] === 'Unknown') return `kubelet has been silent${since}`;
  const said = line(str(ready['message']), 240);
  return `kubelet says that it is not ready${since}${said ? `: ${said}` : ''}`;
}

const mostNamed = 6;

/** Pure. "20 pods of 7 workloads: shop/api 4, shop/web 3 and 5 others"; the most pods first. */
export function podsOnInWords(pods: readonly { namespace: string; workload: string }[]): string {
  const counts = [
    ...Map.groupBy(pods, ({ namespace, workload }) => `${namespace}/${workload.slice(workload.indexOf('/') + 1)}`),
  ].map(([name, some]) => ({ name, count: some.length }));
  counts.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  const others = counts.length > mostNamed ? ` and ${counts.length - mostNamed} others` : '';
  const named = counts.slice(0, mostNamed).map(({ name, count }) => `${name} ${count}`);
  return `${counted(pods.length, 'pod')} of ${counted(counts.length, 'workload')}: ${named.join(', ')}${others}`;
}

interface NodeFacts {
  /** One or two sentences about its conditions. */
  why: string;
  /** Namespace and workload of each pod on it; undefined when that may not be read. */
  pods: { namespace: string; workload: string }[] | undefined;
}

/** undefined if the node no longer exists. */
export async function readNode(reader: Reader, target: { name: string; uid: string }): Promise<NodeFacts | undefined> {
  const node = await reader.get<KubeObject>({ kind: 'Node', name: target.name });
  if (!node || (target.uid && node.metadata.uid !== target.uid)) return undefined;
  return { why: nodeInWords(node), pods: await readPodsOn(reader, target.name) };
}

async function readPodsOn(reader: Reader, name: string): Promise<NodeFacts['pods']> {
  const fieldSelector = `spec.nodeName=${name}`;
  // Forbidden where tapfix has rights in a few namespaces only.
  const pods = await reader.list<KubeObject>('Pod', undefined, { fieldSelector }).catch(ifForbidden(undefined));
  return pods?.flatMap((raw) => {
    const pod = viewPod(raw);
    return !pod || isFinished(pod) ? [] : [{ namespace: pod.namespace, workload: workloadOf(raw) }];
  });
}
