import type { Api } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';
import { type EventView, viewEvent } from '../kube/views.ts';

/** One page: in a storm there may be a hundred thousand, and somebody waits. */
const page = { limit: '250', fieldSelector: 'type=Warning' };
const mostEvents = 8;

/** The latest warnings about the broken object and what is named after it, the newest first. */
export async function readEvents(api: Pick<Api, 'page'>, { metadata, spec }: Remediation): Promise<EventView[]> {
  const { name } = spec.incident.object;
  const { items } = await api.page('Event', metadata.namespace, page);
  return items
    .flatMap((item) => viewEvent(item) ?? [])
    .filter(({ object }) => object.name === name || object.name.startsWith(`${name}-`))
    .sort((a, b) => b.lastSeenMs - a.lastSeenMs)
    .slice(0, mostEvents);
}
