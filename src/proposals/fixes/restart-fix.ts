import { type RolledOutKind, rolledOutKinds } from '../../actions/action.ts';
import { rolloutRestart } from '../../actions/rollout-restart.ts';
import { replacedInWords } from '../../actions/rollout.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { hasCrashedLately } from '../../health/pod.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps } from '../derive.ts';
import { type Fix, isLiving, type Scene, someOf } from '../scene.ts';

const isRestartable = (kind = ''): kind is RolledOutKind => (rolledOutKinds as readonly string[]).includes(kind);

/** Every container that should run does run. */
const isUp = ({ pod, containers }: PodFacts): boolean =>
  pod.phase === 'Running' &&
  containers.every(({ state }) => state.isInit === true || state.runningSinceMs !== undefined);

const is = (n: number): string => (n === 1 ? 'is' : 'are');

/** Why new pods of the same version would hardly help; undefined if all run, none is ready and none restarts. */
function whyNot({ workload, pods }: Scene, nowMs: number): string | undefined {
  const living = pods.filter(isLiving);
  const all = living.length;
  const count = (holds: (pod: PodFacts) => boolean): number => living.filter(holds).length;
  const ready = count(({ pod }) => pod.ready);
  if (ready > 0) return `${someOf(ready, all)} ${is(ready)} ready, so it is not all of them`;
  const restarting = count(({ pod }) => hasCrashedLately(pod, nowMs));
  if (restarting > 0) return `${someOf(restarting, all)} ${restarting === 1 ? 'restarts' : 'restart'} already`;
  const up = count(isUp);
  if (up < Math.max(all, workload.counts.desired))
    return `${counted(up, 'pod')} of ${Math.max(all, workload.counts.desired)} ${up === 1 ? 'runs' : 'run'}, not all`;
  const starting = count(({ containers }) => containers.some(({ state }) => state.isStarting === true));
  if (starting > 0) return `${someOf(starting, all)} ${is(starting)} still starting`;
  return undefined;
}

/** New pods of the same version, for pods that hang: only if all run, are unready and do not restart. */
export function restartFix(scene: Scene, { nowMs }: DeriveDeps): Fix {
  const { kind, metadata } = scene.workload.object;
  if (!isRestartable(kind)) return { refused: `a ${kind ?? 'workload'} has no restart` };
  const refused = whyNot(scene, nowMs);
  if (refused) return { refused };
  const { name, uid } = metadata;
  const pods = replacedInWords(kind, scene.workload.object);
  return {
    action: rolloutRestart as never,
    params: { kind, name, uid },
    why: `Helps if pods hang, not if a dependency is down. ${pods}.`,
  };
}
