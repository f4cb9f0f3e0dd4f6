import { LRUCache } from 'lru-cache';
import { type KubeObject, type Reader, unlessForbidden } from '../kube/api.ts';
import { isKnownKind } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import { couldHaveNamed, longNamingKinds, mayBeCut } from './cut-name.ts';
import { type NamedOwner, ownersByName } from './generated-name.ts';
import type { Root } from './owner.ts';

interface Live extends KubeObject {
  spec?: { completionMode?: string };
}

/** Many pods of one workload go at once: whether it is there is not asked for each of them. */
const believedMs = 10_000;

const isIndexed = ({ spec }: Live): boolean => spec?.completionMode === 'Indexed';

/**
 * Whose something was that is gone, by its name. A name is only a hint: what it leads to must be there, and nobody else
 * may be who could have made that name; otherwise it is nobody's, for what is gone as a whole cannot be broken, and
 * half a guess would put one workload's trouble on another's card.
 */
export function createOwnersByName(
  reader: Reader,
  clock: Clock,
  /** undefined: part of what leads there is gone. */
  rootOf: (namespace: string, live: Root) => Promise<Root | undefined>,
  max: number,
) {
  const known = new LRUCache<string, { live: Live | undefined; readAtMs: number }>({ max });

  async function read(namespace: string, { kind, name }: NamedOwner): Promise<Live | undefined> {
    const of = `${namespace}/${kind}/${name}`;
    const before = known.get(of);
    if (before && clock.now() - before.readAtMs < believedMs) return before.live;
    const live = isKnownKind(kind)
      ? await reader.get<Live>({ kind, namespace, name }).catch(unlessForbidden)
      : undefined;
    known.set(of, { live, readAtMs: clock.now() });
    return live;
  }

  async function roots(
    namespace: string,
    { kind, name }: { kind: string; name: string },
  ): Promise<(Root | undefined)[]> {
    const found: (Root | undefined)[] = [];
    for (const owner of ownersByName(kind, name, clock.now())) {
      const live = await read(namespace, owner);
      if (!live) found.push(...(await roots(namespace, owner)));
      else if (owner.indexed === undefined || owner.indexed === isIndexed(live))
        found.push(await rootOf(namespace, { kind: owner.kind, name: owner.name, uid: live.metadata.uid }));
    }
    return found;
  }

  async function rootsOfCut(namespace: string, pod: string): Promise<(Root | undefined)[]> {
    const found: (Root | undefined)[] = [];
    for (const kind of longNamingKinds) {
      for (const live of (await reader.list<Live>(kind, namespace).catch(unlessForbidden)) ?? []) {
        const { name, uid } = live.metadata;
        if (couldHaveNamed({ kind, name, indexed: isIndexed(live) }, pod))
          found.push(await rootOf(namespace, { kind, name, uid }));
      }
    }
    return found;
  }

  return async (namespace: string, object: Root): Promise<Root | undefined> => {
    const { kind, name } = object;
    const found = mayBeCut(kind, name) ? await rootsOfCut(namespace, name) : await roots(namespace, object);
    const [only, ...others] = new Map(found.map((root) => [root && `${root.kind}/${root.name}`, root])).values();
    return others.length === 0 ? only : undefined;
  };
}
