import type { NodeObject, NodeTerm, PodSpec, Taint, Toleration } from '../common/shapes.ts';
import { conditionOf } from '../common/conditions.ts';

export const isNodeReady = ({ status }: NodeObject): boolean =>
  conditionOf(status?.conditions, 'Ready')?.status === 'True';

const tolerates = ({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean =>
  (!effect || effect === taint.effect) &&
  (key ? key === taint.key : operator === 'Exists') &&
  (operator === 'Exists' || value === (taint.value ?? ''));

export const untolerated = (taints: readonly Taint[], tolerations: readonly Toleration[] = []): Taint[] =>
  taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));

/** How long a pod may stay on a node with this taint; undefined: it does not tolerate it at all. */
export function toleratedSeconds(taint: Taint, tolerations: readonly Toleration[] = []): number | undefined {
  const matching = tolerations.filter((toleration) => tolerates(toleration, taint));
  if (matching.length === 0) return undefined;
  return Math.min(...matching.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds));
}

/** A node that does not report is tainted by its controller; until it is, its condition says the same. */
export function taintsOf(node: NodeObject): Taint[] {
  const taints = node.spec?.taints ?? [];
  const isMarked = taints.some(({ key }) => /^node\.kubernetes\.io\/(not-ready|unreachable)$/.test(key));
  return isNodeReady(node) || isMarked
    ? taints
    : [...taints, { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
}

export function matchesNode({ nodeSelector = {}, affinity }: PodSpec, node: NodeObject): boolean {
  const labels = node.metadata.labels ?? {};
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return (
    Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
    (terms === undefined || terms.some((term) => meets(term, node)))
  );
}

const meets = ({ matchExpressions = [], matchFields = [] }: NodeTerm, { metadata }: NodeObject): boolean =>
  matchExpressions.length + matchFields.length > 0 &&
  matchExpressions.every((rule) => holds(rule, metadata.labels?.[rule.key])) &&
  matchFields.every((rule) => holds(rule, rule.key === 'metadata.name' ? metadata.name : undefined));

function holds(
  { operator, values = [] }: { operator: string; values?: string[] },
  actual: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return actual !== undefined && values.includes(actual);
    case 'NotIn':
      return actual === undefined || !values.includes(actual);
    case 'Exists':
      return actual !== undefined;
    case 'DoesNotExist':
      return actual === undefined;
    case 'Gt':
      return Number(actual) > Number(values[0]);
    case 'Lt':
      return Number(actual) < Number(values[0]);
    default:
      return false;
  }
}
