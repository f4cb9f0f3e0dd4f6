import { crashInWords, isFinished, isLooping } from '../health/loop.ts';
import type { PodView } from '../kube/views.ts';
import type { Signal } from './signal.ts';

/** Pure. A pod that is being deleted is somebody's decision, not a failure. */
export function detectPod(pod: PodView): Signal | undefined {
  const looping = pod.deleting || isFinished(pod) ? undefined : pod.containers.find(isLooping);
  if (!looping) return undefined;
  return {
    class: 'CrashLoop',
    namespace: pod.namespace,
    object: { kind: 'Pod', name: pod.name, uid: pod.uid },
    reason: 'CrashLoopBackOff',
    message: crashInWords(looping),
  };
}
