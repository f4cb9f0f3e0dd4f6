import type { KubeObject, Reader } from '../kube/api.ts';
import { arr, beginning, controllerOf, obj, type Raw, specIn, statusIn, str, timeMs } from '../kube/raw.ts';
import { type ContainerView, type PodView, viewPod } from '../kube/views.ts';
import { quantity } from '../lib/quantity.ts';
import type { InUse } from './words/images.ts';
import type { Workload } from './workload.ts';

const requestsOf = (container: Raw): [string, string][] =>
  Object.entries(obj(obj(container['resources'])['requests'])).map(([name, amount]) => [name, String(amount)]);

const isSidecar = (container: Raw): boolean => container['restartPolicy'] === 'Always';

/**
 * Pure. The requests of a pod to a node, by resource: the sum of its containers, or the largest request of a container
 * that runs before them. If only one container requests a resource, its own notation is kept.
 */
export function asksOf(spec: Raw): Map<string, string> {
  const init = arr(spec['initContainers']);
  const together = sumOf([...arr(spec['containers']), ...init.filter(isSidecar)]);
  for (const container of init.filter((one) => !isSidecar(one)))
    for (const [name, amount] of requestsOf(container))
      if ((quantity(amount) ?? 0) > (quantity(together.get(name) ?? '0') ?? 0)) together.set(name, amount);
  const whole = obj(obj(spec['resources'])['requests']); // for the pod as a whole, if set
  return new Map([...together, ...Object.entries(whole).map(([name, amount]) => [name, String(amount)] as const)]);
}

function sumOf(containers: readonly Raw[]): Map<string, string> {
  const amounts = Map.groupBy(containers.flatMap(requestsOf), ([name]) => name);
  return new Map(
    [...amounts].map(([name, asked]) => [
      name,
      totalOf(
        name,
        asked.map(([, amount]) => amount),
      ),
    ]),
  );
}

function totalOf(resource: string, amounts: readonly string[]): string {
  const [only, ...others] = amounts.filter((amount) => quantity(amount) !== 0);
  if (only === undefined || others.length === 0) return only ?? '0';
  return amountInWords(
    resource,
    amounts.reduce((sum, amount) => sum + (quantity(amount) ?? 0), 0),
  );
}

const bytes: ReadonlySet<string> = new Set(['memory', 'ephemeral-storage', 'storage']);

/** 1.5, 1536Mi, 2Gi: as a person would write it. */
function amountInWords(resource: string, amount: number): string {
  if (!bytes.has(resource)) return String(Number(amount.toFixed(3)));
  const [Mi, Gi] = [2 ** 20, 2 ** 30];
  if (amount >= Gi && amount % Gi === 0) return `${amount / Gi}Gi`;
  return amount >= Mi ? `${Number((amount / Mi).toFixed(1))}Mi` : `${Math.round(amount)}`;
}

/** Facts about a container that only a diagnosis needs. */
export interface ContainerFacts {
  state: ContainerView;
  /** As it is written in the pod. */
  image: string;
  /** "256Mi"; empty if it has none. */
  memoryLimit: string;
  /** Its termination message, if that is not simply its log. */
  lastWords: string;
  /** The kubelet's record of its end, whoever wrote it; may be its log, which must not be shown. */
  ending: string;
  /** The program that it is told to run, if its template says so: a path or a name, never its arguments. */
  program: string;
}

export interface PodFacts {
  pod: PodView;
  /** The revision of its owner, from the label that the owner set: pods with the same one run the same. */
  revision: string;
  asks: ReadonlyMap<string, string>;
  createdAtMs: number;
  containers: ContainerFacts[];
}

const selectorOf = ({ object }: Workload): string =>
  Object.entries(obj(obj(specIn(object)['selector'])['matchLabels']))
    .map(([key, value]) => `${key}=${str(value)}`)
    .join(',');

