import type { KubeObject } from '../../kube/api.ts';
import { arr, type Raw, specIn, statusIn, str } from '../../kube/raw.ts';
import { timeMs } from '../../kube/views.ts';
import { iso } from '../../lib/clock.ts';
import { counted } from '../../lib/counted.ts';
import { line } from '../../lib/plain.ts';

const pressures: Readonly<Record<string, string>> = {
  MemoryPressure: 'is short of memory',
  DiskPressure: 'is short of disk',
  PIDPressure: 'is short of process ids',
  NetworkUnavailable: 'has no network',
};

/** Pure. "kubelet stopped posting its status at 03:11:20Z; the node is short of disk" */
export function nodeInWords(node: KubeObject): string {
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
  if (ready['status'] === 'Unknown') return `kubelet has not posted its status${since}`;
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
