import { readEvents } from '../../diagnosis/events.ts';
import type { PodFacts } from '../../diagnosis/pods.ts';
import { probeInWords } from '../../diagnosis/words/container-ends.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { restartFix } from '../fixes/restart-fix.ts';
import { type Case, isLiving, ownWords, readScene, someOf, worstOf } from '../scene.ts';

const isRunning = ({ containers }: PodFacts): boolean =>
  containers.some(({ state }) => state.runningSinceMs !== undefined && !state.ready);

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
  return {
    diagnosis: first ?? 'its pods run, but do not pass their health checks',
    changed: scene.changed,
    evidence: [
      ...others.slice(0, 1),
      ...(running.length > 0
        ? [`${someOf(running.length, living.length)} ${running.length === 1 ? 'runs and is' : 'run and are'} not ready`]
        : []),
      ...(restarts > 0 ? [`${counted(restarts, 'restart')} of them`] : []),
      ...(worst ? await ownWords(worst, deps) : []),
    ],
    fix: restartFix(scene, deps),
  };
}
