import { readRefusals } from '../../diagnosis/events.ts';
import { type Denial, denialIn, denialInWords } from '../../diagnosis/words/admission.ts';
import type { Workload } from '../../diagnosis/workload.ts';
import { isShort } from '../../health/refusals.ts';
import { num, obj, specIn, statusIn } from '../../kube/raw.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { refusedPods } from '../fixes/revision-trouble.ts';
import type { RolloutTroubleKind } from '../fixes/rollout-causes.ts';
import { undoFixes } from '../fixes/undo-fix.ts';
import { type Case, type Fix, readScene, type Scene } from '../scene.ts';

/** The refuser decides what a rollout must have changed to be to blame. */
export function refusalKindOf({ by, why }: Denial): RolloutTroubleKind {
  if (by === 'a LimitRange') return 'CreateRejected by a LimitRange';
  if (by.startsWith('Pod Security')) return 'CreateRejected by Pod Security';
  if (by.startsWith('quota ')) return 'CreateRejected by a quota';
  if (/^ServiceAccount \S+ does not exist/.test(why)) return 'CreateRejected by the ServiceAccount';
  if (/^(?:PriorityClass|RuntimeClass) \S+ does not exist/.test(why)) return 'CreateRejected by a missing class';
  // A webhook that is down refuses every template, and so does a namespace that goes.
  if (/^(?:it does not answer|the namespace is being deleted)/.test(why)) return 'CreateRejected by nobody';
  return 'CreateRejected by a rule';
}

/**
 * Whether the pods that a set lacks would be of its newest revision. A StatefulSet makes the first pods, as many as it
 * still has of the older revision, anew from that one.
 */
function lacksNewest({ object, pods }: Workload): boolean {
  if (object.kind !== 'StatefulSet') return true;
  const [spec, status] = [specIn(object), statusIn(object)];
  const start = num(obj(spec['ordinals'])['start']);
  const there = new Set(pods.map(({ name }) => Number(/-(\d+)$/.exec(name)?.[1])));
  const all = Array.from({ length: num(spec['replicas'], 1) }, (_, n) => start + n);
  const missing = all.filter((ordinal) => !there.has(ordinal));
  return missing.every((ordinal) => ordinal >= start + num(status['currentReplicas']));
}

/** A StatefulSet or DaemonSet has no condition that says so: its own counts show that it lacks pods. */
function withRefusal(rollout: Workload, message: string | undefined): Workload {
  const { object, deployment, revisions } = rollout;
  const [newest, ...older] = revisions;
  if (deployment || !newest || message === undefined) return rollout;
  if (!isShort(object.kind ?? '', object) || !lacksNewest(rollout)) return rollout;
  const view = { ...newest.view, desired: newest.view.desired + 1, createFailure: message };
  return { ...rollout, revisions: [{ ...newest, view }, ...older] };
}

/**
 * The undo, if everything that is known to refuse the pods is about what the newest revision changed. The condition of a
 * ReplicaSet is its controller's own, but keeps the first refusal; the newest one is in an Event, which anybody may write.
 */
function undoOf(scene: Scene, deps: DeriveDeps, newest: string | undefined): Fix[] {
  const rollout = withRefusal(scene.rollout, newest);
  const first = rollout.revisions[0]?.view.createFailure;
  const messages = [first, newest].filter((message) => message !== undefined);
  const kinds = new Set(messages.map((message) => refusalKindOf(denialIn(message))));
  const fixes = [...kinds].map((kind) => undoFixes({ ...scene, rollout }, deps, refusedPods(kind)));
  if (fixes.some((one) => one.length === 0)) return [];
  const all = fixes.flat();
  return all.some((fix) => 'refused' in fix) ? all.filter((fix) => 'refused' in fix) : all.slice(0, 1);
}

export async function createRejectedCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const refusals = await readRefusals(scene.reader, scene.workload);
  const [first = 'its pods are refused', ...others] = [
    ...new Set(refusals.map((words) => denialInWords(denialIn(words)))),
  ];
  const [fix, ...orElse] = [...undoOf(scene, deps, refusals[0]), { refused: 'tapfix does not change policies' }];
  return { diagnosis: first, changed: scene.changed, evidence: others.slice(0, 3), fix: fix!, orElse };
}
