import type { ManagedFields } from '../../kube/api.ts';
import { isTree, type Obj, type Tree } from './model.ts';

/** The writer of an object. `subresource` is '' for the object itself. */
export interface FieldWriter {
  manager: string;
  subresource: string;
  apiVersion: string;
  /** A timestamp with whole seconds. */
  time: string;
}

/** The paths of an object's leaves. The steps of a path are joined by a character that no step contains. */
type Fields = Set<string>;
const separator = '\0';

/** The fields of metadata that clients own. The server's own fields are not recorded. */
const ours = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/**
 * Returns the managedFields after a write: the writer owns each field it changed, the previous owner loses it, and an
 * unchanged field stays with its owner. This is enough to say who changed a part of an object last, and when.
 */
export function recordWriter(before: Obj | undefined, after: Obj, writer: FieldWriter): ManagedFields[] {
  const [was, is] = [leavesOf(before), leavesOf(after)];
  // The server itself writes the first status.
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

const newEntry = ({ manager, subresource, apiVersion, time }: FieldWriter): ManagedFields & Tree => ({
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
  collect({ ...rest, ...(Object.keys(own).length > 0 && { metadata: own }) }, '', undefined, leaves);
  return leaves;
}

/** `last` is the last step of the path. It runs at every write, so a path is a string from the start. */
function collect(value: unknown, path: string, last: string | undefined, leaves: Map<string, string>): void {
  const children = childrenOf(value, last);
  if (children.length === 0) {
    if (path) leaves.set(path, JSON.stringify(value));
    return;
  }
  for (const [step, child] of children) collect(child, path ? `${path}${separator}${step}` : step, step, leaves);
}

/** A list whose items have a key is followed into its items; any other list is one field. */
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
