import { quantity } from '../../lib/quantity.ts';
import type { NodeObject, NodeTerm, PodObject, PodSpec, Taint, Toleration } from '../common/shapes.ts';
import { conditionOf } from '../common/status-writing.ts';

/** The requests of a pod, or of all pods of a node together. */
export interface NodeLoad {
  cpu: number;
  memory: number;
  pods: number;
}

export const noLoad: NodeLoad = { cpu: 0, memory: 0, pods: 0 };

export const add = (a: NodeLoad, b: NodeLoad, sign = 1): NodeLoad => ({
  cpu: a.cpu + sign * b.cpu,
  memory: a.memory + sign * b.memory,
  pods: a.pods + sign * b.pods,
});

/** Containers run at the same time, so they add up; init containers run before them one at a time, so the largest counts. */
export function requestsOf({ containers = [], initContainers = [] }: PodSpec): NodeLoad {
  const asked = (resource: string) => (it: { resources?: { requests?: Record<string, string> } }) =>
    quantity(it.resources?.requests?.[resource] ?? '0') ?? 0;
  const most = (resource: string): number =>
    Math.max(
      containers.map(asked(resource)).reduce((total, one) => total + one, 0),
      ...initContainers.map(asked(resource)),
    );
  return { cpu: most('cpu'), memory: most('memory'), pods: 1 };
}

/** Why a pod cannot run on a node, in the scheduler's words; empty when it can. */
function objections(pod: PodObject, node: NodeObject, used: NodeLoad): string[] {
  const spec = pod.spec ?? {};
  const bad = untolerated(taintsOf(node), spec.tolerations).filter(({ effect }) => effect !== 'PreferNoSchedule');
  const mayBeUnschedulable = untolerated(
    [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }],
    spec.tolerations,
  );
  if (node.spec?.unschedulable && mayBeUnschedulable.length > 0) return ['node(s) were unschedulable'];
  if (bad.length > 0) return ['node(s) had untolerated taint(s)'];
  if (!matchesNode(spec, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  const total = add(used, requestsOf(spec));
  const room = (resource: string): number =>
    quantity(node.status?.allocatable?.[resource] ?? '') ?? Number.POSITIVE_INFINITY;
  return [
    ...(total.pods > room('pods') ? ['Too many pods'] : []),
    ...(total.cpu > room('cpu') + 1e-9 ? ['Insufficient cpu'] : []),
    ...(total.memory > room('memory') ? ['Insufficient memory'] : []),
  ];
}

type NodeChoice = { node: string } | { refusal: string };

/** Chooses the first node that fits, starting at `turn` and going around. Pure. */
export function chooseNode(
  pod: PodObject,
  nodes: readonly NodeObject[],
  usedOn: (node: string) => NodeLoad,
  turn: number,
): NodeChoice {
  if (nodes.length === 0) return { refusal: 'no nodes available to schedule pods' };
  const inTurn = nodes.map((_, index) => nodes[(turn + index) % nodes.length]!);
  const verdicts = inTurn.map((node) => ({ node, why: objections(pod, node, usedOn(node.metadata.name)) }));
  const fit = verdicts.find(({ why }) => why.length === 0);
  if (fit) return { node: fit.node.metadata.name };
  const none = `0/${nodes.length} nodes are available:`;
  // Preemption could help only on a node where the pod fits alone.
  const tooFull = nodes.filter((node) => objections(pod, node, noLoad).length === 0).length;
  const preemption = histogram([
    ...Array<string>(tooFull).fill('No preemption victims found for incoming pod'),
    ...Array<string>(nodes.length - tooFull).fill('Preemption is not helpful for scheduling'),
  ]);
  const why = histogram(verdicts.flatMap((verdict) => verdict.why));
  return { refusal: `${none} ${why}. no new claims to deallocate, preemption: ${none} ${preemption}.` };
}

function histogram(reasons: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}

const isNodeReady = ({ status }: NodeObject): boolean => conditionOf(status?.conditions, 'Ready')?.status === 'True';

const tolerates = ({ key, operator = 'Equal', value = '', effect }: Toleration, taint: Taint): boolean =>
  (!effect || effect === taint.effect) &&
  (key ? key === taint.key : operator === 'Exists') &&
  (operator === 'Exists' || value === (taint.value ?? ''));

export const untolerated = (taints: readonly Taint[], tolerations: readonly Toleration[] = []): Taint[] =>
  taints.filter((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));

/** How long a pod may stay on a node with this taint; undefined when it does not tolerate the taint. */
export function toleratedSeconds(taint: Taint, tolerations: readonly Toleration[] = []): number | undefined {
  const matching = tolerations.filter((toleration) => tolerates(toleration, taint));
  if (matching.length === 0) return undefined;
  return Math.min(...matching.map(({ tolerationSeconds = Number.POSITIVE_INFINITY }) => tolerationSeconds));
}

/** The node controller taints a node that does not report; until then the node's condition counts as that taint. */
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
