import { randomUUID } from 'node:crypto';
import { type Api, isNotFound, type KubeObject, type Reader, type Writer } from '../kube/api.ts';
import { viewDeployment } from '../kube/views.ts';
import type { Clock } from '../lib/clock.ts';

/** Where a demo plays: the simulated cluster, or a real one. The shop is what runs there. */
export interface DemoStage {
  /** "a simulated cluster inside this program": the first sentence of the demo. */
  readonly where: string;
  /** The cluster's name on the cards. */
  readonly cluster: string;
  /** For the demo's own calls. The API server records them under another name than tapfix's. */
  readonly api: Api;
  readonly tapfixApi: Api;
  /** The user who approves. */
  readonly identity: string;
  /** The shop's namespace. */
  readonly namespace: string;
  /** The one container of a workload's pods; the bad version crashes. */
  container(app: string, version: 'good' | 'bad'): object;
  /** An image reference that nobody can pull. */
  noImage(app: string, n: number): string;
  /** Makes one pod of a workload crash from now on, and no other. */
  spoilPod(app: string, clock: Clock, signal: AbortSignal): Promise<void>;
  /** Removes everything that was put there, and prints what it removes. */
  close(print: (text: string) => void): Promise<void>;
}

/** The workloads that run while nothing is wrong. */
export const shop = [
  { name: 'checkout', replicas: 3 },
  { name: 'api', replicas: 3 },
  { name: 'web', replicas: 2 },
] as const;

/** On a pod: the program that its container starts. */
export const runsAnnotation = 'tapfix.dev/demo-runs';

const deploymentOf = (stage: DemoStage, { name, replicas }: (typeof shop)[number]): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    // A new version replaces all pods at once, so a bad one shows at once.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%', maxSurge: 0 } },
    template: {
      metadata: { labels: { app: name }, annotations: { [runsAnnotation]: 'sleep' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [stage.container(name, 'good')] },
    },
  },
});

export async function openShop(stage: DemoStage): Promise<void> {
  for (const part of shop)
    await stage.api.create({ kind: 'Deployment', namespace: stage.namespace }, deploymentOf(stage, part));
}

/** How many pods of a workload are ready. */
export interface ShopPart {
  name: string;
  ready: number;
  desired: number;
}

export async function readShop(api: Reader, namespace: string): Promise<ShopPart[]> {
  const deployments = await api.list<KubeObject>('Deployment', namespace);
  return deployments.flatMap((object) => {
    const view = viewDeployment(object);
    const isCaughtUp = view !== undefined && view.observedGeneration >= view.generation;
    return view ? [{ name: view.name, ready: isCaughtUp ? view.available : 0, desired: view.desired }] : [];
  });
}

export const isHealthy = (parts: readonly ShopPart[]): boolean =>
  parts.length > 0 && parts.every(({ ready, desired }) => ready >= desired);

/** "api 3/3, checkout 3/3, web 2/2" */
export const readyCounts = (parts: readonly ShopPart[]): string =>
  parts.map(({ name, ready, desired }) => `${name} ${ready}/${desired}`).join(', ');

/** Deletes pods, as the maintenance of a node would. Their owners make new ones if they may. */
export async function losePods(api: Reader & Writer, namespace: string, app: string, most: number): Promise<void> {
  const pods = await api.list<KubeObject>('Pod', namespace, { labelSelector: `app=${app}` });
  for (const { metadata } of pods.slice(0, most)) await deletePod(api, namespace, metadata.name);
}

/** A pod that is gone already is no error: its owner may have been faster. */
export async function deletePod(api: Writer, namespace: string, name: string): Promise<void> {
  await api.delete({ kind: 'Pod', namespace, name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** Changes an annotation of each ReplicaSet. Its controller looks at it again at once, and so does everybody who watches. */
export async function touchReplicaSets(api: Reader & Writer, namespace: string): Promise<void> {
  const touched = { metadata: { annotations: { 'tapfix.dev/demo': randomUUID() } } };
  for (const { metadata } of await api.list<KubeObject>('ReplicaSet', namespace))
    await api.patch({ kind: 'ReplicaSet', namespace, name: metadata.name }, 'merge', touched);
}
