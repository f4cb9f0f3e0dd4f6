import type { ManagedFields } from '../../kube/api.ts';
import { isTree, type Obj, type Tree } from './model.ts';

/** Who writes: `subresource` is '' for the object itself. */
export interface Writer {
  manager: string;
  subresource: string;
  apiVersion: string;
  /** To the second. */
  time: string;
}

/** Paths of an object's leaves, each as its steps joined by a character that no step has. */
type Fields = Set<string>;
const separator = '\0';

/** Which fields of metadata are anybody's; the server's own are not in the books. */
const ours = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/**
 * The books after a write: who writes a field owns it, whoever wrote it before no longer does, and what
 * was not changed stays with its owner. Good enough to tell who changed a part of an object last, and when.
 */
export function recordWriter(before: Obj | undefined, after: Obj, writer: Writer): ManagedFields[] {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  // The first status is the server's own doing.
  const counts = (path: string): boolean => writer.subresource === 'status' || !path.startsWith('f:status');
  const changed = new Set([...is].flatMap(([path, value]) => (was.get(path) !== value && counts(path) ? [path] : [])));
  const entries = (before?.metadata.managedFields ?? []).map((entry) => ({ entry, fields: fieldsIn(entry.fieldsV1) }));
  const isSame = ({ manager, subresource }: ManagedFields): boolean =>
    manager === writer.manager && (subresource ?? '') === writer.subresource;
  const kept = entries.map(({ entry, fields }) => ({
    entry: isSame(entry) && changed.size > 0 ? { ...entry, time: writer.time } : entry,
    fields: new Set([...fields].filter((path) => is.has(path) && (isSame(entry) || !changed.has(path)))),
  }));
  const own = kept.find(({ entry }) => isSame(entry));
  if (own) for (const path of changed) own.fields.add(path);
  else if (changed.size > 0) kept.push({ entry: newEntry(writer), fields: changed });
  return kept
    .filter(({ fields }) => fields.size > 0)
    .map(({ entry, fields }) => ({ ...entry, fieldsV1: treeOf(fields) }))
    .sort((a, b) => (`${a.time} ${a.manager}` < `${b.time} ${b.manager}` ? -1 : 1));
}

const newEntry = ({ manager, subresource, apiVersion, time }: Writer): ManagedFields & Tree => ({
  manager,
  operation: 'Update',
  apiVersion,
  time,
  fieldsType: 'FieldsV1',
  ...(subresource && { subresource }),
});

function leavesOf(object: Obj | undefined): Map<string, string> {
  const leaves = new Map<string, string>();
  if (!object) return leaves;
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const own = Object.fromEntries(Object.entries(metadata).filter(([field]) => ours.includes(field)));
  collect({ ...rest, ...(Object.keys(own).length > 0 && { metadata: own }) }, [], leaves);
  return leaves;
}

function collect(value: unknown, path: readonly string[], leaves: Map<string, string>): void {
  const children = childrenOf(value, path.at(-1));
  if (children.length === 0) {
    if (path.length > 0) leaves.set(path.join(separator), JSON.stringify(value));
    return;
  }
  for (const [step, child] of children) collect(child, [...path, step], leaves);
}

/** Lists whose items are known by a key are followed into; all others are one field. */
function childrenOf(value: unknown, step: string | undefined): [string, unknown][] {
  if (isTree(value)) return Object.entries(value).map(([key, child]) => [`f:${key}`, child]);
  if (!Array.isArray(value) || value.length === 0) return [];
  const keys =
    step === 'f:ownerReferences'
      ? ['uid']
      : step === 'f:conditions'
        ? ['type']
        : step === 'f:ports'
          ? ['containerPort', 'protocol']
          : ['name'];
  const items = value.filter(isTree);
  if (items.length < value.length || items.some((item) => item[keys[0]!] === undefined)) return [];
  return items.map((item) => [`k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, item[key]])))}`, item]);
}

function fieldsIn(node: unknown, path: readonly string[] = [], found: Fields = new Set()): Fields {
  const children = Object.entries(isTree(node) ? node : {});
  if (children.length === 0 && path.length > 0) found.add(path.join(separator));
  for (const [step, child] of children) fieldsIn(child, [...path, step], found);
  return found;
}

function treeOf(fields: Fields): Tree {
  const root: Tree = {};
  for (const path of fields) {
    let node = root;
    for (const step of path.split(separator)) node = (node[step] ??= {}) as Tree;
  }
  return root;
}
