import type { Action } from '../actions/action.ts';
import { lastChanges } from '../diagnosis/changed.ts';
import { readLogTail } from '../diagnosis/logs.ts';
import { type ContainerFacts, type PodFacts, readPods } from '../diagnosis/pods.ts';
import { createOnce } from '../diagnosis/readers.ts';
import { lastWordsOf } from '../diagnosis/words/container-ends.ts';
import { readRevisioned, readWorkload, type Workload } from '../diagnosis/workload.ts';
import { isFinished } from '../health/pod.ts';
import type { Reader } from '../kube/api.ts';
import { noFix } from '../kube/remediation.ts';
import { counted } from '../lib/text.ts';
import type { DeriveDeps, Subject } from './derive.ts';

/** A revision that is safe to go back to, or the reason why there is none. */
export type WayBack = { revision: number; from: number; ranMs: number } | { refused: string };

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

/** undefined if it is gone, or another object has its name. */
export async function readScene(subject: Subject, { reader, nowMs }: DeriveDeps): Promise<Scene | undefined> {
  const once = createOnce(reader);
  const workload = await readWorkload(once, subject.namespace, subject.object);
  if (!workload) return undefined;
  const [pods, changed] = await Promise.all([readPods(once, workload), lastChanges(once, workload, nowMs)]);
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

/** The container's own messages: its termination message, and its log if that is enabled. */
export async function ownWords({ pod, container }: Culprit, { logs, config }: DeriveDeps): Promise<string[]> {
  const { namespace, name } = pod.pod;
  const last = lastWordsOf(container);
  const tail =
    logs && config.diagnosis.logs ? await readLogTail(logs, { namespace, pod: name, container: container.state }) : [];
  return [...(last ? [`its last words: ${last}`] : []), ...tail];
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
