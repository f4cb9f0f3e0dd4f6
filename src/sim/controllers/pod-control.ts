import { type Api, ApiError, isNotFound, type KubeObject, type OwnerReference } from '../../kube/api.ts';
import { messageOf } from '../../lib/errors.ts';
import { refOf } from '../common/patch.ts';
import { controllerRef } from '../common/pods.ts';
import { type Recorder, refTo } from '../common/recorder.ts';
import type { PodObject, Template } from '../common/shapes.ts';

/** The server's own words, not shortened. */
export const wordsOf = (error: unknown): string => (error instanceof ApiError ? error.message : messageOf(error));

/** All creations fail in a namespace that is going: nothing to say, nothing to try again. */
export const isNamespaceGoing = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 403 && error.message.includes('because it is being terminated');

export const ownerOf = ({ apiVersion = '', kind = '', metadata }: KubeObject): OwnerReference =>
  controllerRef(apiVersion, kind, metadata.name, metadata.uid);

/** A pod of this template; `generateName` or a name of its own. */
export const podOf = (owner: KubeObject, template: Template, name: { name: string } | { generateName: string }) => ({
  metadata: {
    ...name,
    ...(template.metadata?.labels && { labels: template.metadata.labels }),
    ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
    ownerReferences: [ownerOf(owner)],
  },
  spec: template.spec ?? {},
});

/** Creates and deletes pods for an owner, and says so in its events. */
export function createPodControl(api: Api, recorder: Recorder) {
  return {
    /** Throws what the server said, after an event that says it too. */
    async create(owner: KubeObject, body: object): Promise<PodObject> {
      try {
        const pod = await api.create<PodObject>({ kind: 'Pod', namespace: owner.metadata.namespace }, body);
        recorder.event(refTo(owner), 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
        return pod;
      } catch (error) {
        if (!isNamespaceGoing(error))
          recorder.event(refTo(owner), 'Warning', 'FailedCreate', `Error creating: ${wordsOf(error)}`);
        throw error;
      }
    },
    async remove(owner: KubeObject, pod: PodObject): Promise<void> {
      try {
        await api.delete(refOf('Pod', pod), { uid: pod.metadata.uid });
        recorder.event(refTo(owner), 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
      } catch (error) {
        if (isNotFound(error)) return;
        recorder.event(refTo(owner), 'Warning', 'FailedDelete', `Error deleting: ${wordsOf(error)}`);
        throw error;
      }
    },
  };
}

/** One, then two, then four at once...; a batch with a failure is the last. Resolves to the first failure. */
export async function inSlowStart(count: number, work: (index: number) => Promise<unknown>): Promise<unknown> {
  let done = 0;
  for (let batch = 1; done < count; batch *= 2) {
    const size = Math.min(batch, count - done);
    const results = await Promise.allSettled(Array.from({ length: size }, (_, index) => work(done + index)));
    done += size;
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) return failed.reason;
  }
  return undefined;
}
