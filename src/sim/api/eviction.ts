import { budgetsOf, isReady, writeBudget } from './budgets.ts';
import { type Core, serverItself } from './core.ts';
import { type Answer, count, type Obj, stamp, text, type Tree, tree, trees } from './model.ts';
import { badRequest, internal, Refusal, success } from './refusal.ts';
import { deleteOptionsIn, remove } from './removal.ts';
import type { Target } from './route.ts';
import { change, mustFind } from './writing.ts';

/** Deletes a pod, if its disruption budget allows it. */
export function evict(core: Core, target: Target, body: Tree, isDryRun: boolean): Answer {
  const { name } = tree(body['metadata']);
  if (name !== undefined && name !== target.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const pod = mustFind(core, target);
  const asked = deleteOptionsIn(tree(body['deleteOptions']));
  const options = { ...asked, dryRun: asked.dryRun || isDryRun };
  if (!needsNoBudget(pod)) mustBeWithinBudget(core, pod, options.dryRun);
  const marked = options.dryRun ? pod : markAsDisrupted(core, target, pod);
  remove(core, target.row, marked, options);
  return success(201);
}

/** It serves nobody: it never ran, has ended, or is on its way. */
const needsNoBudget = ({ metadata, status }: Obj): boolean =>
  metadata.deletionTimestamp !== undefined || ['Succeeded', 'Failed', 'Pending'].includes(text(status?.['phase']));

function mustBeWithinBudget(core: Core, pod: Obj, dryRun: boolean): void {
  const [budget, ...others] = budgetsOf(core, pod);
  if (!budget) return;
  if (others.length > 0)
    throw internal('This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.');
  const { spec = {}, status = {} } = budget;
  const [healthy, desired] = [count(status['currentHealthy']), count(status['desiredHealthy'])];
  const mayGoUnhealthy = spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow' || (healthy >= desired && desired > 0);
  if (!isReady(pod) && mayGoUnhealthy) return;
  const allowed = count(status['disruptionsAllowed']);
  if (allowed === 0) throw exhausted(budget.metadata.name, healthy, desired);
  if (dryRun) return;
  const disruptedPods = { ...tree(status['disruptedPods']), [pod.metadata.name]: stamp(core.clock.now()) };
  writeBudget(core, budget, { ...status, disruptionsAllowed: allowed - 1, disruptedPods });
}

function exhausted(name: string, healthy: number, desired: number): Refusal {
  const why =
    healthy <= desired
      ? `needs ${desired} healthy pods and has ${healthy} currently`
      : 'does not allow evicting pods currently';
  const message = "Cannot evict pod as it would violate the pod's disruption budget.";
  const causes = [{ reason: 'DisruptionBudget', message: `The disruption budget ${name} ${why}` }];
  return new Refusal(429, 'TooManyRequests', message, { causes });
}

function markAsDisrupted(core: Core, target: Target, pod: Obj): Obj {
  const mark = {
    type: 'DisruptionTarget',
    status: 'True',
    lastTransitionTime: stamp(core.clock.now()),
    reason: 'EvictionByEvictionAPI',
    message: 'Eviction API: evicting',
  };
  const conditions = [...trees(pod.status?.['conditions']).filter(({ type }) => type !== mark.type), mark];
  const to = { ...target, subresource: 'status' };
  return change(core, to, pod, { ...pod, status: { ...pod.status, conditions } }, serverItself);
}
