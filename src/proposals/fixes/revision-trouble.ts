import type { Revision } from '../../diagnosis/workload.ts';
import { imageReasons } from '../../health/event-words.ts';
import { hasCrashedLately, isCrashing, isFinished, keepsCrashing } from '../../health/pod.ts';
import type { PodView } from '../../kube/views.ts';

/** One kind of failure, as far as an undo needs to know it. */
export interface RevisionTrouble {
  /** A pod of the newest revision has it, or had it a moment ago. */
  has(pod: PodView, nowMs: number): boolean;
  /** A pod of an older revision certainly has it: then no rollout brought it. */
  hadBefore(pod: PodView, nowMs: number): boolean;
  /** Why the newest revision cannot have brought it, from what it changed; undefined if it may have. */
  notBroughtBy?(newest: Revision, previous: Revision): string | undefined;
  words: {
    /** "pods of an older revision ..." */
    before: string;
    /** The text if no pod of the newest revision has it. */
    none: string;
    /** "... which is another trouble than ..." */
    noun: string;
  };
}

export const crash: RevisionTrouble = {
  has: hasCrashedLately,
  hadBefore: (pod, nowMs) => isCrashing(pod, nowMs) || keepsCrashing(pod, nowMs),
  words: { before: 'crash as well', none: 'no pod of it crashes at the moment', noun: 'a crash' },
};

const wasKilledForMemory = ({ containers }: PodView): boolean =>
  containers.some(({ ended }) => ended?.reason === 'OOMKilled');

/** The newest revision must have made it use more memory, or lowered its limit. */
export const memoryKill = (notBroughtBy: NonNullable<RevisionTrouble['notBroughtBy']>): RevisionTrouble => ({
  has: (pod, nowMs) => wasKilledForMemory(pod) && crash.has(pod, nowMs),
  hadBefore: (pod, nowMs) => wasKilledForMemory(pod) && crash.hadBefore(pod, nowMs),
  notBroughtBy,
  words: {
    before: 'are killed for memory as well',
    none: 'no pod of it is killed for memory at the moment',
    noun: 'memory',
  },
});

export const isPullFailure = (waiting: string | undefined): boolean => imageReasons.has(waiting ?? '');

const isLiving = (pod: PodView): boolean => !pod.deleting && !isFinished(pod);
const waitsForImage = (pod: PodView): boolean =>
  isLiving(pod) && pod.containers.some(({ waiting }) => isPullFailure(waiting));

export const imagePull = (notBroughtBy: NonNullable<RevisionTrouble['notBroughtBy']>): RevisionTrouble => ({
  has: waitsForImage,
  hadBefore: waitsForImage,
  notBroughtBy,
  words: {
    before: 'cannot pull their image either',
    none: 'no pod of it waits for its image at the moment',
    noun: 'an image',
  },
});

/** For volumes, only Events show a missing reference: `waits` selects the pods that were seen waiting. */
export const configMissing = (
  waits: (pod: PodView) => boolean,
  notBroughtBy: NonNullable<RevisionTrouble['notBroughtBy']>,
): RevisionTrouble => ({
  has: (pod) => isLiving(pod) && waits(pod),
  hadBefore: (pod) => isLiving(pod) && waits(pod),
  notBroughtBy,
  words: { before: 'wait for it as well', none: 'no pod of it waits for it at the moment', noun: 'something missing' },
});

const isUnready = (pod: PodView): boolean => isLiving(pod) && !pod.ready;

export const stuckRollout: RevisionTrouble = {
  has: isUnready,
  hadBefore: isUnready,
  words: {
    before: 'are not ready either',
    none: 'no pod of it is unready at the moment',
    noun: 'a rollout that does not finish',
  },
};
