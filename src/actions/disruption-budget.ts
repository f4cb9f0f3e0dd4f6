import { type KubeObject } from '../kube/api.ts';
import { viewPod } from '../kube/views.ts';
import { RetryLater } from '../lib/errors.ts';
import { type ActionContext, no, type ActionRefusal } from './action.ts';

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

interface Budget extends KubeObject {
  spec?: { selector?: LabelSelector; unhealthyPodEvictionPolicy?: string };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
  };
}

/** An absent selector selects nothing, an empty one everything. */
function selects(selector: LabelSelector | undefined, labels: Record<string, string> = {}): boolean {
  if (!selector) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const meets = ({ key, operator, values = [] }: NonNullable<LabelSelector['matchExpressions']>[number]): boolean => {
    const value = labels[key];
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return true; // in doubt the budget applies
    }
  };
  return Object.entries(matchLabels).every(([key, value]) => labels[key] === value) && matchExpressions.every(meets);
}

/**
 * Why the disruption budgets do not allow these pods to be evicted now, by the API server's own rules; undefined if
 * they do. https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/storage/eviction.go
 */
export async function overBudget(
  pods: readonly KubeObject[],
  { reader, namespace }: ActionContext,
): Promise<ActionRefusal | undefined> {
  if (pods.length === 0) return undefined;
  const budgets = await reader.list<Budget>('PodDisruptionBudget', namespace);
  for (const pod of pods) {
    const own = budgets.filter(({ spec }) => selects(spec?.selector, pod.metadata.labels));
    const refusal = judge(pod, own);
    if (refusal) return refusal;
  }
  return undefined;
}

/** Pods in these phases have ended or not started, so evicting them disturbs nobody. */
const unguarded: ReadonlySet<string> = new Set(['Pending', 'Succeeded', 'Failed']);

function judge(pod: KubeObject, [budget, ...others]: readonly Budget[]): ActionRefusal | undefined {
  const { phase, ready } = viewPod(pod)!;
  if (!budget || unguarded.has(phase)) return undefined;
  const { name } = budget.metadata;
  if (others.length > 0) {
    const names = [budget, ...others].map(({ metadata }) => metadata.name).join(', ');
    return no(
      'SeveralBudgets',
      `Pod ${pod.metadata.name} is under several disruption budgets (${names}): Kubernetes evicts no such pod.`,
    );
  }
  const {
    disruptionsAllowed = 0,
    currentHealthy = 0,
    desiredHealthy = 0,
    observedGeneration = 0,
  } = budget.status ?? {};
  const isSpare = currentHealthy >= desiredHealthy && desiredHealthy > 0;
  if (!ready && (budget.spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || isSpare)) return undefined;
  if (observedGeneration < (budget.metadata.generation ?? 0))
    throw new RetryLater(`disruption budget ${name} is still being worked out`, 1_000);
  if (disruptionsAllowed > 0) return undefined;
  return no(
    'BudgetExhausted',
    `Disruption budget ${name} wants ${desiredHealthy} healthy and has ${currentHealthy}: pod ${pod.metadata.name} cannot be evicted now.`,
  );
}
