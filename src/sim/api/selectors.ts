import type { KindRow } from '../kinds/kinds.ts';
import { badRequest } from './http-refusals.ts';
import { at, type Obj, text, tree, trees } from './model.ts';

type Labels = Readonly<Record<string, string>>;
type Matches = (labels: Labels) => boolean;

const operators = new Set(['=', '==', '!=', 'in', 'notin', '>', '<']);
const labelKey = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const unparseable = (found: string | undefined, expected: string): Error =>
  badRequest(`unable to parse requirement: found '${found ?? ''}', expected: ${expected}`);

/** Makes a predicate of "a=b,c!=d,e in (f,g),h,!i"; throws the real server's 400. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
export function parseLabelSelector(selector: string): Matches {
  const tokens = selector.match(/==|!=|[=!><(),]|[^\s=!><(),]+/g) ?? [];
  const all: Matches[] = [];
  if (tokens.length === 0) return () => true;
  for (;;) {
    all.push(requirement(tokens));
    const next = tokens.shift();
    if (next === undefined) return (labels) => all.every((matches) => matches(labels));
    if (next !== ',') throw badRequest(`found '${next}', expected: ',' or 'end of string'`);
    if (tokens.length === 0) throw badRequest("found '', expected: identifier after ','");
  }
}

function requirement(tokens: string[]): Matches {
  const isAbsence = tokens[0] === '!';
  if (isAbsence) tokens.shift();
  const key = tokens.shift() ?? '';
  if (/^[=!><(),]|^$/.test(key)) throw badRequest(`found '${key}', expected: !, identifier, or 'end of string'`);
  if (!labelKey.test(key)) throw badRequest(`unable to parse requirement: <nil>: Invalid value: "${key}"`);
  if (isAbsence) return (labels) => !Object.hasOwn(labels, key);
  if (tokens[0] === undefined || tokens[0] === ',') return (labels) => Object.hasOwn(labels, key);
  const operator = tokens.shift()!;
  if (!operators.has(operator)) throw unparseable(operator, 'in, notin, =, ==, !=, gt, lt');
  if (operator === 'in' || operator === 'notin') {
    const values = valuesOf(tokens);
    return ({ [key]: value }) => (value !== undefined && values.has(value)) === (operator === 'in');
  }
  const value = isEnd(tokens[0]) ? '' : tokens.shift()!;
  return comparison(operator, key, value);
}

const isEnd = (token: string | undefined): boolean => token === undefined || token === ',';

function comparison(operator: string, key: string, value: string): Matches {
  if (operator === '!=') return (labels) => labels[key] !== value;
  if (operator === '>' || operator === '<') {
    if (!/^-?\d+$/.test(value))
      throw badRequest(`unable to parse requirement: values[0][${key}]: "${value}" is no integer`);
    return ({ [key]: is }) =>
      is !== undefined && (operator === '>' ? Number(is) > Number(value) : Number(is) < Number(value));
  }
  return (labels) => labels[key] === value;
}

function valuesOf(tokens: string[]): Set<string> {
  const open = tokens.shift();
  if (open !== '(') throw unparseable(open, "'('");
  const values = new Set<string>();
  for (;;) {
    const value = tokens[0] === ',' || tokens[0] === ')' ? '' : tokens.shift();
    const next = tokens.shift();
    if (value === undefined || (next !== ',' && next !== ')')) throw unparseable(next, "',' or ')'");
    values.add(value);
    if (next === ')') return values;
  }
}

const everywhere = ['metadata.name', 'metadata.namespace'];

/** Makes a predicate of "a=b,c!=d"; throws the real server's 400 for a field that cannot be selected by. */
export function parseFieldSelector(selector: string, row: KindRow): (object: Obj) => boolean {
  const terms = selector
    .split(',')
    .filter(Boolean)
    .map((term) => parsed(term, selector));
  for (const { field } of terms) mustBeKnown(field, row);
  return (object) => terms.every(({ field, value, isWanted }) => (valueOf(object, field) === value) === isWanted);
}

function parsed(term: string, selector: string): { field: string; value: string; isWanted: boolean } {
  const [, field, operator, value] = /^([^=!]+)(==|!=|=)(.*)$/s.exec(term) ?? [];
  if (field === undefined) throw badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  return { field, value: value ?? '', isWanted: operator !== '!=' };
}

function mustBeKnown(field: string, { fields }: KindRow): void {
  if (everywhere.includes(field) || fields?.includes(field)) return;
  throw badRequest(
    fields
      ? `field label not supported: ${field}`
      : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
  );
}

function valueOf(object: Obj, field: string): string {
  if (field === 'source') return String(at(object, 'source.component') ?? '');
  const value = at(object, field);
  // The real server selects a missing boolean as false.
  if (value === undefined && (field === 'spec.unschedulable' || field === 'spec.hostNetwork')) return 'false';
  return value === undefined || value === null ? '' : String(value);
}

/** Whether the LabelSelector of a workload or a budget selects these labels. An empty selector selects everything. */
export function picks(selector: unknown, labels: Labels): boolean {
  const { matchLabels, matchExpressions } = tree(selector);
  return (
    Object.entries(tree(matchLabels)).every(([key, value]) => labels[key] === value) &&
    trees(matchExpressions).every((expression) => holds(expression, labels))
  );
}

function holds({ key, operator, values }: Record<string, unknown>, labels: Labels): boolean {
  const value = Object.hasOwn(labels, text(key)) ? labels[text(key)] : undefined;
  const isListed = value !== undefined && Array.isArray(values) && values.includes(value);
  switch (operator) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return value !== undefined;
    default:
      return operator === 'DoesNotExist' && value === undefined;
  }
}

/** Writes a LabelSelector as a query: "app=web,tier in (a,b)". */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = tree(selector);
  const queryTerms: Record<string, (key: string, values: string) => string> = {
    In: (key, values) => `${key} in (${values})`,
    NotIn: (key, values) => `${key} notin (${values})`,
    Exists: (key) => key,
    DoesNotExist: (key) => `!${key}`,
  };
  const expressions = trees(matchExpressions).map(({ key, operator, values }) =>
    queryTerms[text(operator)]?.(text(key), Array.isArray(values) ? values.join(',') : ''),
  );
  const equal = Object.entries(tree(matchLabels)).map(([key, value]) => `${key}=${String(value)}`);
  return [...equal, ...expressions].filter(Boolean).sort().join(',');
}
