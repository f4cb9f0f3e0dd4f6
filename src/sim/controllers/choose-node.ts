import { quantity } from '../../lib/quantity.ts';
import type { NodeObject, PodObject, PodSpec } from '../common/shapes.ts';
import { matchesNode, taintsOf, untolerated } from './fits.ts';

/** What a pod asks for, or a node's pods together have been promised. */
export interface Load {
  cpu: number;
  memory: number;
  pods: number;
}

export const noLoad: Load = { cpu: 0, memory: 0, pods: 0 };

export const add = (a: Load, b: Load, sign = 1): Load => ({
  cpu: a.cpu + sign * b.cpu,
  memory: a.memory + sign * b.memory,
  pods: a.pods + sign * b.pods,
});

/** Containers run side by side; init containers before them, one at a time. */
export function requestsOf({ containers = [], initContainers = [] }: PodSpec): Load {
  const asked = (resource: string) => (it: { resources?: { requests?: Record<string, string> } }) =>
    quantity(it.resources?.requests?.[resource] ?? '0') ?? 0;
  const most = (resource: string): number =>
    Math.max(
      containers.map(asked(resource)).reduce((total, one) => total + one, 0),
      ...initContainers.map(asked(resource)),
    );
  return { cpu: most('cpu'), memory: most('memory'), pods: 1 };
}

/** Why a pod cannot be on a node, in the scheduler's words; empty when it can. */
export function objections(pod: PodObject, node: NodeObject, used: Load): string[] {
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

export type Choice = { node: string } | { refusal: string };

/** Pure. The first node, from `turn` on and round, that will have it. */
export function chooseNode(
  pod: PodObject,
  nodes: readonly NodeObject[],
  usedOn: (node: string) => Load,
  turn: number,
): Choice {
  if (nodes.length === 0) return { refusal: 'no nodes available to schedule pods' };
  const inTurn = nodes.map((_, index) => nodes[(turn + index) % nodes.length]!);
  const verdicts = inTurn.map((node) => ({ node, why: objections(pod, node, usedOn(node.metadata.name)) }));
  const fit = verdicts.find(({ why }) => why.length === 0);
  if (fit) return { node: fit.node.metadata.name };
  const none = `0/${nodes.length} nodes are available:`;
  // Somebody else's end would help only where it fits on the node alone.
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
