import { sameValue } from '../lib/hash.ts';
import { clockTime } from '../lib/time.ts';
import type { KubeObject } from '../kube/api.ts';
import { timeMs, type PodTemplate } from '../kube/views.ts';
import type { Revision } from './workload.ts';

/** Who wrote the spec last, by the API server's own books. Status writers do not count. */
export function lastManager({ metadata }: KubeObject): string | undefined {
  const writers = (metadata.managedFields ?? []).filter(({ subresource }) => !subresource);
  const newest = writers.sort((a, b) => timeMs(b.time) - timeMs(a.time))[0];
  return newest?.manager;
}

/** "rollout 42 (kubectl-set): app image 1.41 → 1.42", newest first; empty when there was only ever one revision. */
export function lastRollout(object: KubeObject, revisions: readonly Revision[], timeZone: string): string[] {
  const [newest, previous] = revisions;
  if (!newest || !previous) return [];
  const manager = lastManager(object);
  const changes = templateChanges(previous.template, newest.template);
  const what = changes.length > 0 ? changes.join(', ') : 'pod template changed';
  const by = manager ? ` (${manager})` : '';
  return [
    `${clockTime(newest.view.createdAtMs, timeZone)} rollout ${newest.view.revision}${by}: ${what}`.slice(0, 512),
  ];
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
