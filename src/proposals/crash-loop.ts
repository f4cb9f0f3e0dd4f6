import { rolloutUndo } from '../actions/rollout-undo.ts';
import { lastRollout } from '../diagnosis/changed.ts';
import { readWorkload, type Workload } from '../diagnosis/workload.ts';
import { crashInWords } from '../health/loop.ts';
import { counted } from '../lib/counted.ts';
import { spokenDuration } from '../lib/duration.ts';
import type { ContainerView } from '../kube/views.ts';
import type { DeriveDeps, Subject } from './derive.ts';
import { proposeUndo } from './propose-undo.ts';
import type { Case, Fix } from './proposal.ts';

/** The container that crashes most speaks for the workload. */
function worstInWords(containers: readonly ContainerView[]): string {
  const crashed = containers.filter((container) => container.ended && !container.ready);
  const worst = crashed.sort((a, b) => b.restarts - a.restarts)[0];
  return worst ? crashInWords(worst) : 'a container does not stay up';
}

export async function crashLoopCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const workload = await readWorkload(deps.reader, subject.namespace, subject.object);
  if (!workload) return undefined;
  const containers = workload.pods.flatMap((pod) => pod.containers);
  const restarts = containers.reduce((sum, container) => sum + container.restarts, 0);
  return {
    diagnosis: worstInWords(containers),
    changed: lastRollout(workload.object, workload.revisions),
    evidence: [`${counted(restarts, 'restart')} of ${counted(workload.pods.length, 'pod')}`],
    fix: fixOf(workload, deps),
  };
}

function fixOf(workload: Workload, { history, config, nowMs }: DeriveDeps): Fix {
  const way = proposeUndo({ workload, history, stableForMs: config.recovery.stableFor, nowMs });
  if ('refused' in way) return way;
  const { name, uid } = workload.object.metadata;
  const pods =
    workload.counts.desired === 1 ? '1 pod is replaced' : `${workload.counts.desired} pods are replaced step by step`;
  return {
    action: rolloutUndo as never,
    params: { kind: 'Deployment', name, uid, toRevision: way.revision },
    why: `Revision ${way.revision} was seen healthy for ${spokenDuration(way.ranMs)}; ${pods}.`,
  };
}
