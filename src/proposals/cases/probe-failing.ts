import { readEvents } from '../../diagnosis/events.ts';
import { type Near, readNear } from '../../diagnosis/near.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { probeInWords } from '../../diagnosis/words/container-ends.ts';
import { timeMs } from '../../kube/raw.ts';
import { iso } from '../../lib/clock.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { restartFix } from '../fixes/restart-fix.ts';
import { failingProbe } from '../fixes/revision-trouble.ts';
import { lastTwo, stuckRolloutFix, undoFixes } from '../fixes/undo-fix.ts';
import { type Case, isLiving, ownWords, readScene, type Scene, someOf, waitingForFirst, worstOf } from '../scene.ts';

const isRunning = ({ containers }: PodFacts): boolean =>
  containers.some(({ state }) => state.runningSinceMs !== undefined && !state.ready);

/** Since when it is as it is now: a restart is no new version. */
const bornMsOf = ({ rollout: { object, revisions } }: Scene): number =>
  revisions.length > 0
    ? Math.min(...lastTwo(revisions).newest.map(({ view }) => view.createdAtMs))
    : timeMs(object.metadata.creationTimestamp);

/** A change takes effect within a few minutes, also through the threshold of a probe. */
const soonMs = 600_000;

/** "NetworkPolicy deny-all created (kubectl) just before", if that is what the order of times suggests. */
function justBefore({ changes }: Near, unready: readonly PodFacts[]): string[] {
  const since = unready.flatMap(({ pod }) => pod.unreadySinceMs ?? []);
  const firstMs = Math.min(...since);
  const suspect = changes.find(({ atMs }) => atMs <= firstMs + 60_000 && firstMs - atMs < soonMs);
  return suspect ? [`${suspect.text} just before`] : [];
}

const mostChanges = 4;

const withNear = (changed: readonly string[], { changes }: Near): string[] =>
  [...new Set([...changed, ...changes.map(({ atMs, text }) => `${iso(atMs)} ${text}`)])]
    .sort((a, b) => (a < b ? 1 : -1))
    .slice(0, mostChanges);

export async function probeFailingCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const living = scene.pods.filter(isLiving);
  const unready = living.filter((pod) => !pod.pod.ready);
  const running = unready.filter(isRunning);
  const events = await readEvents(
    scene.reader,
    subject.namespace,
    ['Unhealthy'],
    unready.map(({ pod }) => pod.uid),
  );
  const [first, ...others] = [...new Set(events.map(({ message }) => probeInWords(message)))];
  const restarts = unready.flatMap(({ containers }) => containers).reduce((sum, { state }) => sum + state.restarts, 0);
  const worst = worstOf(running, ({ state }) => !state.ready);
  const near = await readNear(scene.reader, scene.rollout, bornMsOf(scene), deps.nowMs);
  // A probe that begins before its container listens is refused at first: what it says now counts.
  const newest = [...Map.groupBy(events, ({ object }) => object.uid).values()].map(([event]) => event!.message);
  const [fix, ...orElse] = [
    ...undoFixes(scene, deps, failingProbe),
    restartFix(scene, deps, near, newest),
    ...stuckRolloutFix(scene, deps),
  ];
  return {
    diagnosis: [first ?? 'its pods run, but do not pass their health checks', ...justBefore(near, running)].join('; '),
    changed: withNear(scene.changed, near),
    evidence: [
      ...others.slice(0, 1),
      ...waitingForFirst(scene),
      ...(running.length > 0
        ? [`${someOf(running.length, living.length)} ${running.length === 1 ? 'runs and is' : 'run and are'} not ready`]
        : []),
      ...(restarts > 0 ? [`${counted(restarts, 'restart')} of them`] : []),
      ...(worst ? await ownWords(worst, deps) : []),
    ],
    fix: fix!,
    orElse,
  };
}
