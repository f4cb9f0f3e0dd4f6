import { isTree, type Tree } from './model.ts';
import { badRequest } from './refusal.ts';

/** RFC 7386: null deletes, objects merge, everything else replaces. */
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
