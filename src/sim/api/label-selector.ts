import { badRequest } from './refusal.ts';

export type Labels = Readonly<Record<string, string>>;
export type Matches = (labels: Labels) => boolean;

const operators = new Set(['=', '==', '!=', 'in', 'notin', '>', '<']);
const labelKey = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const say = (found: string | undefined, expected: string): Error =>
  badRequest(`unable to parse requirement: found '${found ?? ''}', expected: ${expected}`);

/** "a=b,c!=d,e in (f,g),h,!i" as a question; throws the 400 of the real one. https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ */
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
  if (!operators.has(operator)) throw say(operator, 'in, notin, =, ==, !=, gt, lt');
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
  if (open !== '(') throw say(open, "'('");
  const values = new Set<string>();
  for (;;) {
    const value = tokens[0] === ',' || tokens[0] === ')' ? '' : tokens.shift();
    const next = tokens.shift();
    if (value === undefined || (next !== ',' && next !== ')')) throw say(next, "',' or ')'");
    values.add(value);
    if (next === ')') return values;
  }
}
