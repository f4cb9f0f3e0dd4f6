import type { KubeObject, Reader } from '../kube/api.ts';
import { podFacts, workloadOf } from './pods.ts';
import type { InUse } from './words/closest-image.ts';

/** The images that run in a namespace at this moment, and what they run in. */
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
