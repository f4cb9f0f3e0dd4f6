import type { ContainerView, PodView } from '../kube/views.ts';
import type { Signal } from './signal.ts';

const isCrashLooping = (container: ContainerView): boolean => container.waiting === 'CrashLoopBackOff';

/** "container app exited 1 after 0.3 s", the most that a container's status tells. */
export function howItEnded({ name, ended }: ContainerView): string {
  if (!ended) return `container ${name} does not stay up`;
  const word = ended.reason === 'OOMKilled' ? 'was killed for memory' : `exited ${ended.exitCode}`;
  return `container ${name} ${word} after ${(ended.uptimeMs / 1000).toFixed(ended.uptimeMs < 10_000 ? 1 : 0)} s`;
}

/** Pure. A pod that is being deleted is somebody's decision, not a failure. */
export function detectPod(pod: PodView): Signal | undefined {
  const looping = pod.deleting ? undefined : pod.containers.find(isCrashLooping);
  if (!looping) return undefined;
  return {
    class: 'CrashLoop',
    namespace: pod.namespace,
    object: { kind: 'Pod', name: pod.name, uid: pod.uid },
    reason: 'CrashLoopBackOff',
    message: howItEnded(looping),
  };
}
