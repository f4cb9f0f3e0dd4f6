import { ApiError, type KubeObject, type Page } from './api.ts';
import type { Kind } from './resources.ts';
import { arr, beginning, obj, type Raw, strings } from './raw.ts';

/**
 * How much may come in at once. A tenant decides how large an object is, so counting objects is not enough: etcd accepts
 * 1.5 MiB, and a `<` in it is six bytes on the wire (`\u003c`). No legal object is longer than `longestObjectBytes`.
 */
export const longestObjectBytes = 12 * 1024 * 1024;

/** A page of several objects may have this size. A larger one is asked for again in smaller pieces. */
const longestPageBytes = 4 * 1024 * 1024;

/** All objects of one list together, as they arrive. A pod's memory does not hold more. */
const longestListBytes = 64 * 1024 * 1024;

const mostPerPage = 250;

/** More than we take in. `head` is its beginning. */
export class TooLarge extends ApiError {
  readonly head: string;
  constructor(what: string, longestBytes: number, head = '') {
    super(`${what} is larger than ${Math.round(longestBytes / 1024 / 1024)} MB`, 413, 'TooLarge');
    this.head = head;
  }
}

/** Asks for one page of at most this many bytes. Throws TooLarge as soon as more arrives. */
export type AskForPage<T> = (query: Record<string, string>, longestBytes: number) => Promise<Page<T>>;

/**
 * The pages of a list, each of a bounded size. A page that is too large is asked for again from the same place, with
 * fewer objects; later pages grow again while they are small. An object that is too large on its own is skipped.
 */
export async function* pagesOf<T>(
  ask: AskForPage<T>,
  query: Record<string, string>,
  onSkipped: (error: TooLarge) => void,
): AsyncGenerator<Page<T>> {
  let limit = mostPerPage;
  let from: Record<string, string> = {};
  for (;;) {
    let page: Page<T>;
    try {
      page = await ask({ ...query, ...from, limit: `${limit}` }, limit === 1 ? longestObjectBytes : longestPageBytes);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      if (limit > 1) {
        limit = Math.ceil(limit / 8);
        continue;
      }
      page = { items: [], metadata: listMetadataIn(error), bytes: longestObjectBytes };
      onSkipped(error);
    }
    yield page;
    if (!page.metadata.continue) return;
    from = { continue: page.metadata.continue };
    if (2 * (page.bytes ?? 0) < longestPageBytes) limit = Math.min(limit * 2, mostPerPage);
  }
}

/** Go writes a list's metadata before its items, so nothing in front of it was written by a tenant. */
const listHead = /^\{"kind":"\w+List","apiVersion":"[^"\\]+","metadata":(\{[^{}]*\}),"items":\[/;

function listMetadataIn(error: TooLarge): Page<unknown>['metadata'] {
  const found = listHead.exec(error.head)?.[1];
  if (found === undefined) throw error;
  return JSON.parse(found) as Page<unknown>['metadata'];
}

/**
 * The beginning of a line of a watch: type and identity of the object. Go writes them first and in this order, so
 * nothing in front of them was written by a tenant.
 */
const lineHead =
  /^\{"type":"(ADDED|MODIFIED|DELETED)","object":\{"kind":"(\w+)","apiVersion":"([^"\\]+)","metadata":\{"name":"([^"\\]+)",(?:"generateName":"[^"\\]*",)?(?:"namespace":"([^"\\]+)",)?"uid":"([^"\\]+)","resourceVersion":"(\d+)"/;

/** The object of a line that is too long to be read; undefined when its beginning does not name it. */
export function identityInHead(head: string): KubeObject | undefined {
  const [, , kind, apiVersion, name, namespace, uid, resourceVersion] = lineHead.exec(head) ?? [];
  if (!kind || !apiVersion || !name || !uid || !resourceVersion) return undefined;
  return {
    kind,
    apiVersion,
    metadata: { name, ...(namespace && { namespace }), uid, resourceVersion, creationTimestamp: '' },
  };
}

/** Collects a list page by page. What nobody reads of an object is dropped before the next page is asked for. */
export async function collect<T extends KubeObject>(kind: Kind, pages: AsyncIterable<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let bytes = 0;
  for await (const page of pages) {
    for (const item of page.items) items.push(slim(kind, item)); // not push(...some): the number of arguments is limited
    bytes += page.bytes ?? 0;
    if (bytes > longestListBytes) throw new TooLarge(`the list of ${kind} objects`, longestListBytes);
  }
  return items;
}

/**
 * Pods and Events are the kinds of which there are many, and nothing of them is ever written back: a list keeps only
 * the parts that somebody reads. Other kinds stay whole, because a fix may put a template of theirs back.
 */
function slim<T extends KubeObject>(kind: Kind, object: T): T {
  if (kind !== 'Pod' && kind !== 'Event') return object;
  const { managedFields: _, annotations, ...metadata } = obj(object.metadata);
  const raw = {
    ...obj(object),
    metadata: annotations ? { ...metadata, annotations: cutValues(annotations) } : metadata,
  };
  const spec = obj(obj(object)['spec']);
  const slimmed: Raw =
    kind === 'Event'
      ? { ...raw, message: beginning(obj(object)['message'], longestText) }
      : { ...raw, spec: { ...spec, ...slimContainers(spec) } };
  return slimmed as unknown as T;
}

const longestText = 4096;
const mostReferences = 200;

const cutValues = (values: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries(strings(values)).map(([key, value]) => [key, beginning(value, longestText)]));

const slimContainers = (spec: Raw): Raw =>
  Object.fromEntries(
    ['initContainers', 'containers', 'ephemeralContainers'].flatMap((key) =>
      spec[key] === undefined ? [] : [[key, arr(spec[key]).map(slimContainer)]],
    ),
  );

/** References to Secrets and ConfigMaps stay; values, which may be of any length, do not. */
function slimContainer({ args: _args, command: _command, ...container }: Raw): Raw {
  const references = (key: string): Raw =>
    container[key] === undefined
      ? {}
      : {
          [key]: arr(container[key])
            .slice(0, mostReferences)
            .map(({ value: _value, ...reference }) => reference),
        };
  return { ...container, ...references('env'), ...references('envFrom') };
}
