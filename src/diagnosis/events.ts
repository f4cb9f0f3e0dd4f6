import { refusalsIn, refusalsOf } from '../health/refusals.ts';
import type { KubeObject, Reader } from '../kube/api.ts';
import { controllerOf } from '../kube/raw.ts';
import { type EventView, viewEvent } from '../kube/views.ts';
import type { Workload } from './workload.ts';

/** client-go puts this before a message that it has repeated ten times. */
const combined = /^\(combined from similar events\): /;

/** Sorted, newest first. */
export async function listEvents(reader: Reader, namespace: string, fieldSelector: string): Promise<EventView[]> {
  const events = await reader.list<KubeObject>('Event', namespace, { fieldSelector });
  return events.flatMap((event) => viewEvent(event) ?? []).sort((a, b) => b.lastSeenMs - a.lastSeenMs);
}

/** The Events with one of these reasons about one of these objects, newest first, each message without its preamble. */
export async function readEvents(
  reader: Reader,
  namespace: string,
  reasons: readonly string[],
  uids: Iterable<string>,
): Promise<EventView[]> {
  const meant = new Set(uids);
  const lists = await Promise.all(reasons.map((reason) => listEvents(reader, namespace, `reason=${reason}`)));
  return lists
    .flat()
    .filter(({ object }) => meant.has(object.uid))
    .map((event) => ({ ...event, message: event.message.replace(combined, '') }))
    .sort((a, b) => b.lastSeenMs - a.lastSeenMs || (a.name < b.name ? -1 : 1));
}

/** The Jobs of a CronJob create pods on its behalf. */
async function readJobs(reader: Reader, { kind, metadata }: KubeObject): Promise<string[]> {
  if (kind !== 'CronJob') return [];
  const jobs = await reader.list<KubeObject>('Job', metadata.namespace);
  return jobs.filter((job) => controllerOf(job.metadata)?.uid === metadata.uid).map((job) => job.metadata.uid);
}

/** The messages with which a workload's pods are refused, newest first. */
export async function readRefusals(reader: Reader, workload: Workload): Promise<string[]> {
  const { object, revisions, parts, deployment } = workload;
  if (parts) return (await Promise.all(parts.map((part) => readRefusals(reader, part.workload)))).flat();
  const { namespace = '', uid } = object.metadata;
  const owners = [uid, ...revisions.map(({ view }) => view.uid), ...(await readJobs(reader, object))];
  const events = await readEvents(reader, namespace, ['FailedCreate'], owners);
  if (!deployment) return events.map(({ message }) => message);
  // For a Deployment, only the current refusals of its ReplicaSets count: Events of one that was replaced are history.
  const known = refusalsIn(events);
  const ofPods = revisions.flatMap(({ view }) => refusalsOf(view, known));
  const { progressing } = deployment;
  return progressing?.reason === 'ReplicaSetCreateError' ? [progressing.message, ...ofPods] : ofPods;
}
