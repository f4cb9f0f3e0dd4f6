import type { Action } from '../actions/action.ts';
import { lastChanges } from '../diagnosis/changed.ts';
import { readLogTail } from '../diagnosis/logs.ts';
import { type ContainerFacts, type PodFacts, readPods } from '../diagnosis/pods.ts';
import { createOnce } from '../diagnosis/readers.ts';
import { endInWords, lastWordsInWords } from '../diagnosis/words/container-ends.ts';
import { readRevisioned, readWorkload, type Workload } from '../diagnosis/workload.ts';
import { isCompleted, isFinished } from '../health/pod.ts';
import type { Reader } from '../kube/api.ts';
import { specIn } from '../kube/raw.ts';
import { noFix } from '../kube/remediation.ts';
import { counted } from '../lib/text.ts';
import type { DeriveDeps, Subject } from './derive.ts';

/** A revision that is safe to go back to, or the reason why there is none. */
export type WayBack =
  | { revision: number; from: number; ranMs: number }
  /** `isUnrelated`: the trouble has nothing to do with the last rollout, which is not worth a word beside other fixes. */
  | { refused: string; isUnrelated?: boolean };

/** The fix for a case, with the reason why it is safe; or the reason why there is none. */
export type Fix = { action: Action<never>; params: unknown; why: string } | { refused: string };

/** Everything that was read about one subject, as text, and the fix for it. */
export interface Case {
  diagnosis: string;
  changed: string[];
  evidence: string[];
  fix: Fix;
  /** Tried in this order, if those before cannot be offered. */
  orElse?: readonly Fix[];
}

/** The refusal for failures that tapfix can only report. */
export const nothingSafe = noFix;

/** Why none of several fixes is offered, each reason once. */
export function reasonsInWords(refusals: readonly string[]): string {
  const [only = nothingSafe, ...others] = new Set(refusals);
  return others.length === 0 ? only : [only, ...others].map((reason) => reason.replace(/\.$/, '')).join('; ');
}

/** One reading of a workload: everything that its case is made of. */
export interface Scene {
  workload: Workload;
  /** The same with its revisions, also for kinds that do not keep them in ReplicaSets. */
  rollout: Workload;
  pods: PodFacts[];
  changed: string[];
  /** For further questions of the case: each question is asked once. */
  reader: Reader;
}

/** The containers that ended or wait, or run and are not ready. */
function failingIn(pods: readonly PodFacts[]): string[] {
  const failing = pods.filter(isLiving).flatMap(({ containers }) => containers.filter(({ state }) => !state.ready));
  const telling = failing.filter(
    ({ state }) => state.ended || state.runningSinceMs !== undefined || state.waitingMessage,
  );
  return [...new Set(telling.filter(({ state }) => !isCompleted(state)).map(({ state }) => state.name))];
}

/** undefined if it is gone, or another object has its name. */
export async function readScene(subject: Subject, { reader, nowMs }: DeriveDeps): Promise<Scene | undefined> {
  const once = createOnce(reader);
  const workload = await readWorkload(once, subject.namespace, subject.object);
  if (!workload) return undefined;
  const pods = await readPods(once, workload);
  const changed = await lastChanges(once, workload, nowMs, failingIn(pods));
  const rollout = workload.revisions.length > 0 ? workload : await readRevisioned(once, workload, pods);
  return { workload, rollout, pods, changed, reader: once };
}

export const isLiving = ({ pod }: PodFacts): boolean => !pod.deleting && !isFinished(pod);

export interface Culprit {
  pod: PodFacts;
  container: ContainerFacts;
}

/** The container with the most restarts among those that match. */
export function worstOf(
  pods: readonly PodFacts[],
  isMeant: (container: ContainerFacts) => boolean,
): Culprit | undefined {
  return pods
    .flatMap((pod) => pod.containers.map((container) => ({ pod, container })))
    .filter(({ container }) => isMeant(container))
    .sort((a, b) => b.container.state.restarts - a.container.state.restarts)[0];
}

/** Its log, if that is enabled. */
export async function logWords({ pod, container }: Culprit, { logs, config }: DeriveDeps): Promise<string[]> {
  const { namespace, name } = pod.pod;
  return logs && config.diagnosis.logs ? readLogTail(logs, { namespace, pod: name, container: container.state }) : [];
}

/** The container's own messages: its termination message, and its log if that is enabled. */
export async function ownWords(culprit: Culprit, deps: DeriveDeps): Promise<string[]> {
  const last = lastWordsInWords(culprit.container);
  return [...(last ? [last] : []), ...(await logWords(culprit, deps))];
}

/** How its container ended, with its own last words if it wrote any. */
export function endWithWords({ container }: Culprit): string[] {
  const last = lastWordsInWords(container);
  return [endInWords(container), ...(last ? [last] : [])];
}

/**
 * A StatefulSet makes its pods one after another: those that do not exist wait for one that is not ready.
 */
export function waitingForFirst({ workload, pods }: Scene): string[] {
  const { object, counts } = workload;
  const living = pods.filter(isLiving);
  const first = living.find(({ pod }) => !pod.ready);
  const missing = counts.desired - living.length;
  if (object.kind !== 'StatefulSet' || specIn(object)['podManagementPolicy'] === 'Parallel') return [];
  if (!first || missing <= 0) return [];
  return [`${counted(missing, 'other pod')} ${missing === 1 ? 'waits' : 'wait'} until ${first.pod.name} is ready`];
}

/** "14 restarts of 3 pods" */
export function restartsInWords(pods: readonly PodFacts[]): string {
  const restarts = pods.flatMap(({ pod }) => pod.containers).reduce((sum, container) => sum + container.restarts, 0);
  return `${counted(restarts, 'restart')} of ${counted(pods.length, 'pod')}`;
}

/** "2 of 3 pods", "both pods" */
export function someOf(some: number, all: number): string {
  if (some < all) return `${some} of ${all} pods`;
  return all === 1 ? 'its only pod' : all === 2 ? 'both pods' : `all ${all} pods`;
}
