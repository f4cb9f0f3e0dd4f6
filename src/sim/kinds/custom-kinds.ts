import { sameValue } from '../../lib/hash.ts';
import type { Manifest } from '../../manifests/manifest.ts';
import type { Schema } from '../../manifests/structural.ts';
import { type FieldProblem, problem, unsupported, wrong } from '../api/http-refusals.ts';
import { isTree, type Obj, type Tree } from '../api/model.ts';
import type { KindRow, KindRules } from './kinds.ts';

/** The parts of a CustomResourceDefinition that this server uses. CEL rules are not among them. */
interface Definition {
  group: string;
  scope: string;
  names: { kind: string; plural: string };
  versions: { name: string; subresources?: { status?: object }; schema: { openAPIV3Schema: Schema } }[];
}

/** One row per definition, for its first version. */
export const customKinds = (definitions: readonly Manifest[]): KindRow[] =>
  definitions.map(({ spec }) => {
    const { group, scope, names, versions } = spec as Definition;
    const [version] = versions;
    if (!version) throw new RangeError(`the definition of ${names.kind} has no version`);
    return {
      kind: names.kind,
      group,
      version: version.name,
      plural: names.plural,
      namespaced: scope === 'Namespaced',
      subresources: version.subresources?.status ? ['status'] : [],
      generation: 'spec',
      names: 'subdomain',
      custom: true,
      conditional: true,
      rules: rulesOf(version.schema.openAPIV3Schema),
    };
  });

const rulesOf = (schema: Schema): KindRules => ({
  defaults({ apiVersion, kind, metadata, ...object }) {
    const content = defaulted(pruned(object, schema), schema) as Tree;
    return { apiVersion, kind, metadata, ...content } as Obj;
  },
  check: ({ metadata: _metadata, ...object }) => checked(object, schema, ''),
});

/** Removes fields that the schema does not know, and nulls that it does not allow. */
function pruned(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => pruned(item, schema.items!)) : value;
  const { properties } = schema;
  if (!isTree(value) || !properties) return value;
  const kept = Object.entries(value).filter(([key, inner]) => {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return known !== undefined && (inner !== null || known['nullable'] === true);
  });
  return Object.fromEntries(kept.map(([key, inner]) => [key, pruned(inner, properties[key]!)]));
}

/** Fills in the schema's defaults. */
function defaulted(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) return schema.items ? value.map((item) => defaulted(item, schema.items!)) : value;
  const { properties } = schema;
  if (!isTree(value) || !properties) return value;
  const filled: Tree = { ...value };
  for (const [key, inner] of Object.entries(properties)) {
    if (filled[key] === undefined && inner['default'] !== undefined) filled[key] = structuredClone(inner['default']);
    if (filled[key] !== undefined) filled[key] = defaulted(filled[key], inner);
  }
  return filled;
}

/** The problems that the schema finds in a value. */
function checked(value: unknown, schema: Schema, path: string): FieldProblem[] {
  if (schema.type && !isOfType(value, schema.type)) {
    const is = typeName(value);
    const why = `${path} in body must be of type ${schema.type}: "${is}"`;
    return [problem(path, 'TypeInvalid', `"${is}": ${why}`)];
  }
  if (isTree(value)) return checkTree(value, schema, path);
  if (Array.isArray(value)) return checkList(value, schema, path);
  return checkScalar(value, schema, path);
}

const isOfType = (value: unknown, type: string): boolean =>
  type === 'integer'
    ? Number.isInteger(value)
    : type === typeName(value) || (type === 'number' && typeName(value) === 'integer');

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function checkTree(value: Tree, { properties = {}, required = [] }: Schema, path: string): FieldProblem[] {
  const below = (key: string): string => (path ? `${path}.${key}` : key);
  const missing = required.filter((key) => value[key] === undefined).map((key) => problem(below(key), 'Required'));
  const inside = Object.entries(properties)
    .filter(([key]) => value[key] !== undefined)
    .flatMap(([key, inner]) => checked(value[key], inner, below(key)));
  return [...missing, ...inside];
}

function checkList(value: unknown[], schema: Schema, path: string): FieldProblem[] {
  const { items, maxItems } = schema;
  const keys = schema['x-kubernetes-list-map-keys'] as string[] | undefined;
  const keyOf = (item: unknown): unknown => keys && isTree(item) && keys.map((key) => item[key]);
  const twice = keys
    ? value.findIndex((item, i) => value.findIndex((other) => sameValue(keyOf(other), keyOf(item))) < i)
    : -1;
  return [
    ...(typeof maxItems === 'number' && value.length > maxItems
      ? [problem(path, 'TooMany', `${value.length}: must have at most ${maxItems} items`)]
      : []),
    ...(twice === -1 ? [] : [problem(`${path}[${twice}]`, 'Duplicate', JSON.stringify(keyOf(value[twice])))]),
    ...(items ? value.flatMap((item, i) => checked(item, items, `${path}[${i}]`)) : []),
  ];
}

function checkScalar(value: unknown, schema: Schema, path: string): FieldProblem[] {
  const limits = schema as {
    minimum?: number;
    maximum?: number;
    minLength?: number;
    maxLength?: number;
    enum?: unknown[];
  };
  const problems: FieldProblem[] = [];
  const bad = (why: string): void => void problems.push(wrong(path, value, `${path} in body ${why}`));
  if (limits.enum && !limits.enum.includes(value)) problems.push(unsupported(path, value, limits.enum.map(String)));
  if (typeof value === 'number') {
    if (value < (limits.minimum ?? -Infinity)) bad(`should be greater than or equal to ${limits.minimum}`);
    if (value > (limits.maximum ?? Infinity)) bad(`should be less than or equal to ${limits.maximum}`);
  }
  if (typeof value !== 'string') return problems;
  const length = [...value].length;
  if (length > (limits.maxLength ?? Infinity))
    problems.push(problem(path, 'TooLong', `may not be more than ${limits.maxLength} bytes`));
  if (length < (limits.minLength ?? 0)) bad(`should be at least ${limits.minLength} chars long`);
  for (const pattern of patternsOf(schema)) if (!new RegExp(pattern).test(value)) bad(`should match '${pattern}'`);
  if (schema['format'] === 'date-time' && !isTime(value)) bad(`must be of type date-time: "${value}"`);
  return problems;
}

const patternsOf = ({ pattern, allOf = [] }: Schema): string[] =>
  [pattern, ...(allOf as Schema[]).map((one) => one['pattern'])].filter((one) => typeof one === 'string');

/**
 * Whether the API server takes this for a date-time: a day of the calendar and a time of that day. It accepts lower-case
 * letters and any offset, even "+99:99".
 * https://github.com/kubernetes/kube-openapi/blob/master/pkg/validation/strfmt/time.go (IsDateTime)
 */
function isTime(value: string): boolean {
  const [, day = '', hour = '', minute = '', second = ''] =
    /^(\d{4}-\d{2}-\d{2})t(\d{2}):(\d{2}):(\d{2})(\.\d+)?(z|[+-]\d{2}:\d{2})$/.exec(value.toLowerCase()) ?? [];
  return isDay(day) && hour <= '23' && minute <= '59' && second <= '59';
}

/** "2026-02-31" is no day: written again, it is another one. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
