import type { KubeObject, ListSelector, Reader } from '../kube/api.ts';
import type { Kind, Ref } from '../kube/resources.ts';

/**
 * A reader that lists each kind of a namespace once, when it is first asked for, and answers from that: for questions
 * about many workloads at once, which would otherwise be several requests each.
 */
export function createSnapshot(reader: Reader, namespace: string): Reader {
  const lists = new Map<Kind, Promise<KubeObject[]>>();
  const all = (kind: Kind): Promise<KubeObject[]> => {
    const known = lists.get(kind) ?? reader.list<KubeObject>(kind, namespace);
    lists.set(kind, known);
    return known;
  };
  return {
    async get<T extends KubeObject>(ref: Ref): Promise<T | undefined> {
      if (ref.namespace !== namespace) return reader.get<T>(ref);
      return (await all(ref.kind)).find(({ metadata }) => metadata.name === ref.name) as T | undefined;
    },
    async list<T extends KubeObject>(kind: Kind, of?: string, selector: ListSelector = {}): Promise<T[]> {
      if (of !== namespace || selector.fieldSelector) return reader.list<T>(kind, of, selector);
      return (await all(kind)).filter((object) => isSelected(object, selector.labelSelector)) as T[];
    },
  };
}

/** Only "key=value,key=value", which is all that is asked for here. */
const isSelected = ({ metadata }: KubeObject, selector = ''): boolean =>
  selector
    .split(',')
    .filter(Boolean)
    .every((term) => {
      const at = term.indexOf('=');
      return metadata.labels?.[term.slice(0, at)] === term.slice(at + 1);
    });
