import { iso } from '../lib/clock.ts';
import { sameValue } from '../lib/hash.ts';
import type { KubeObject } from '../kube/api.ts';
import { timeMs, type PodTemplate } from '../kube/views.ts';
import type { Revision } from './workload.ts';

export interface Change {
  by: string;
  atMs: number;
}

/** Who wrote this part of the object last, and when. Who only annotated or scaled it, or wrote its status, does not count. */
export function lastWriterOf({ metadata }: KubeObject, path: readonly string[]): Change | undefined {
  const writers = (metadata.managedFields ?? []).filter(
    ({ subresource, fieldsV1 }) => !subresource && owns(fieldsV1, path),
  );
  const newest = writers.sort((a, b) => timeMs(b.time) - timeMs(a.time))[0];
  return newest?.manager ? { by: newest.manager, atMs: timeMs(newest.time) } : undefined;
}

const owns = (fields: unknown, path: readonly string[]): boolean =>
  path.reduce<unknown>((node, field) => (node as Record<string, unknown> | undefined)?.[`f:${field}`], fields) !==
  undefined;

/** "rollout 42 (kubectl-set): app image 1.41 → 1.42"; empty when there was only ever one revision. */
export function lastRollout(object: KubeObject, revisions: readonly Revision[]): string[] {
  const [newest, previous] = revisions;
  if (!newest || !previous) return [];
  const writer = lastWriterOf(object, ['spec', 'template']);
  // An undo takes up an old ReplicaSet again: when it was created says nothing about this rollout.
  const atMs = writer?.atMs || newest.view.createdAtMs;
  const changes = templateChanges(previous.template, newest.template);
  const what = changes.length > 0 ? changes.join(', ') : 'pod template changed';
  const by = writer ? ` (${writer.by})` : '';
  return [`${iso(atMs)} rollout ${newest.view.revision}${by}: ${what}`.slice(0, 512)];
}

interface Container {
  name: string;
  image?: string;
  [field: string]: unknown;
}

/** Pure: what differs between two pod templates, in a few words each. */
export function templateChanges(before: PodTemplate, after: PodTemplate): string[] {
  const old = new Map(((before.spec?.containers ?? []) as Container[]).map((container) => [container.name, container]));
  const now = (after.spec?.containers ?? []) as Container[];
  const removed = [...old.keys()].filter((name) => !now.some((container) => container.name === name));
  const kept = now.flatMap((container) => {
    const was = old.get(container.name);
    if (!was) return [`container ${container.name} added`];
    const changes: string[] = [];
    if (was.image !== container.image) changes.push(`${container.name} image ${shortest(was.image, container.image)}`);
    for (const field of [
      'command',
      'args',
      'env',
      'envFrom',
      'resources',
      'readinessProbe',
      'livenessProbe',
      'volumeMounts',
    ])
      if (!sameValue(was[field], container[field])) changes.push(`${container.name} ${field} changed`);
    return changes;
  });
  return [...kept, ...removed.map((name) => `container ${name} removed`)];
}

/** "1.41 → 1.42" when only the tag differs, else both in full. */
function shortest(before = '(none)', after = '(none)'): string {
  const [oldName, oldTag] = splitTag(before);
  const [newName, newTag] = splitTag(after);
  return oldName === newName && oldTag && newTag ? `${oldTag} → ${newTag}` : `${before} → ${after}`;
}

function splitTag(image: string): [string, string] {
  const at = image.lastIndexOf(':');
  return at > image.lastIndexOf('/') ? [image.slice(0, at), image.slice(at + 1)] : [image, ''];
}
