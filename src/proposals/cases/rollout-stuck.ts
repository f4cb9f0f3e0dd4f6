import { readEvents } from '../../diagnosis/events.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { probeInWords } from '../../diagnosis/words/container-ends.ts';
import { schedulerInWords } from '../../diagnosis/words/scheduler.ts';
import { num, specIn } from '../../kube/raw.ts';
import { spokenDuration } from '../../lib/duration.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { stuckRollout } from '../fixes/revision-trouble.ts';
import { undoFix } from '../fixes/undo-fix.ts';
import { type Case, isLiving, ownWords, readScene, type Scene, worstOf } from '../scene.ts';

/** The API server's default. */
const usualDeadlineSeconds = 600;

function progressInWords({ workload: { object, revisions } }: Scene): string {
  const [newest] = revisions;
  const deadline = num(specIn(object)['progressDeadlineSeconds'], usualDeadlineSeconds);
  const rollout = newest ? `rollout ${newest.view.revision}` : 'the rollout';
  const pods = newest ? `: ${newest.view.available} of ${newest.view.desired} new pods available` : '';
  return `${rollout} missed its deadline of ${spokenDuration(deadline * 1000)}${pods}`;
}

/** The reason why one of its new pods waits, as far as it is visible. */
async function readWhy({ reader }: Scene, namespace: string, fresh: readonly PodFacts[]): Promise<string[]> {
  const unscheduled = fresh.find(({ pod }) => pod.unscheduled);
  if (unscheduled) return [schedulerInWords(unscheduled.pod.unscheduled!.message, unscheduled.asks)];
  const [probe] = await readEvents(
    reader,
    namespace,
    ['Unhealthy'],
    fresh.map(({ pod }) => pod.uid),
  );
  if (probe) return [probeInWords(probe.message)];
  const waiting = fresh.flatMap(({ containers }) => containers).find(({ state }) => state.waiting);
  return waiting ? [`container ${waiting.state.name} waits: ${waiting.state.waiting}`] : [];
}

/** "init container wait-for-db (until) has not ended for 8 min": nothing else of its pod can begin. */
function hangingInit(fresh: readonly PodFacts[], nowMs: number): string[] {
  const running = fresh
    .flatMap(({ containers }) => containers)
    .filter(({ state }) => state.isInit === true && (state.runningSinceMs ?? 0) > 0)
    .sort((a, b) => a.state.runningSinceMs! - b.state.runningSinceMs!);
  return running.slice(0, 1).map(({ state, program }) => {
    const what = program ? ` (${program})` : '';
    return `init container ${state.name}${what} has not ended for ${spokenDuration(nowMs - state.runningSinceMs!)}`;
  });
}

export async function rolloutStuckCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const { workload, pods, changed } = scene;
  const newest = workload.revisions[0]?.view.uid;
  const fresh = pods.filter((pod) => isLiving(pod) && !pod.pod.ready && pod.pod.owner?.uid === newest);
  const unready = worstOf(
    fresh,
    ({ state }) => !state.ready && (state.runningSinceMs !== undefined || state.ended !== undefined),
  );
  return {
    diagnosis: [progressInWords(scene), ...hangingInit(fresh, deps.nowMs)].join('; '),
    changed,
    evidence: [...(await readWhy(scene, subject.namespace, fresh)), ...(unready ? await ownWords(unready, deps) : [])],
    fix: undoFix(scene, deps, stuckRollout),
  };
}
