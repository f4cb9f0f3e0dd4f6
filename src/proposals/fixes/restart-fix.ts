import { type RolledOutKind, rolledOutKinds } from '../../actions/action.ts';
import { rolloutRestart } from '../../actions/rollout-restart.ts';
import { replacedInWords } from '../../actions/rollout.ts';
import type { Near } from '../../diagnosis/near.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { hasCrashedLately } from '../../health/pod.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps } from '../derive.ts';
import { type Fix, isLiving, type Scene, someOf } from '../scene.ts';
import { causesAmong, differencesOf } from './rollout-causes.ts';
import { healthyMs, lastTwo } from './undo-fix.ts';

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

/** It became unready after its container had started: so it was ready in between. */
const wasReady = ({ pod }: PodFacts): boolean =>
  pod.containers.some(
    ({ runningSinceMs = 0, ready }) =>
      !ready && runningSinceMs > 0 && (pod.unreadySinceMs ?? 0) > runningSinceMs + 1_000,
  );

/** Messages of probes that pods which never were ready will not pass after a restart either. */
const asksInVain = /connection refused|server gave HTTP response to HTTPS client|malformed HTTP response|tls: |statuscode: 4(?!08|29)\d\d|does not implement the grpc health protocol|executable file not found|no such file or directory/; // prettier-ignore

/** Why the probe itself, and not a hanging pod, is the likely cause. */
function probeAsksInVain({ pods }: Scene, messages: readonly string[]): string | undefined {
  const unready = pods.filter((pod) => isLiving(pod) && !pod.pod.ready);
  if (!messages.some((message) => asksInVain.test(message)) || unready.every(wasReady)) return undefined;
  return 'its pods were never ready, and the probe asks for what they do not serve: new pods would not either';
}

/** A newest revision that never was well, and changed something that health checks depend on. */
function broughtByRollout({ rollout }: Scene, { history, nowMs }: DeriveDeps): string | undefined {
  const { newest, previous } = lastTwo(rollout.revisions);
  const [now, before] = [newest[0], previous[0]];
  if (!now || !before || nowMs - now.view.createdAtMs > recentlyMs) return undefined;
  if (newest.some((one) => healthyMs(one, { workload: rollout, history, nowMs }) > 0)) return undefined;
  return causesAmong('ProbeFailing', differencesOf(before.template, now.template)).length > 0
    ? `revision ${now.view.revision} is less than an hour old, and never was ready`
    : undefined;
}

const recentlyMs = 3_600_000;

/** Why what changed near the pods, and not the pods, is the likely cause. What may not be read is not known. */
function changedNear({ changes: [change], unread }: Near): string | undefined {
  if (change) return `${change.text} in the last hour, which a restart does not change`;
  // ConfigMaps are not readable by default, and the sentence of the fix says so.
  const unknown = unread.filter((kind) => kind !== 'ConfigMaps');
  return unknown.length > 0
    ? `${unknown.join(' and ')} may not be read, so what changed near it is not known`
    : undefined;
}

/**
 * New pods of the same version, for pods that hang: only if all run, are unready and do not restart, and nothing that
 * their health checks depend on is known to have changed.
 */
export function restartFix(scene: Scene, deps: DeriveDeps, near: Near, probes: readonly string[]): Fix {
  const { kind, metadata } = scene.workload.object;
  if (!isRestartable(kind)) return { refused: `a ${kind ?? 'workload'} has no restart` };
  const refused =
    whyNot(scene, deps.nowMs) ?? probeAsksInVain(scene, probes) ?? broughtByRollout(scene, deps) ?? changedNear(near);
  if (refused) return { refused };
  const { name, uid } = metadata;
  const pods = replacedInWords(kind, scene.workload.object);
  const unread = near.unread.length > 0 ? `, as far as may be read (not its ${near.unread.join(' and ')})` : '';
  return {
    action: rolloutRestart as never,
    params: { kind, name, uid },
    why: `Helps if pods hang, not if a dependency is down. Nothing near them changed in the last hour${unread}. ${pods}.`,
  };
}
