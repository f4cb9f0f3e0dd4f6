import { sameValue } from '../../lib/hash.ts';
import { isTree, type Tree } from './model.ts';
import { badRequest, doesNotApply } from './refusal.ts';

interface Op {
  op?: unknown;
  path?: unknown;
  from?: unknown;
  value?: unknown;
}

/**
 * RFC 6902 with the habits of the library that the real one uses: replacing a key that is not there adds it,
 * testing one for null passes. What does not apply is a 422 that does not say why.
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
  keys[0] = 'root'; // what stands before the first slash
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

/** Not by assignment: a key may be called __proto__. */
const define = (parent: Tree, key: string, value: unknown): void =>
  void Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true });
