import type { Revision } from '../../diagnosis/workload.ts';
import { imageReasons } from '../../health/event-words.ts';
import { hasCrashedLately, isCrashing, isFinished, keepsCrashing, podTroubles } from '../../health/pod.ts';
import type { PodView } from '../../kube/views.ts';
import type { RolloutTroubleKind } from './rollout-causes.ts';

/** One kind of failure, as far as an undo needs to know it. */
export interface RevisionTrouble {
  /** Its row in the table of what can bring it. */
  kind: RolloutTroubleKind;
  /** The containers that have it, where that matters. */
  containers?: readonly string[];
  /** No pod has it, because none is created: the revisions themselves show that their pods are refused. */
  isAboutRefusals?: true;
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
    /** "revision 2 ...", if it changed nothing that can have brought it. */
    unchanged: string;
  };
}

export const crash: RevisionTrouble = {
  kind: 'CrashLoop',
  has: hasCrashedLately,
  hadBefore: (pod, nowMs) => isCrashing(pod, nowMs) || keepsCrashing(pod, nowMs),
  words: {
    before: 'crash as well',
    none: 'no pod of it crashes at the moment',
    noun: 'a crash',
    unchanged: 'changed nothing',
  },
};

const wasKilledForMemory = ({ containers }: PodView): boolean =>
  containers.some(({ ended }) => ended?.reason === 'OOMKilled');

/** The newest revision must have made it use more memory, or lowered its limit. */
export const memoryKill = (container: string): RevisionTrouble => ({
  kind: 'OOMKilled',
  containers: [container],
  has: (pod, nowMs) => wasKilledForMemory(pod) && crash.has(pod, nowMs),
  hadBefore: (pod, nowMs) => wasKilledForMemory(pod) && crash.hadBefore(pod, nowMs),
  words: {
    before: 'are killed for memory as well',
    none: 'no pod of it is killed for memory at the moment',
    noun: 'memory',
    unchanged: `neither changed what ${container} runs nor lowered its memory limit`,
  },
});

export const isPullFailure = (waiting: string | undefined): boolean => imageReasons.has(waiting ?? '');

const isLiving = (pod: PodView): boolean => !pod.deleting && !isFinished(pod);
const waitsForImage = (pod: PodView): boolean =>
  isLiving(pod) && pod.containers.some(({ waiting }) => isPullFailure(waiting));

export const imagePull = (containers: readonly string[]): RevisionTrouble => ({
  kind: 'ImagePull',
  containers,
  has: waitsForImage,
  hadBefore: waitsForImage,
  words: {
    before: 'cannot pull their image either',
    none: 'no pod of it waits for its image at the moment',
    noun: 'an image',
    unchanged: `did not change the image of ${containers.join(', ')}`,
  },
});

/** For volumes, only Events show a missing reference: `waits` selects the pods that were seen waiting. */
export const configMissing = (
  waits: (pod: PodView) => boolean,
  notBroughtBy: NonNullable<RevisionTrouble['notBroughtBy']>,
): RevisionTrouble => ({
  kind: 'ConfigMissing',
  has: (pod) => isLiving(pod) && waits(pod),
  hadBefore: (pod) => isLiving(pod) && waits(pod),
  notBroughtBy,
  words: {
    before: 'wait for it as well',
    none: 'no pod of it waits for it at the moment',
    noun: 'something missing',
    unchanged: 'did not change what it refers to, so it is not known what brought it',
  },
});

const isUnready = (pod: PodView): boolean => isLiving(pod) && !pod.ready;

export const stuckRollout: RevisionTrouble = {
  kind: 'RolloutStuck',
  has: isUnready,
  hadBefore: isUnready,
  words: {
    before: 'are not ready either',
    none: 'no pod of it is unready at the moment',
    noun: 'a rollout that does not finish',
    unchanged: 'changed nothing',
  },
};

/** The pod's own status shows troubles of this class. */
const showing =
  (failureClass: string) =>
  (pod: PodView, nowMs: number): boolean =>
    isLiving(pod) && podTroubles(pod, nowMs).some((trouble) => trouble.class === failureClass);

export const unscheduled: RevisionTrouble = {
  kind: 'Unschedulable',
  has: showing('Unschedulable'),
  hadBefore: showing('Unschedulable'),
  words: {
    before: 'find no node either',
    none: 'no pod of it waits for a node at the moment',
    noun: 'a pod without a node',
    unchanged: 'changed nothing about where its pods may run or what they ask for',
  },
};

export const failingProbe: RevisionTrouble = {
  kind: 'ProbeFailing',
  has: showing('ProbeFailing'),
  hadBefore: showing('ProbeFailing'),
  words: {
    before: 'fail their health checks as well',
    none: 'no pod of it fails its health checks at the moment',
    noun: 'a health check',
    unchanged: 'changed neither the health checks nor what runs',
  },
};

/** Only Events show what such a pod waits for: `waits` selects the pods that they are about. */
export const stuckVolume = (
  kind: 'VolumeStuck' | 'StorageFailed',
  waits: (pod: PodView) => boolean,
): RevisionTrouble => ({
  kind,
  has: (pod) => isLiving(pod) && waits(pod),
  hadBefore: (pod) => isLiving(pod) && waits(pod),
  words: {
    before: 'wait for a volume as well',
    none: 'no pod of it waits for a volume at the moment',
    noun: 'a volume',
    unchanged: 'did not change its volumes',
  },
});

/** A container that its node cannot create: by its own state, not by an Event. */
const isNotCreated = (pod: PodView): boolean =>
  isLiving(pod) && pod.containers.some(({ waiting }) => waiting === 'CreateContainerError');

export const notCreated: RevisionTrouble = {
  kind: 'SandboxFailed',
  has: isNotCreated,
  hadBefore: isNotCreated,
  words: {
    before: 'cannot be created either',
    none: 'no container of it fails to be created at the moment',
    noun: 'a container that cannot be created',
    unchanged: 'changed nothing about how its containers are created',
  },
};

const no = (): boolean => false;

/** Its pods are refused: by a rule about something that the newest revision changed. */
export const refusedPods = (kind: RolloutTroubleKind): RevisionTrouble => ({
  kind,
  isAboutRefusals: true,
  has: no,
  hadBefore: no,
  words: {
    before: 'are refused as well',
    none: 'no pod of the newest revision is refused at the moment',
    noun: 'a refusal',
    unchanged: 'changed nothing that this rule is about',
  },
});
