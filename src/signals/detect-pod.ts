import { isFinished } from '../health/loop.ts';
import { podTroubles } from '../health/pod.ts';
import type { PodView } from '../kube/views.ts';
import { type Signal, signalsOf } from './signal.ts';
import { nothingKnown, type PlacedPod, type Surroundings } from './surroundings.ts';

/** Of a pod whose node is down nothing else is worth saying, also when it is being deleted. */
export function downWithItsNode(pod: Omit<PlacedPod, 'node'>, node: string): Signal {
  const said = { reason: 'NodeNotReady', message: `its node ${node} is not ready` };
  return signalsOf('Pod', pod, [{ class: 'NodeDown', cause: { kind: 'Node', name: node }, ...said }])[0]!;
}

/** Pure. What a pod's status says is wrong (health/pod.ts has which troubles there are, and when they begin), and who is to blame. */
export function detectPod(pod: PodView, nowMs: number, around: Surroundings = nothingKnown): Signal[] {
  const { node } = pod;
  if (node !== undefined && !isFinished(pod) && around.isDownWithItsNode(pod)) return [downWithItsNode(pod, node)];
  const troubles = podTroubles(pod, nowMs).map((trouble) => {
    const claim = trouble.cause?.kind === 'PersistentVolumeClaim' ? trouble.cause.name : undefined;
    const missing = claim === undefined ? undefined : around.missingClassOf(pod.namespace, claim);
    return missing === undefined ? trouble : { ...trouble, cause: { kind: 'StorageClass', name: missing } };
  });
  return signalsOf('Pod', pod, troubles);
}
