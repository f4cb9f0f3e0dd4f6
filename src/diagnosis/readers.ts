import { ifForbidden, type KubeObject, type ListSelector, type Reader } from '../kube/api.ts';
import { readOwners } from '../kube/owners.ts';
import type { Kind, Ref } from '../kube/resources.ts';
import type { PodView } from '../kube/views.ts';
import type { Clock } from '../lib/clock.ts';

/** A reader that asks each question once: everything about one case comes from one moment, and costs one reading. */
export function createOnce(reader: Reader): Reader {
  const answers = new Map<string, Promise<unknown>>();
  const once = <T>(question: string, ask: () => Promise<T>): Promise<T> => {
    const answer = answers.get(question) ?? ask();
    answers.set(question, answer);
    return answer as Promise<T>;
  };
  return {
    get: <T extends KubeObject>(ref: Ref) =>
      once(`get ${ref.kind} ${ref.namespace} ${ref.name}`, () => reader.get<T>(ref)),
    list: <T extends KubeObject>(kind: Kind, namespace?: string, selector: ListSelector = {}) => {
      const { labelSelector = '', fieldSelector = '' } = selector;
      const question = `list ${kind} ${namespace} ${labelSelector} ${fieldSelector}`;
      return once(question, () => reader.list<T>(kind, namespace, selector));
    },
  };
}

/**
 * A reader that lists each kind of a namespace once, when first asked, and answers from that list: for questions about
 * many workloads at once, which would otherwise be several requests each.
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

/** Only "key=value,key=value", the only form used here. */
const isSelected = ({ metadata }: KubeObject, selector = ''): boolean =>
  selector
    .split(',')
    .filter(Boolean)
    .every((term) => {
      const at = term.indexOf('=');
      return metadata.labels?.[term.slice(0, at)] === term.slice(at + 1);
    });

/** An answer is reused for three times as long as it took, so that at most a quarter of the time is spent asking. */
const goodFor = 3;
const longestMs = 10_000;

/**
 * A reader that asks for a list of Events once, however many callers want it at that moment. The API server keeps
 * Events on disk only: for each such list it reads all Events of the namespace, which takes seconds when there are
 * thousands. When two hundred workloads fail, as many callers ask the same. On a quiet day an answer is dropped a
 * moment after it came.
 */
export function createSharedEvents(reader: Reader, clock: Clock): Reader {
  const answers = new Map<string, Promise<KubeObject[]>>();

  async function ask(namespace: string | undefined, selector: ListSelector, forget: () => void): Promise<KubeObject[]> {
    const askedAtMs = clock.now();
    try {
      const events = await reader.list<KubeObject>('Event', namespace, selector);
      void clock.sleep(Math.min((clock.now() - askedAtMs) * goodFor, longestMs)).then(forget);
      return events;
    } catch (error) {
      forget();
      throw error;
    }
  }

  function listEvents(namespace: string | undefined, selector: ListSelector): Promise<KubeObject[]> {
    const question = `${namespace ?? ''} ${selector.labelSelector ?? ''} ${selector.fieldSelector ?? ''}`;
    const known = answers.get(question);
    if (known) return known;
    const answer = ask(namespace, selector, () => answers.delete(question));
    answers.set(question, answer);
    return answer;
  }

  return {
    get: (ref) => reader.get(ref),
    list: <T extends KubeObject>(kind: Kind, namespace?: string, selector: ListSelector = {}) =>
      kind === 'Event' ? (listEvents(namespace, selector) as Promise<T[]>) : reader.list<T>(kind, namespace, selector),
  };
}

/** The namespaces that this installation can see. */
export interface Reach {
  /** undefined is the whole cluster. */
  scopes: readonly (string | undefined)[];
  isSelected(namespace: string): boolean;
}
export const everywhere: Reach = { scopes: [undefined], isSelected: () => true };

/** All objects of a kind within reach. Objects that may not be listed are treated as missing. */
export async function listWithin(
  reader: Reader,
  reach: Reach,
  kind: Kind,
  fieldSelector?: string,
): Promise<KubeObject[]> {
  const selector = fieldSelector === undefined ? {} : { fieldSelector };
  const lists = reach.scopes.map((scope) => reader.list<KubeObject>(kind, scope, selector).catch(ifForbidden([])));
  return (await Promise.all(lists)).flat().filter(({ metadata }) => reach.isSelected(metadata.namespace ?? ''));
}

/** "shop/Deployment/api": the workloads that a person would name for these pods, each once. */
export async function workloadsOf(reader: Reader, pods: readonly PodView[]): Promise<string[]> {
  const snapshots = new Map<string, Reader>();
  const found = new Set<string>();
  for (const pod of pods) {
    const from = snapshots.get(pod.namespace) ?? createSnapshot(reader, pod.namespace);
    snapshots.set(pod.namespace, from);
    const root = (await readOwners(from, pod.namespace, pod.owner)).at(-1) ?? { kind: 'Pod', name: pod.name };
    found.add(`${pod.namespace}/${root.kind}/${root.name}`);
  }
  return [...found].sort();
}
