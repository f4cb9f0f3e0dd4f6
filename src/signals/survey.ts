import type { Config } from '../config/schema.ts';
import { isForbidden, type KubeObject, type Reader } from '../kube/api.ts';
import type { Kind } from '../kube/resources.ts';
import type { EventView } from '../kube/views.ts';
import { detectEvent, readEvent } from './detect.ts';
import type { Signal } from './signal.ts';
import { clusterWide, namespaced, type Watcher } from './watchers.ts';
import { createSurroundings } from './surroundings.ts';

/** A signal; if it came from an event, also when and how often. */
export interface SurveyedSignal {
  signal: Signal;
  event?: Pick<EventView, 'count' | 'lastSeenMs'>;
}

export interface Survey {
  sightings: SurveyedSignal[];
  /** Kinds that may not be listed. What only they would show is missing. */
  unread: Kind[];
}

export interface SurveyDeps {
  reader: Reader;
  /** undefined: surveys objects without a namespace, and the kinds that give signals about them. */
  namespace: string | undefined;
  config: Config;
  nowMs: number;
}

const tellOfTheCluster: readonly Kind[] = ['Node', 'StorageClass', 'PersistentVolumeClaim'];

/**
 * Reads everything in a namespace once, as the watches see it when they start: with the same views, rules and
 * detectors.
 */
export async function survey({ reader, namespace, config, nowMs }: SurveyDeps): Promise<Survey> {
  const { around, caches } = createSurroundings();
  const unread: Kind[] = [];
  const listings: Promise<() => Signal[]>[] = [];

  async function listed(
    kind: Kind,
    scope: string | undefined,
    fieldSelector?: string,
  ): Promise<KubeObject[] | undefined> {
    try {
      return await reader.list<KubeObject>(kind, scope, fieldSelector === undefined ? {} : { fieldSelector });
    } catch (error) {
      if (!isForbidden(error)) throw error;
      if (!unread.includes(kind)) unread.push(kind);
      return undefined;
    }
  }

  /** Returns a function that is called once all caches are filled, because one object may be to blame for another. */
  async function look<V>(watcher: Watcher<V>, scope: string | undefined): Promise<() => Signal[]> {
    const objects = await listed(watcher.kind, scope);
    const views = (objects ?? []).flatMap((object) => {
      const view = watcher.view(object);
      return view !== undefined && watcher.matters(view) ? [view] : [];
    });
    if (objects) watcher.cache?.(caches).replace(views, scope);
    return () => views.flatMap((view) => watcher.detect?.(view, nowMs, around) ?? []);
  }

  async function events(fieldSelector: string, matters: (event: EventView) => boolean): Promise<SurveyedSignal[]> {
    const all = (await listed('Event', namespace, fieldSelector)) ?? [];
    return all.flatMap((object) => {
      const event = readEvent(object);
      const signal = event && matters(event) ? detectEvent(event, config.extraReasons) : undefined;
      return event && signal ? [{ signal, event: { count: event.count, lastSeenMs: event.lastSeenMs } }] : [];
    });
  }

  for (const use of Object.values(namespaced))
    use((watcher) => {
      if (namespace !== undefined || tellOfTheCluster.includes(watcher.kind)) listings.push(look(watcher, namespace));
    });
  for (const use of Object.values(clusterWide)) use((watcher) => void listings.push(look(watcher, undefined)));
  const isAskedFor = ({ reason }: EventView): boolean => config.extraReasons.some((one) => one.reason === reason);
  // A whole cluster may have a hundred thousand events.
  const of = namespace === undefined ? tellOfTheCluster.map((kind) => `,involvedObject.kind=${kind}`) : [''];
  const fromEvents = of.flatMap((only) => [
    events(`type=Warning${only}`, () => true),
    ...(config.extraReasons.length > 0 ? [events(`type!=Warning${only}`, isAskedFor)] : []),
  ]);
  const looks = await Promise.all(listings);
  const fromStatus = looks.flatMap((tell) => tell().map((signal) => ({ signal })));
  return { sightings: [...fromStatus, ...(await Promise.all(fromEvents)).flat()], unread };
}
