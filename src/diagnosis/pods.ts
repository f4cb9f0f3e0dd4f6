import type { KubeObject, Reader } from '../kube/api.ts';
import { arr, beginning, obj, type Raw, specIn, statusIn, str } from '../kube/raw.ts';
import { type ContainerView, controllerOf, type PodView, viewPod } from '../kube/views.ts';
import { asksOf } from './words/amounts.ts';
import type { Workload } from './workload.ts';

/** What only a diagnosis wants to know of a container. */
export interface ContainerFacts {
  state: ContainerView;
  /** As the pod names it. */
  image: string;
  /** "256Mi"; empty when it has none. */
  memoryLimit: string;
  /** What it left in its termination message, if that is not simply its log. */
  lastWords: string;
}

export interface PodFacts {
  pod: PodView;
  /** Which revision of its owner it is of, as its owner labelled it: pods with the same one run the same. */
  revision: string;
  asks: ReadonlyMap<string, string>;
  containers: ContainerFacts[];
}

const selectorOf = ({ object }: Workload): string =>
  Object.entries(obj(obj(specIn(object)['selector'])['matchLabels']))
    .map(([key, value]) => `${key}=${str(value)}`)
    .join(',');

/** The pods of a workload once more, with what the slim views leave out. Through `createOnce` this costs nothing. */
export async function readPods(reader: Reader, workload: Workload): Promise<PodFacts[]> {
  if (workload.parts) return (await Promise.all(workload.parts.map((part) => readPods(reader, part.workload)))).flat();
  const { kind, metadata } = workload.object;
  const known = new Set(workload.pods.map(({ uid }) => uid));
  const raws =
    kind === 'Pod'
      ? [workload.object]
      : await reader.list<KubeObject>('Pod', metadata.namespace, { labelSelector: selectorOf(workload) });
  return raws.filter((raw) => known.has(raw.metadata.uid)).flatMap((raw) => podFacts(raw) ?? []);
}

/** Pure. */
export function podFacts(object: KubeObject): PodFacts | undefined {
  const pod = viewPod(object);
  if (!pod) return undefined;
  const [spec, status] = [specIn(object), statusIn(object)];
  const specs = [...arr(spec['initContainers']), ...arr(spec['containers'])];
  const statuses = [...arr(status['initContainerStatuses']), ...arr(status['containerStatuses'])];
  const labels = obj(object.metadata.labels);
  return {
    pod,
    revision: str(labels['pod-template-hash']) || str(labels['controller-revision-hash']),
    asks: asksOf(spec),
    containers: pod.containers.map((state) => {
      const named = (one: Raw): boolean => one['name'] === state.name;
      return containerFacts(state, specs.find(named) ?? {}, statuses.find(named) ?? {});
    }),
  };
}

function containerFacts(state: ContainerView, spec: Raw, status: Raw): ContainerFacts {
  const ended = obj(obj(status['state'])['terminated'] ?? obj(status['lastState'])['terminated']);
  // With this policy kubelet puts the end of the log there: that is shown only where logs are.
  const isLog = spec['terminationMessagePolicy'] === 'FallbackToLogsOnError';
  return {
    state,
    image: str(spec['image']) || str(status['image']),
    memoryLimit: String(obj(obj(spec['resources'])['limits'])['memory'] ?? ''),
    lastWords: isLog ? '' : beginning(ended['message'], 2048),
  };
}

/** "Deployment/api": what a person would name, as far as the pod itself says it. */
export function workloadOf({ metadata }: KubeObject): string {
  const owner = controllerOf(metadata);
  if (!owner) return `Pod/${metadata.name}`;
  const hash = metadata.labels?.['pod-template-hash'];
  const isDeployment = owner.kind === 'ReplicaSet' && hash && owner.name.endsWith(`-${hash}`);
  return isDeployment ? `Deployment/${owner.name.slice(0, -hash.length - 1)}` : `${owner.kind}/${owner.name}`;
}
