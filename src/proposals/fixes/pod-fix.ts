import { deletePod } from '../../actions/delete-pod.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { waitsForSetup } from '../../health/event-words.ts';
import { hasCrashedLately } from '../../health/pod.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps } from '../derive.ts';
import { type Fix, isLiving, type Scene, someOf } from '../scene.ts';

/* Replaces a pod by an eviction, so that disruption budgets hold. The action decides which pods may be evicted. */

const deletion = ({ pod: { name, uid } }: PodFacts, why: string): Fix => ({
  action: deletePod as never,
  params: { name, uid },
  why,
});

/** Each pod of a DaemonSet has its own node: when one fails among others that do not, the node may be the cause. */
const boundToNode = 'a new pod of a DaemonSet would be on the same node, which may be the cause';

/** Pods of the same revision run the same as the one that crashes. */
const runsTheSame = (one: PodFacts, other: PodFacts): boolean =>
  one.revision === other.revision && one.pod.owner?.uid === other.pod.owner?.uid;

/**
 * One pod crashes among others that run the same and are healthy: then the cause is this pod, and not what it runs.
 * Empty if there is only one pod.
 */
export function crashingPodFix({ workload, pods }: Scene, { nowMs }: DeriveDeps): Fix[] {
  const living = pods.filter(isLiving);
  if (living.length < 2) return [];
  const crashing = living.filter(({ pod }) => hasCrashedLately(pod, nowMs));
  const [bad, ...others] = crashing;
  if (!bad) return [];
  if (others.length > 0)
    return [{ refused: `${someOf(crashing.length, living.length)} crash, so it is not one pod alone` }];
  const siblings = living.filter((pod) => pod !== bad);
  const unready = siblings.filter(({ pod }) => !pod.ready).length;
  if (unready > 0)
    return [
      {
        refused: `${counted(unready, 'other pod')} ${unready === 1 ? 'is' : 'are'} not ready either, so it is not one pod alone`,
      },
    ];
  if (workload.object.kind === 'DaemonSet') return [{ refused: boundToNode }];
  const same = siblings.filter((pod) => runsTheSame(bad, pod)).length;
  if (same === 0) return [{ refused: 'no healthy pod runs the same as the one that crashes' }];
  const who =
    same === 1 ? 'Another pod runs the same and is healthy' : `${same} other pods run the same and are healthy`;
  return [
    deletion(bad, `${who}, so it may be this one alone; it is evicted, as disruption budgets allow, and made anew.`),
  ];
}

/** A new pod would ask for the same again, because the template does. */
const asAsked: ReadonlySet<string> = new Set(['CreateContainerConfigError']);
const isNotMade = (waiting = ''): boolean => asAsked.has(waiting) || waiting === 'CreateContainerError';

/** A pod that its node could not set up: a new one may work, perhaps on another node. */
export function stuckPodFix({ workload, pods }: Scene, named: readonly PodFacts[]): Fix {
  const stuck = named.filter(
    ({ pod, containers }) => waitsForSetup(pod) || containers.some(({ state }) => isNotMade(state.waiting)),
  );
  const [only, ...others] = stuck;
  if (!only) return { refused: 'no pod of it is stuck at the moment' };
  if (others.length > 0) {
    const some = someOf(stuck.length, pods.filter(isLiving).length);
    return { refused: `${some} cannot start, so it is not one pod alone` };
  }
  if (only.containers.some(({ state }) => asAsked.has(state.waiting ?? '')))
    return { refused: 'a new pod would ask for the same, and not start either' };
  if (workload.object.kind === 'DaemonSet' || only.pod.owner?.kind === 'DaemonSet') return { refused: boundToNode };
  const running = only.containers.filter(({ state }) => state.runningSinceMs !== undefined).length;
  const lost =
    running > 0
      ? `${counted(running, 'container')} of it ${running === 1 ? 'runs and ends' : 'run and end'} with it`
      : 'Nothing of it runs';
  return deletion(only, `${lost}; it is evicted and made anew, maybe on another node.`);
}