/** The pods of a workload again, with the fields that the slim views omit. Through `createOnce` this costs nothing. */
export async function readPods(reader: Reader, workload: Workload): Promise<PodFacts[]> {
  if (workload.parts) return (await Promise.all(workload.parts.map((part) => readPods(reader, part.workload)))).flat();
  const { kind, metadata } = workload.object;
  const known = new Set(workload.pods.map(({ uid }) => uid));
  const raws =
    kind === 'Pod'
      ? [workload.object]
      : await reader.list<KubeObject>('Pod', metadata.namespace, { labelSelector: selectorOf(workload) });
  const all = raws.filter((raw) => known.has(raw.metadata.uid)).flatMap((raw) => podFacts(raw) ?? []);
  return all.map((facts) => withPrograms(facts, workload));
}

/** A list of pods does not keep their commands (kube/bounds.ts), but the template that they were made of has them. */
function withPrograms(facts: PodFacts, { object, revisions }: Workload): PodFacts {
  const job = obj(obj(specIn(object)['jobTemplate'])['spec']);
  const revision = revisions.find(({ view }) => view.uid === facts.pod.owner?.uid);
  const spec = obj(revision?.template.spec ?? obj(specIn(object)['template'] ?? job['template'])['spec']);
  const specs = [...arr(spec['initContainers']), ...arr(spec['containers'])];
  const programIn = (name: string): string => programOf(specs.find((one) => one['name'] === name) ?? {});
  const containers = facts.containers.map((one) => ({ ...one, program: one.program || programIn(one.state.name) }));
  return { ...facts, containers };
}

/** Pure. */
function podFacts(object: KubeObject): PodFacts | undefined {
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
    createdAtMs: timeMs(object.metadata.creationTimestamp),
    containers: pod.containers.map((state) => {
      const named = (one: Raw): boolean => one['name'] === state.name;
      return containerFacts(state, specs.find(named) ?? {}, statuses.find(named) ?? {});
    }),
  };
}

function containerFacts(state: ContainerView, spec: Raw, status: Raw): ContainerFacts {
  const ended = obj(obj(status['state'])['terminated'] ?? obj(status['lastState'])['terminated']);
  // With this policy kubelet puts the end of the log there, which may be shown only where logs may.
  const isLog = spec['terminationMessagePolicy'] === 'FallbackToLogsOnError';
  return {
    state,
    image: str(spec['image']) || str(status['image']),
    memoryLimit: String(obj(obj(spec['resources'])['limits'])['memory'] ?? ''),
    lastWords: isLog ? '' : beginning(ended['message'], 2048),
    ending: beginning(ended['message'], 4096),
    program: programOf(spec),
  };
}

const isProgram = (word: string): boolean => /^[\w./+-]{1,80}$/.test(word);
const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'ash', 'dash']);

/** For `sh -c "exec shpo --serve"` that is `shpo`. A script of several commands has no single program. */
function programOf(spec: Raw): string {
  const words = [spec['command'], spec['args']].flatMap((list) => (Array.isArray(list) ? list.map(str) : []));
  if (!Array.isArray(spec['command'])) return '';
  const [first = '', flag, script = ''] = words;
  if (!shells.has(first.slice(first.lastIndexOf('/') + 1)) || flag !== '-c') return isProgram(first) ? first : '';
  const [, program = ''] = /^\s*(?:exec\s+)?([\w./+-]{1,80})(?:\s[^;&|`$()<>\n]*)?$/.exec(script) ?? [];
  return program;
}

/** "Deployment/api": the workload that a person would name, as far as the pod itself shows it. */
export function workloadOf({ metadata }: KubeObject): string {
  const owner = controllerOf(metadata);
  if (!owner) return `Pod/${metadata.name}`;
  const hash = metadata.labels?.['pod-template-hash'];
  const isDeployment = owner.kind === 'ReplicaSet' && hash && owner.name.endsWith(`-${hash}`);
  return isDeployment ? `Deployment/${owner.name.slice(0, -hash.length - 1)}` : `${owner.kind}/${owner.name}`;
}

/** The images that run in a namespace now, and the workloads that use them. */
export async function readImagesInUse(reader: Reader, namespace: string): Promise<InUse[]> {
  const pods = await reader.list<KubeObject>('Pod', namespace);
  return pods.flatMap((raw) => {
    const facts = podFacts(raw);
    if (!facts || facts.pod.deleting) return [];
    const workload = workloadOf(raw).replace(/^[^/]*\//, '');
    const running = facts.containers.filter(({ state, image }) => state.ready && image);
    return running.map(({ image }) => ({ image, workload }));
  });
}
