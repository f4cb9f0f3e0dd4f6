import { sameValue } from '../../lib/hash.ts';
import { apiVersionOf, type KindRow } from '../kinds/kinds.ts';
import { mediaTypeOf, parseJson, wrongShape } from './decoding.ts';
import { ApiRefusal, badRequest, doesNotApply, invalid, wrong } from './http-refusals.ts';
import { wrongType } from './metadata.ts';
import { type ApiRequest, isTree, type Tree } from './model.ts';

type Apply = (target: Tree, patch: unknown) => unknown;

const patches: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['application/json-patch+json', jsonPatch],
  ['application/merge-patch+json', mergePatch],
]);

/** Applies the patch in a request to an object. */
export function patchOf(request: ApiRequest, row: KindRow, current: Tree): Tree {
  const apply = patches.get(mediaTypeOf(request));
  if (!apply) throw new ApiRefusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  const asked = apply(
    current,
    parseJson(request.body, (why) => `error decoding patch: ${why}`),
  );
  const problem = isTree(asked)
    ? (otherKind(asked, row) ?? wrongType(asked) ?? wrongShape(asked, row.kind))
    : 'it is no object any more';
  if (problem) throw invalid({ kind: '', group: '', name: '' }, [wrong('patch', JSON.stringify(asked), problem)]);
  return asked as Tree;
}

function otherKind({ apiVersion, kind }: Tree, row: KindRow): string | undefined {
  const isSame =
    [undefined, apiVersionOf(row)].includes(apiVersion as string) && [undefined, row.kind].includes(kind as string);
  return isSame ? undefined : 'its kind cannot be changed';
}

interface Op {
  op?: unknown;
  path?: unknown;
  from?: unknown;
  value?: unknown;
}

/**
 * RFC 6902, with two habits of the library that the real server uses: "replace" adds a missing key, and "test" of a
 * missing key for null passes. A patch that does not apply gets a 422 without a reason.
 */
export function jsonPatch(target: Tree, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('error decoding patch: it is no list of operations');
  const document = { root: structuredClone(target) as unknown };
  for (const op of patch as Op[]) apply(document, isTree(op) ? op : {});
  return document.root;
}

function apply(document: { root: unknown }, { op, path, from, value = null }: Op): void {
  if (typeof path !== 'string') throw doesNotApply();
  const place = find(document, path);
  switch (op) {
    case 'test':
      if (!sameValue(place.get() ?? null, value)) throw doesNotApply();
      return;
    case 'add':
      return place.add(structuredClone(value));
    case 'replace':
      return place.replace(structuredClone(value));
    case 'remove':
      return place.remove();
    case 'copy':
      return place.add(structuredClone(find(document, from).get() ?? null));
    case 'move': {
      const source = find(document, from);
      const moved = source.get();
      source.remove();
      return find(document, path).add(moved);
    }
    default:
      throw doesNotApply();
  }
}

interface Place {
  get(): unknown;
  add(value: unknown): void;
  replace(value: unknown): void;
  remove(): void;
}

function find(document: { root: unknown }, pointer: unknown): Place {
  if (typeof pointer !== 'string' || (pointer !== '' && !pointer.startsWith('/'))) throw doesNotApply();
  const keys = pointer.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  keys[0] = 'root'; // the empty string before the first slash stands for the root
  const last = keys.pop()!;
  const parent = keys.reduce<unknown>(child, document);
  if (Array.isArray(parent)) return inList(parent, last);
  if (isTree(parent)) return inTree(parent, last);
  throw doesNotApply();
}

function child(node: unknown, key: string): unknown {
  if (Array.isArray(node)) return node[indexIn(key, node.length - 1)];
  return isTree(node) && Object.hasOwn(node, key) ? node[key] : undefined;
}

function indexIn(key: string, most: number): number {
  const index = /^(0|[1-9]\d*)$/.test(key) ? Number(key) : Number.NaN;
  if (!(index <= most)) throw doesNotApply();
  return index;
}

const inTree = (parent: Tree, key: string): Place => ({
  get: () => (Object.hasOwn(parent, key) ? parent[key] : undefined),
  add: (value) => define(parent, key, value),
  replace: (value) => define(parent, key, value),
  remove: () => {
    if (!Object.hasOwn(parent, key)) throw doesNotApply();
    delete parent[key];
  },
});

const inList = (parent: unknown[], key: string): Place => ({
  get: () => parent[indexIn(key, parent.length - 1)],
  add: (value) => void parent.splice(key === '-' ? parent.length : indexIn(key, parent.length), 0, value),
  replace: (value) => void (parent[indexIn(key, parent.length - 1)] = value),
  remove: () => void parent.splice(indexIn(key, parent.length - 1), 1),
});

/** Defines the key instead of assigning it, because it may be called __proto__. */
const define = (parent: Tree, key: string, value: unknown): void =>
  void Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true });

/** RFC 7386: null deletes, objects are merged, everything else replaces. */
export function mergePatch(target: Tree, patch: unknown): Tree {
  if (!isTree(patch)) throw badRequest('error decoding patch: it is no object');
  return merged(target, patch);
}

function merged(target: unknown, patch: Tree): Tree {
  const result = new Map(Object.entries(isTree(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, isTree(value) ? merged(result.get(key), value) : value);
  }
  return Object.fromEntries(result);
}
