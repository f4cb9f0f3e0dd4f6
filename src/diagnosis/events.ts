import type { KubeObject, Reader } from '../kube/api.ts';
import { type EventView, viewEvent } from '../kube/views.ts';

/** client-go puts this before what it has said ten times. */
const combined = /^\(combined from similar events\): /;

/** Newest first. */
export async function listEvents(reader: Reader, namespace: string, fieldSelector: string): Promise<EventView[]> {
  const events = await reader.list<KubeObject>('Event', namespace, { fieldSelector });
  return events.flatMap((event) => viewEvent(event) ?? []).sort((a, b) => b.lastSeenMs - a.lastSeenMs);
}

/** The events with one of these reasons about one of these objects, newest first, each message without its preamble. */
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
