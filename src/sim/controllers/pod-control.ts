import { type Api, ApiError, isNotFound, type KubeObject, type OwnerReference } from '../../kube/api.ts';
import { messageOf } from '../../lib/errors.ts';
import { type EventRecorder, refTo } from '../common/event-recorder.ts';
import { controllerRef } from '../common/pod-facts.ts';
import type { PodObject, Template } from '../common/shapes.ts';
import { refOf } from '../common/status-writing.ts';

/** The server's own message, not shortened. */
export const serverMessage = (error: unknown): string => (error instanceof ApiError ? error.message : messageOf(error));

/** Every creation fails in a namespace that is being deleted. That is neither reported nor retried. */
export const isNamespaceGoing = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 403 && error.message.includes('because it is being terminated');

export const ownerOf = ({ apiVersion = '', kind = '', metadata }: KubeObject): OwnerReference =>
  controllerRef(apiVersion, kind, metadata.name, metadata.uid);

/** The body of a pod of this template, with a generated or a given name. */
export const podOf = (owner: KubeObject, template: Template, name: { name: string } | { generateName: string }) => ({
  metadata: {
    ...name,
    ...(template.metadata?.labels && { labels: template.metadata.labels }),
    ...(template.metadata?.annotations && { annotations: template.metadata.annotations }),
    ownerReferences: [ownerOf(owner)],
  },
  spec: template.spec ?? {},
});

/** Creates and deletes pods for an owner, and records events about it. */
export function createPodControl(api: Api, recorder: EventRecorder) {
  return {
    /** Records an event on failure too, and throws the server's error. */
    async create(owner: KubeObject, body: object): Promise<PodObject> {
      try {
        const pod = await api.create<PodObject>({ kind: 'Pod', namespace: owner.metadata.namespace }, body);
        recorder.event(refTo(owner), 'Normal', 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
        return pod;
      } catch (error) {
        if (!isNamespaceGoing(error))
          recorder.event(refTo(owner), 'Warning', 'FailedCreate', `Error creating: ${serverMessage(error)}`);
        throw error;
      }
    },
    async remove(owner: KubeObject, pod: PodObject): Promise<void> {
      try {
        await api.delete(refOf('Pod', pod), { uid: pod.metadata.uid });
        recorder.event(refTo(owner), 'Normal', 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`);
      } catch (error) {
        if (isNotFound(error)) return;
        recorder.event(refTo(owner), 'Warning', 'FailedDelete', `Error deleting: ${serverMessage(error)}`);
        throw error;
      }
    },
  };
}

/** Runs one task, then two, then four at once and so on. Stops after a batch with a failure, and resolves to the first failure. */
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
