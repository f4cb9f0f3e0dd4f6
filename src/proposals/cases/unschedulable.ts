import type { PodFacts } from '../../diagnosis/pods.ts';
import { schedulerInWords } from '../../diagnosis/words/scheduler.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { unscheduled } from '../fixes/revision-trouble.ts';
import { scaleFix } from '../fixes/scale-fix.ts';
import { stuckRolloutFix, undoFixes } from '../fixes/undo-fix.ts';
import { type Case, isLiving, readScene, someOf } from '../scene.ts';

/** Pods of one workload may be refused for different reasons: the one that most of them have comes first. */
function reasonsOf(pods: readonly PodFacts[]): string[] {
  const groups = Map.groupBy(pods, ({ pod, asks }) => schedulerInWords(pod.unscheduled?.message ?? '', asks));
  return [...groups].sort(([, a], [, b]) => b.length - a.length).map(([words]) => words);
}

export async function unschedulableCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const waiting = scene.pods.filter((pod) => isLiving(pod) && pod.pod.unscheduled?.reason === 'Unschedulable');
  const [first = 'no node takes its pods', ...others] = reasonsOf(waiting);
  const all = scene.pods.filter(isLiving).length;
  const [fix, ...orElse] = [
    ...undoFixes(scene, deps, unscheduled),
    await scaleFix(scene, waiting, deps),
    ...stuckRolloutFix(scene, deps),
  ];
  return {
    diagnosis: first,
    changed: scene.changed,
    evidence: [
      ...others.slice(0, 2),
      ...(waiting.length > 0
        ? [`${someOf(waiting.length, all)} ${waiting.length === 1 ? 'waits' : 'wait'} for a node`]
        : []),
    ],
    fix: fix!,
    orElse,
  };
}
