import type { RolledOutKind } from '../../actions/action.ts';
import { rolloutUndo } from '../../actions/rollout-undo.ts';
import { replacedInWords } from '../../actions/rollout.ts';
import { essence, mergeTemplate, withoutRestart } from '../../actions/template.ts';
import type { Revision, Workload } from '../../diagnosis/workload.ts';
import { type History, isReplicaSetAvailable } from '../../health/history.ts';
import { isFinished } from '../../health/pod.ts';
import { windowMs } from '../../health/stability.ts';
import { longestUptimeMs } from '../../health/workload-health.ts';
import { specIn } from '../../kube/raw.ts';
import { seenHealthy } from '../../kube/remediation.ts';
import type { PodTemplate, PodView } from '../../kube/views.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { sameValue } from '../../lib/hash.ts';
import type { DeriveDeps } from '../derive.ts';
import type { Fix, Scene, WayBack } from '../scene.ts';
import { crash, type RevisionTrouble, stuckRollout } from './revision-trouble.ts';
import { causesAmong, differencesOf, rolloutCauses } from './rollout-causes.ts';

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

/** Revisions whose pods run the same: a restart makes a revision that differs only by the time of the restart. */
export function sameButRestarted(one: Revision, others: readonly Revision[]): Revision[] {
  const isRestart = ({ template }: Revision): boolean =>
    sameValue(withoutRestart(template), withoutRestart(one.template)) &&
    !sameValue(essence(template), essence(one.template));
  return others.filter((other) => other === one || isRestart(other));
}

/** The newest revision and the one before it, each with those that run the same. */
export function lastTwo([newest, ...older]: readonly Revision[]): { newest: Revision[]; previous: Revision[] } {
  if (!newest) return { newest: [], previous: [] };
  const own = sameButRestarted(newest, [newest, ...older]);
  const others = older.filter((one) => !own.includes(one));
  return { newest: own, previous: others[0] ? sameButRestarted(others[0], others) : [] };
}

const longest = (revisions: readonly Revision[], timeOf: (revision: Revision) => number): number =>
  Math.max(0, ...revisions.map(timeOf));

/** Why the rollout did not bring the trouble, as far as the pods of both show it; undefined if it may have. */
function notSince(
  { workload, nowMs, trouble = crash }: UndoFacts,
  newest: readonly Revision[],
  own: readonly PodView[],
): { refused: string; isUnrelated?: boolean } | undefined {
  const { revisions, pods } = workload;
  const { before, none, noun } = trouble.words;
  const { revision } = newest[0]!.view;
  const isRefused = (one: Revision): boolean => one.view.desired > 0 && one.view.createFailure !== undefined;
  const { isAboutRefusals = false } = trouble;
  if (!isAboutRefusals && newest.some((one) => one.view.createFailure !== undefined))
    return { refused: `pods of revision ${revision} are refused, which is another trouble than ${noun}` };
  const hadBefore = isAboutRefusals
    ? revisions.some((one) => !newest.includes(one) && isRefused(one))
    : pods.some((pod) => !own.includes(pod) && trouble.hadBefore(pod, nowMs));
  if (hadBefore) return { refused: `pods of an older revision ${before}, so revision ${revision} did not bring it` };
  const hasIt = isAboutRefusals ? newest.some(isRefused) : own.some((pod) => trouble.has(pod, nowMs));
  return hasIt ? undefined : { refused: none, isUnrelated: true };
}

/** Why what the newest revision changed cannot have brought the trouble; undefined if it can. */
function notByChange(trouble: RevisionTrouble, newest: Revision, previous: Revision) {
  const refused = trouble.notBroughtBy?.(newest, previous);
  if (refused !== undefined) return { refused };
  if (rolloutCauses[trouble.kind] === 'any') return undefined;
  const causes = causesAmong(trouble.kind, differencesOf(previous.template, newest.template), trouble.containers);
  if (causes.length > 0) return undefined;
  return { refused: `revision ${newest.view.revision} ${trouble.words.unchanged}`, isUnrelated: true };
}

