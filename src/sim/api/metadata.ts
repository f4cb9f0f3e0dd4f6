import type { KindRow } from '../kinds/kinds.ts';
import { type FieldProblem, problem, wrong } from './http-refusals.ts';
import { isTree, type Meta, type Obj, text, type Tree, trees } from './model.ts';

/** The fields that only the server writes, or that the path gives. */
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

/** The first metadata field of a wrong type, in the words of Go's decoder; undefined when there is none. */
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
  const ownerFields = trees(metadata['ownerReferences']).flatMap(({ apiVersion, kind, name, uid }) => [
    apiVersion,
    kind,
    name,
    uid,
  ]);
  const odd = ownerFields.find((value) => typeof (value ?? '') !== 'string');
  if (odd !== undefined) return cannot(odd, 'ownerReferences', 'string');
  return undefined;
}

export const goType = (value: unknown): string =>
  Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;

/** Removes empty fields, because Go leaves them out. */
export function tidy(metadata: Tree): Meta {
  const isEmpty = (value: unknown): boolean =>
    value === '' || (Array.isArray(value) ? value.length === 0 : isTree(value) && Object.keys(value).length === 0);
  const kept = Object.entries(metadata).filter(([, value]) => value !== null && value !== undefined && !isEmpty(value));
  return Object.fromEntries(kept) as unknown as Meta;
}

/** The metadata as asked for, except for the fields that only the server writes. */
export function keepServersOwn(asked: Meta, before: Meta): Meta {
  const own = Object.fromEntries(serversOwn.map((field) => [field, before[field]]));
  return tidy({ ...asked, ...own, ...(before.generation !== undefined && { generation: before.generation }) });
}

export function checkMetadata({ metadata }: Obj): FieldProblem[] {
  const { labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  return [
    ...checkLabels('metadata.labels', labels),
    ...checkKeys('metadata.annotations', lowered(annotations)),
    ...finalizers.flatMap((name, i) => checkFinalizer(name, i)),
    ...trees(ownerReferences).flatMap(checkOwner),
    ...checkControllers(trees(ownerReferences)),
  ];
}

/** The prefix of an annotation may be written in upper case. */
const lowered = (annotations: Record<string, string>): object =>
  Object.fromEntries(
    Object.keys(annotations).map((key) => [key.replace(/^[^/]*\//, (prefix) => prefix.toLowerCase()), '']),
  );

const standard = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

const checkFinalizer = (name: string, i: number): FieldProblem[] =>
  name.includes('/') || standard.has(name)
    ? []
    : [wrong(`metadata.finalizers[${i}]`, name, 'name is neither a standard finalizer name nor is it fully qualified')];

const checkOwner = (owner: Tree): FieldProblem[] =>
  (['apiVersion', 'kind', 'name', 'uid'] as const)
    .filter((field) => !text(owner[field]))
    .map((field) => wrong(`metadata.ownerReferences.${field}`, '', 'must not be empty'));

function checkControllers(owners: Tree[]): FieldProblem[] {
  const [first, second] = owners.filter(({ controller }) => controller === true);
  if (!first || !second) return [];
  const both = `${text(first['kind'])}/${text(first['name'])} and ${text(second['kind'])}/${text(second['name'])}`;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${both}`;
  return [wrong('metadata.ownerReferences', owners, why)];
}

/** The problems in a change of metadata. */
export function checkMetadataChange(before: Meta, after: Meta): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (after.uid && after.uid !== before.uid) problems.push(wrong('metadata.uid', after.uid, 'field is immutable'));
  const added = (after.finalizers ?? []).filter((name) => !before.finalizers?.includes(name));
  if (before.deletionTimestamp && added.length > 0) {
    const found = `found new finalizers []string{${added.map((name) => `"${name}"`).join(', ')}}`;
    const why = `no new finalizers can be added if the object is being deleted, ${found}`;
    problems.push(problem('metadata.finalizers', 'Forbidden', why));
  }
  return problems;
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(\\.${label})*$`);
const onlyLabel = new RegExp(`^${label}$`);
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric " +
  "character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

/** The problems in the name of an object. */
export function checkName(name: string, { names }: KindRow): FieldProblem[] {
  const bad = (why: string): FieldProblem[] => [wrong('metadata.name', name, why)];
  if (names === 'path') {
    if (name === '.' || name === '..') return bad(`may not be '${name}'`);
    return /[/%]/.test(name) ? bad("may not contain '/' or '%'") : [];
  }
  if (names === 'label') {
    if (name.includes('.')) return bad('must not contain dots');
    if (name.length > 63) return bad('must be no more than 63 bytes');
    return onlyLabel.test(name) ? [] : bad(labelRule);
  }
  if (name.length > 253) return bad('must be no more than 253 characters');
  return subdomain.test(name) ? [] : bad(subdomainRule);
}

const qualifiedName = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?(?=.{1,63}$)([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const labelValue = /^(?=.{0,63}$)(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const keyRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const checkKeys = (field: string, map: object): FieldProblem[] =>
  Object.keys(map)
    .filter((key) => !qualifiedName.test(key))
    .map((key) => wrong(field, key, keyRule));

const checkLabels = (field: string, labels: Record<string, string>): FieldProblem[] => [
  ...checkKeys(field, labels),
  ...Object.values(labels)
    .filter((value) => !labelValue.test(value))
    .map((value) => wrong(field, value, valueRule)),
];

/** The letters of generated suffixes. There are no vowels and no 0, 1 or 3, so that a suffix never forms a word. */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789';
const longestGenerated = 63;
const suffixLength = 5;

/** "web-" becomes "web-x7k2p". */
export function generateName(base: string, random: () => number): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  return `${base.slice(0, longestGenerated - suffixLength)}${suffix}`;
}

/** A UUID of version 4, made with the given random source so that a run is repeatable. */
export function newUid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = '4';
  hex[16] = '89ab'[Math.floor(random() * 4)]!;
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
