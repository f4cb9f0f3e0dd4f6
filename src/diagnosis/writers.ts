import type { KubeObject, ManagedFields } from '../kube/api.ts';
import { obj } from '../kube/raw.ts';
import { timeMs } from '../kube/views.ts';

/* Who changed what, when: the API server's own books (managedFields). They tell when a writer last changed any of its fields. */

export interface Writer {
  by: string;
  atMs: number;
}

const fieldsOf = (entry: ManagedFields, path: readonly string[]): unknown =>
  path.reduce<unknown>((node, field) => obj(node)[`f:${field}`], entry.fieldsV1);

const owns = (entry: ManagedFields, path: readonly string[]): boolean => fieldsOf(entry, path) !== undefined;

function newestOf({ metadata }: KubeObject, isMeant: (entry: ManagedFields) => boolean): ManagedFields | undefined {
  const all = Array.isArray(metadata.managedFields) ? metadata.managedFields : [];
  return all.filter((entry) => entry.manager && isMeant(entry)).sort((a, b) => timeMs(b.time) - timeMs(a.time))[0];
}

const writerIn = (entry: ManagedFields | undefined): Writer | undefined =>
  entry && { by: entry.manager ?? '', atMs: timeMs(entry.time) };

/** Who wrote this part of the object last, and when. Who only annotated or scaled it, or wrote its status, does not count. */
export const lastWriterOf = (object: KubeObject, path: readonly string[]): Writer | undefined =>
  writerIn(newestOf(object, (entry) => !entry.subresource && owns(entry, path)));

/**
 * Who scaled it last. Who owns the pod template as well (an apply of the whole object) may have changed anything else at
 * that time: then nobody knows.
 */
export function lastScalerOf(object: KubeObject): Writer | undefined {
  const entry = newestOf(object, (one) => one.subresource !== 'status' && owns(one, ['spec', 'replicas']));
  if (!entry || owns(entry, ['spec', 'template'])) return undefined;
  const isAutoscaler = entry.manager === 'kube-controller-manager' && entry.subresource === 'scale';
  return { by: isAutoscaler ? 'an autoscaler' : (entry.manager ?? ''), atMs: timeMs(entry.time) };
}

/** Who changed anything else of the spec. */
export function lastEditorOf(object: KubeObject): Writer | undefined {
  const isEdit = (entry: ManagedFields): boolean =>
    !entry.subresource &&
    Object.keys(obj(fieldsOf(entry, ['spec']))).some((field) => field !== 'f:template' && field !== 'f:replicas');
  return writerIn(newestOf(object, isEdit));
}

/** The API server's books have whole seconds, and whoever creates something is no later editor of it. */
const sameMomentMs = 1_000;

export const wasLater = ({ atMs }: Writer, { metadata }: KubeObject): boolean =>
  atMs > timeMs(metadata.creationTimestamp) + sameMomentMs;
