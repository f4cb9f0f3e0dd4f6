import type { Api, KubeObject } from '../kube/api.ts';
import { viewPod } from '../kube/views.ts';
import type { Clock } from '../lib/clock.ts';
import { runsAnnotation } from './shop.ts';
import { mustBecomeTrue } from './wait.ts';

interface Where {
  api: Api;
  namespace: string;
  clock: Clock;
  signal: AbortSignal;
}

interface Pod extends KubeObject {
  spec?: { containers?: { image?: string }[] };
}

/** Nobody waits longer than this for a container to stop. */
const stopMs = 120_000;

/**
 * One pod of a workload crashes from now on; its template, and so its siblings and its successor, stay as they are. Its
 * container starts with what an annotation says, which is changed; and it starts anew because its image, the one part of
 * a pod's containers that may be changed, is changed and changed back.
 */
export async function spoilPod({ api, namespace, clock, signal }: Where, app: string): Promise<void> {
  const [pod] = await api.list<Pod>('Pod', namespace, { labelSelector: `app=${app}` });
  const image = pod?.spec?.containers?.[0]?.image;
  if (!pod || !image) return;
  const ref = { kind: 'Pod', namespace, name: pod.metadata.name } as const;
  const setImage = (value: string) =>
    api.patch(ref, 'json', [{ op: 'replace', path: '/spec/containers/0/image', value }]);
  await api.patch(ref, 'merge', { metadata: { annotations: { [runsAnnotation]: 'false' } } });
  await setImage(`${image.replace(/@.*$/, '')}-none`);
  const isStopped = async (): Promise<boolean> => {
    const live = await api.get<Pod>(ref);
    return live === undefined || viewPod(live)?.containers[0]?.runningSinceMs === undefined;
  };
  await mustBecomeTrue(isStopped, { clock, signal, forMs: stopMs, else: `pod ${pod.metadata.name} still runs` });
  await setImage(image);
}
