import type { JsonPatchOp } from '../../src/kube/api.ts';
import { ApiError } from '../../src/kube/api.ts';
import { sameValue } from '../../src/lib/hash.ts';

type Tree = Record<string, unknown>;

const invalid = (message: string): ApiError => new ApiError(message, 422, 'Invalid');

/** RFC 7386: null deletes, objects merge, everything else replaces. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!patch || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const merged: Tree = target && typeof target === 'object' && !Array.isArray(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** RFC 6902, as far as tapfix uses it, on objects only. A failed `test` is the server's 422 Invalid. */
export function jsonPatch<T>(target: T, ops: readonly JsonPatchOp[]): T {
  const patched = structuredClone(target);
  for (const { op, path, value } of ops) {
    const keys = path
      .split('/')
      .slice(1)
      .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop()!;
    const parent = keys.reduce<unknown>((node, key) => (node as Tree | undefined)?.[key], patched) as Tree | undefined;
    if (!parent) throw invalid(`${op} operation does not apply: doc is missing path: "${path}"`);
    if (op === 'test' && !sameValue(parent[last], value)) throw invalid(`testing value ${path} failed: test failed`);
    if (op === 'remove' || op === 'replace') {
      if (!Object.hasOwn(parent, last)) throw invalid(`${op} operation does not apply: doc is missing key: ${path}`);
    }
    if (op === 'remove') delete parent[last];
    if (op === 'add' || op === 'replace') parent[last] = structuredClone(value);
  }
  return patched;
}
