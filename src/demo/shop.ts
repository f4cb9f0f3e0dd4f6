import { isNotFound, type KubeObject, type Reader, type Writer } from '../kube/api.ts';
import { viewDeployment } from '../kube/views.ts';
import type { Stage } from './stage.ts';

/** The shop: what runs while nothing is wrong. */
export const shop = [
  { name: 'checkout', replicas: 3 },
  { name: 'api', replicas: 3 },
  { name: 'web', replicas: 2 },
] as const;

/** On a pod: the program that its container starts with. */
export const runsAnnotation = 'tapfix.dev/demo-runs';

export const deploymentOf = (stage: Stage, { name, replicas }: (typeof shop)[number]): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    // A new version replaces all pods at once: what is wrong with it shows at once as well.
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%', maxSurge: 0 } },
    template: {
      metadata: { labels: { app: name }, annotations: { [runsAnnotation]: 'sleep' } },
      spec: { terminationGracePeriodSeconds: 1, containers: [stage.container(name, 'good')] },
    },
  },
});

export async function openShop(stage: Stage): Promise<void> {
  for (const part of shop)
    await stage.api.create({ kind: 'Deployment', namespace: stage.namespace }, deploymentOf(stage, part));
}

export interface Ready {
  name: string;
  ready: number;
  desired: number;
}

export async function readShop(api: Reader, namespace: string): Promise<Ready[]> {
  const deployments = await api.list<KubeObject>('Deployment', namespace);
  return deployments.flatMap((object) => {
    const view = viewDeployment(object);
    const isCaughtUp = view !== undefined && view.observedGeneration >= view.generation;
    return view ? [{ name: view.name, ready: isCaughtUp ? view.available : 0, desired: view.desired }] : [];
  });
}

export const isOpen = (parts: readonly Ready[]): boolean =>
  parts.length > 0 && parts.every(({ ready, desired }) => ready >= desired);

/** "api 3/3, checkout 3/3, web 2/2" */
export const inWords = (parts: readonly Ready[]): string =>
  parts.map(({ name, ready, desired }) => `${name} ${ready}/${desired}`).join(', ');

/** As a node that goes down for maintenance would: their owners make new ones, if they may. */
export async function losePods(api: Reader & Writer, namespace: string, app: string, most: number): Promise<void> {
  const pods = await api.list<KubeObject>('Pod', namespace, { labelSelector: `app=${app}` });
  for (const { metadata } of pods.slice(0, most)) await deletePod(api, namespace, metadata.name);
}

/** Its owner may be faster. */
export async function deletePod(api: Writer, namespace: string, name: string): Promise<void> {
  await api.delete({ kind: 'Pod', namespace, name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}
