import type { Labels } from './label-selector.ts';
import { text, tree, trees } from './model.ts';

/** Whether a LabelSelector, as workloads and budgets have it, picks these labels. An empty one picks everything. */
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

/** The same in the words of a query: "app=web,tier in (a,b)". */
export function selectorText(selector: unknown): string {
  const { matchLabels, matchExpressions } = tree(selector);
  const words: Record<string, (key: string, values: string) => string> = {
    In: (key, values) => `${key} in (${values})`,
    NotIn: (key, values) => `${key} notin (${values})`,
    Exists: (key) => key,
    DoesNotExist: (key) => `!${key}`,
  };
  const expressions = trees(matchExpressions).map(({ key, operator, values }) =>
    words[text(operator)]?.(text(key), Array.isArray(values) ? values.join(',') : ''),
  );
  const equal = Object.entries(tree(matchLabels)).map(([key, value]) => `${key}=${String(value)}`);
  return [...equal, ...expressions].filter(Boolean).sort().join(',');
}