/**
 * Pure, and one rule for every class. Undo only what the newest revision brought: its pods have the trouble and those of
 * the revision before do not, it changed something that can bring it (rollout-causes.ts), and it never ran healthy
 * itself. And only to a revision that is known to have been healthy. A revision that differs only by a restart counts as
 * the one before it, and what was seen of either counts for both.
 */
export function proposeUndo(facts: UndoFacts): WayBack {
  const { workload, stableForMs, trouble = crash, history } = facts;
  const { deployment, revisions, pods } = workload;
  const { newest, previous } = lastTwo(revisions);
  const [now, before] = [newest[0], previous[0]];
  if (!now) return { refused: `no revision to go back to: ${kept(workload.object.kind)}` };
  if (!before) return { refused: 'this is its first revision, there is none to go back to' };
  const uids = new Set(newest.map(({ view }) => view.uid));
  const own = pods.filter((pod) => pod.owner && uids.has(pod.owner.uid));
  const refused = notSince(facts, newest, own) ?? notByChange(trouble, now, before);
  if (refused) return refused;
  if (deployment?.paused) return { refused: 'the rollout is paused, somebody is at work on it' };
  // A pod that crashes after a minute looks healthy for a minute, each time.
  const livedMs = longestUptimeMs(own.flatMap(({ containers }) => containers));
  const wellMs = longest(newest, (one) => healthyMs(one, facts));
  if (wellMs >= windowMs('CrashLoop', stableForMs, livedMs) || newest.some((one) => servedLong(one, facts)))
    return { refused: `revision ${now.view.revision} itself ran healthy before, so the rollout did not bring it` };
  const ranMs = longest(previous, (one) => healthyMs(one, facts));
  // A revision that broke before must have held for longer than that.
  const brokenAfterMs = longest(previous, ({ view }) => history.brokenAfterMs(view.uid));
  if (ranMs < windowMs('CrashLoop', stableForMs, brokenAfterMs))
    return { refused: `revision ${before.view.revision} was not seen healthy, so going back may not help` };
  return { revision: before.view.revision, from: now.view.revision, ranMs };
}

const wayBack = ({ rollout }: Scene, { history, config, nowMs }: DeriveDeps, trouble: RevisionTrouble): WayBack =>
  proposeUndo({ workload: rollout, history, stableForMs: config.recovery.stableFor, nowMs, trouble });

/**
 * The undo of the newest rollout, if that brought this trouble and the revision before was healthy; otherwise the
 * reason why not.
 */
export function undoFix(scene: Scene, deps: DeriveDeps, trouble: RevisionTrouble): Fix {
  const way = wayBack(scene, deps, trouble);
  return 'refused' in way ? { refused: way.refused } : undoTo(scene, way);
}

/** The same beside other fixes: empty if the trouble has nothing to do with a rollout. */
export function undoFixes(scene: Scene, deps: DeriveDeps, trouble: RevisionTrouble): Fix[] {
  if (lastTwo(scene.rollout.revisions).previous.length === 0) return [];
  const way = wayBack(scene, deps, trouble);
  if ('refused' in way) return way.isUnrelated ? [] : [{ refused: way.refused }];
  return [undoTo(scene, way)];
}

function undoTo({ rollout }: Scene, way: { revision: number; ranMs: number }): Fix {
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

/**
 * A class that says more about the cause does not hide the undo of a rollout that missed its deadline. Pods of the
 * revision before must still be ready: then going back helps, whatever the new ones wait for.
 */
export function stuckRolloutFix(scene: Scene, deps: DeriveDeps): Fix[] {
  const { deployment, revisions, pods } = scene.rollout;
  const { status, reason } = deployment?.progressing ?? {};
  if (status !== 'False' || reason !== 'ProgressDeadlineExceeded') return [];
  const uids = new Set(lastTwo(revisions).previous.map(({ view }) => view.uid));
  if (!pods.some((pod) => pod.ready && !pod.deleting && pod.owner && uids.has(pod.owner.uid))) return [];
  const fix = undoFix(scene, deps, stuckRollout);
  return 'refused' in fix ? [] : [fix];
}
