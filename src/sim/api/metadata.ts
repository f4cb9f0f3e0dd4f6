import { isTree, type Meta, type Obj, text, type Tree, trees } from './model.ts';
import { checkKeys, checkLabels } from './names.ts';
import { type Problem, problem, wrong } from './refusal.ts';

/** What only the server writes, or the path says. */
const serversOwn = [
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
] as const;
const maps = ['labels', 'annotations'] as const;
const lists = ['finalizers', 'ownerReferences', 'managedFields'] as const;

/** Of a type that cannot be: the words of Go's decoder; undefined when all is well. */
export function wrongType({ metadata }: Tree): string | undefined {
  const cannot = (value: unknown, field: string, type: string): string =>
    `json: cannot unmarshal ${goType(value)} into Go struct field ObjectMeta.metadata.${field} of type ${type}`;
  if (metadata === undefined || metadata === null) return undefined;
  if (!isTree(metadata))
    return `json: cannot unmarshal ${goType(metadata)} into Go struct field metadata of type v1.ObjectMeta`;
  for (const field of ['name', 'namespace', 'generateName', 'uid', 'resourceVersion'] as const) {
    const value = metadata[field] ?? '';
    if (typeof value !== 'string') return cannot(value, field, 'string');
  }
  for (const field of maps) {
    const map = metadata[field] ?? {};
    if (!isTree(map)) return cannot(map, field, 'map[string]string');
    const odd = Object.values(map).find((value) => value !== null && typeof value !== 'string');
    if (odd !== undefined) return cannot(odd, field, 'string');
  }
  for (const field of lists) {
    const list = metadata[field] ?? [];
    const type = field === 'finalizers' ? 'string' : 'object';
    if (!Array.isArray(list)) return cannot(list, field, `[]${type}`);
    const odd = (list as unknown[]).find((item) => !(type === 'string' ? typeof item === 'string' : isTree(item)));
    if (odd !== undefined) return cannot(odd, field, type);
  }
  const words = trees(metadata['ownerReferences']).flatMap(({ apiVersion, kind, name, uid }) => [
    apiVersion,
    kind,
    name,
    uid,
  ]);
  const odd = words.find((value) => typeof (value ?? '') !== 'string');
  if (odd !== undefined) return cannot(odd, 'ownerReferences', 'string');
  return undefined;
}

export const goType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

/** Without what is empty: Go leaves that out. */
export function tidy(metadata: Tree): Meta {
  const isEmpty = (value: unknown): boolean =>
    value === '' || (Array.isArray(value) ? value.length === 0 : isTree(value) && Object.keys(value).length === 0);
  const kept = Object.entries(metadata).filter(([, value]) => value !== null && value !== undefined && !isEmpty(value));
  return Object.fromEntries(kept) as unknown as Meta;
}

/** As asked, but for what only the server writes. */
export function keepServersOwn(asked: Meta, before: Meta): Meta {
  const own = Object.fromEntries(serversOwn.map((field) => [field, before[field]]));
  return tidy({ ...asked, ...own, ...(before.generation !== undefined && { generation: before.generation }) });
}

export function checkMetadata({ metadata }: Obj): Problem[] {
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  return [
    ...checkLabels('metadata.labels', labels),
    ...checkKeys('metadata.annotations', lowered(annotations)),
    ...finalizers.flatMap((name, i) => checkFinalizer(name, i)),
    ...trees(ownerReferences).flatMap(checkOwner),
    ...checkControllers(trees(ownerReferences)),
  ];
}

/** Of annotations the case of the prefix does not matter. */
const lowered = (annotations: Record<string, string>): object =>
  Object.fromEntries(
    Object.keys(annotations).map((key) => [key.replace(/^[^/]*\//, (prefix) => prefix.toLowerCase()), '']),
  );

const standard = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

const checkFinalizer = (name: string, i: number): Problem[] =>
  name.includes('/') || standard.has(name)
    ? []
    : [wrong(`metadata.finalizers[${i}]`, name, 'name is neither a standard finalizer name nor is it fully qualified')];

const checkOwner = (owner: Tree): Problem[] =>
  (['apiVersion', 'kind', 'name', 'uid'] as const)
    .filter((field) => !text(owner[field]))
    .map((field) => wrong(`metadata.ownerReferences.${field}`, '', 'must not be empty'));

function checkControllers(owners: Tree[]): Problem[] {
  const [first, second] = owners.filter(({ controller }) => controller === true);
  if (!first || !second) return [];
  const both = `${text(first['kind'])}/${text(first['name'])} and ${text(second['kind'])}/${text(second['name'])}`;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
  return [wrong('metadata.ownerReferences', owners, why)];
}

/** What a change of metadata may not do. */
export function checkMetadataChange(before: Meta, after: Meta): Problem[] {
  const problems: Problem[] = [];
  if (after.uid && after.uid !== before.uid) problems.push(wrong('metadata.uid', after.uid, 'field is immutable'));
  const added = (after.finalizers ?? []).filter((name) => !before.finalizers?.includes(name));
  if (before.deletionTimestamp && added.length > 0) {
    const found = `found new finalizers []string{${added.map((name) => `"${name}"`).join(', ')}}`;
    const why = `no new finalizers can be added if the object is being deleted, ${found}`;
    problems.push(problem('metadata.finalizers', 'Forbidden', why));
  }
  return problems;
}
