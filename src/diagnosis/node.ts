import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import { isFinished } from '../health/loop.ts';
import { viewPod } from '../kube/views.ts';
import { workloadOf } from './pods.ts';
import { nodeInWords } from './words/node.ts';

export interface NodeFacts {
  /** One or two sentences about its conditions. */
  why: string;
  /** Namespace and workload of each pod on it; undefined when that may not be read. */
  pods: { namespace: string; workload: string }[] | undefined;
}

/** undefined: there is no such node any more. */
export async function readNode(reader: Reader, target: { name: string; uid: string }): Promise<NodeFacts | undefined> {
  const node = await reader.get<KubeObject>({ kind: 'Node', name: target.name });
  if (!node || (target.uid && node.metadata.uid !== target.uid)) return undefined;
  return { why: nodeInWords(node), pods: await readPodsOn(reader, target.name) };
}

async function readPodsOn(reader: Reader, name: string): Promise<NodeFacts['pods']> {
  try {
    const pods = await reader.list<KubeObject>('Pod', undefined, { fieldSelector: `spec.nodeName=${name}` });
    return pods.flatMap((raw) => {
      const pod = viewPod(raw);
      return !pod || isFinished(pod) ? [] : [{ namespace: pod.namespace, workload: workloadOf(raw) }];
    });
  } catch (error) {
    if (isForbidden(error)) return undefined; // rights in a few namespaces only
    throw error;
  }
}
