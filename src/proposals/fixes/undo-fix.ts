import type { RolledOutKind } from '../../actions/action.ts';
import { rolloutUndo } from '../../actions/rollout-undo.ts';
import { replacedInWords } from '../../actions/rollout.ts';
import { essence, mergeTemplate } from '../../actions/template.ts';
import type { Revision, Workload } from '../../diagnosis/workload.ts';
import { type History, isReplicaSetAvailable } from '../../health/history.ts';
import { isFinished } from '../../health/pod.ts';
import { windowMs } from '../../health/stability.ts';
import { longestUptimeMs } from '../../health/workload-health.ts';
import { specIn } from '../../kube/raw.ts';
import { seenHealthy } from '../../kube/remediation.ts';
import type { PodTemplate } from '../../kube/views.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { sameValue } from '../../lib/hash.ts';
import type { DeriveDeps } from '../derive.ts';
import type { Fix, Scene, WayBack } from '../scene.ts';
import { crash, type RevisionTrouble } from './revision-trouble.ts';

/**
 * How many pods are replaced by a template that is, or nearly is, an older revision's. Pods that still run exactly that
 * revision stay.
 */
export function replacedBy(
  kind: RolledOutKind,
  next: PodTemplate,
  { object, pods, counts }: Workload,
  older: Revision,
) {
  const { uid, revision } = older.view;
  const isSame = sameValue(essence(next), essence(older.template));
  const staying = pods.filter((pod) => isSame && pod.owner?.uid === uid && !pod.deleting && !isFinished(pod)).length;
  if (staying === 0) return replacedInWords(kind, object);
  const replaced = counts.desired - staying;
  const stay = `${staying} of revision ${revision} ${staying === 1 ? 'stays' : 'stay'}`;
  return replaced > 0 ? `${replacedInWords(kind, object, replaced)}, ${stay}` : `${stay}, newer ones go`;
}

interface UndoFacts {
  workload: Workload;
  history: History;
  stableForMs: number;
  nowMs: number;
  /** Default: a crash. */
  trouble?: RevisionTrouble;
}

/**
 * How long a revision is known to have been healthy: as this process saw it, or as its pods report now. The remaining
 * pods say nothing about those that are gone: while the revision is short of pods, only what was seen counts.
 */
export function healthyMs(
  { view }: Revision,
  { workload, history, nowMs }: Pick<UndoFacts, 'workload' | 'history' | 'nowMs'>,
): number {
  const seen = history.longestAvailableMs(view.uid, nowMs);
  if (history.isShort(view.uid)) return seen;
  const pods = workload.pods.filter((pod) => pod.owner?.uid === view.uid && !pod.deleting);
  const isAllReady =
    isReplicaSetAvailable(view) && pods.length >= view.desired && pods.every((pod) => pod.readySinceMs);
  const now = isAllReady ? nowMs - Math.max(...pods.map((pod) => pod.readySinceMs ?? nowMs)) : 0;
  return Math.max(seen, now);
}

/**
 * Most of its pods served for this long, without a break. A single pod that never came up is other trouble than the new
 * one.
 */
const longServiceMs = 600_000;
const servedLong = ({ view }: Revision, { history, nowMs }: UndoFacts): boolean =>
  history.longestServingMs(view.uid, nowMs) >= longServiceMs;

const revisioned: ReadonlySet<string> = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);
function kept(kind: string | undefined): string {
  if (kind === undefined) return 'its owner is of no kind that tapfix knows';
  return revisioned.has(kind) ? 'none is kept' : `a ${kind} keeps none`;
}

/** Pure. Undo only what the newest revision brought, and only to a revision that is known to have been healthy. */
export function proposeUndo(facts: UndoFacts): WayBack {
  const { workload, stableForMs, nowMs, trouble = crash } = facts;
  const { deployment, revisions, pods } = workload;
  const [newest, previous] = revisions;
  if (!newest) return { refused: `no revision to go back to: ${kept(workload.object.kind)}` };
  if (!previous) return { refused: 'this is its first revision, there is none to go back to' };
  if (deployment?.paused) return { refused: 'the rollout is paused, somebody is at work on it' };
  if (newest.view.createFailure)
    return {
      refused: `pods of revision ${newest.view.revision} are refused, which is another trouble than ${trouble.words.noun}`,
    };
  const own = pods.filter((pod) => pod.owner?.uid === newest.view.uid);
  if (pods.some((pod) => !own.includes(pod) && trouble.hadBefore(pod, nowMs)))
    return {
      refused: `pods of an older revision ${trouble.words.before}, so revision ${newest.view.revision} did not bring it`,
    };
  if (!own.some((pod) => trouble.has(pod, nowMs))) return { refused: trouble.words.none };
  const notBrought = trouble.notBroughtBy?.(newest, previous);
  if (notBrought) return { refused: notBrought };
  // A pod that crashes after a minute looks healthy for a minute, each time.
  const livedMs = longestUptimeMs(own.flatMap(({ containers }) => containers));
  if (healthyMs(newest, facts) >= windowMs('CrashLoop', stableForMs, livedMs) || servedLong(newest, facts))
    return { refused: `revision ${newest.view.revision} itself ran healthy before, so the rollout did not bring it` };
  const ranMs = healthyMs(previous, facts);
  // A revision that broke before must have held for longer than that.
  if (ranMs < windowMs('CrashLoop', stableForMs, facts.history.brokenAfterMs(previous.view.uid)))
    return { refused: `revision ${previous.view.revision} was not seen healthy, so going back may not help` };
  return { revision: previous.view.revision, from: newest.view.revision, ranMs };
}

/**
 * The undo of the newest rollout, if that brought this trouble and the revision before was healthy; otherwise the
 * reason why not.
 */
export function undoFix({ rollout }: Scene, { history, config, nowMs }: DeriveDeps, trouble: RevisionTrouble): Fix {
  const way = proposeUndo({ workload: rollout, history, stableForMs: config.recovery.stableFor, nowMs, trouble });
  if ('refused' in way) return way;
  const { metadata, kind: named } = rollout.object;
  const kind = named as RolledOutKind; // only these keep revisions
  const older = rollout.revisions.find(({ view }) => view.revision === way.revision)!;
  const current = specIn(rollout.object)['template'] as PodTemplate;
  const pods = replacedBy(kind, mergeTemplate(older.template, current), rollout, older);
  return {
    action: rolloutUndo as never,
    params: { kind, name: metadata.name, uid: metadata.uid, toRevision: way.revision },
    why: `${seenHealthy(way.revision, spokenDuration(way.ranMs))}; ${pods}.`,
  };
}
