import type { Api, KubeObject } from '../../kube/api.ts';
import type { Kind } from '../../kube/resources.ts';
import { createWatch, type Watch } from '../../kube/watch.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';

export interface LookoutDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** Of how long each watch lives. */
  random?: () => number;
}

/** Told of every object of a kind as it is now, and of each that is gone as it was last. */
export type Sight = (object: KubeObject, isGone: boolean) => void;

/** One watch of each kind that anybody here asks about, and what it has seen. */
export interface Lookout {
  /** Before `run`: whoever comes later would miss the first list. */
  on(kind: Kind, tell: Sight): void;
  /** As of the last news, which may be late: for triggers and round numbers, not for decisions that must be right. */
  seen<T extends KubeObject>(kind: Kind): Iterable<T>;
  /** Ends when the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface Seen {
  objects: Map<string, KubeObject>;
  sights: Sight[];
}

export function createLookout(deps: LookoutDeps): Lookout {
  const kinds = new Map<Kind, Seen>();

  function seenOf(kind: Kind): Seen {
    const known = kinds.get(kind) ?? { objects: new Map(), sights: [] };
    kinds.set(kind, known);
    return known;
  }

  function watchOf(kind: Kind, { objects, sights }: Seen): Watch {
    const upsert = (object: KubeObject): void => {
      objects.set(object.metadata.uid, object);
      for (const tell of sights) tell(object, false);
    };
    const remove = (uid: string): void => {
      const last = objects.get(uid);
      objects.delete(uid);
      if (last) for (const tell of sights) tell(last, true);
    };
    return createWatch<KubeObject>({
      ...deps,
      kind,
      view: (object) => object,
      onList(all) {
        const there = new Set(all.map(({ metadata }) => metadata.uid));
        for (const uid of objects.keys()) if (!there.has(uid)) remove(uid);
        all.forEach(upsert);
      },
      onChange: (change) => (change.type === 'upsert' ? upsert(change.view) : remove(change.uid)),
    });
  }

  return {
    on: (kind, tell) => void seenOf(kind).sights.push(tell),
    seen: <T extends KubeObject>(kind: Kind) => seenOf(kind).objects.values() as Iterable<T>,
    async run(signal) {
      await Promise.all([...kinds].map(([kind, seen]) => watchOf(kind, seen).run(signal)));
    },
  };
}
