import { readEvents } from '../../diagnosis/events.ts';
import type { ContainerFacts, PodFacts } from '../../diagnosis/pods.ts';
import { volumeInWords } from '../../diagnosis/storage.ts';
import { creationInWords, evictionInWords, sandboxInWords } from '../../diagnosis/words/sandbox.ts';
import { isEvicted } from '../../health/pod.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { stuckPodFix } from '../fixes/pod-fix.ts';
import { notCreated, stuckVolume } from '../fixes/revision-trouble.ts';
import { stuckRolloutFix, undoFixes } from '../fixes/undo-fix.ts';
import { type Case, type Fix, isLiving, nothingSafe, readScene, type Scene, someOf } from '../scene.ts';

/* Pods that cannot start because of the node they are on, or that it evicted. */

const mostNodes = 4;

/** "on node worker-3", "on 3 nodes: a, b, c": trouble on one node differs from trouble on all of them. */
function whereInWords(pods: readonly PodFacts[]): string[] {
  const nodes = [...new Set(pods.flatMap(({ pod }) => pod.node ?? []))].sort();
  if (nodes.length === 0) return [];
  if (nodes.length === 1) return [`on node ${nodes[0]}`];
  const others = nodes.length > mostNodes ? ` and ${nodes.length - mostNodes} others` : '';
  return [`on ${nodes.length} nodes: ${nodes.slice(0, mostNodes).join(', ')}${others}`];
}

/** The pods that these Events are about and that are still not up, with the messages. */
async function readStarting({ pods, reader }: Scene, namespace: string, reasons: readonly string[]) {
  const starting = pods.filter((pod) => isLiving(pod) && !pod.pod.ready);
  const events = await readEvents(
    reader,
    namespace,
    reasons,
    starting.map(({ pod }) => pod.uid),
  );
  const named = new Set(events.map(({ object }) => object.uid));
  return {
    messages: events.map(({ message }) => message),
    concerned: starting.filter(({ pod }) => named.has(pod.uid)),
  };
}

function caseOf(
  scene: Scene,
  words: readonly string[],
  concerned: readonly PodFacts[],
  otherwise: string,
  fixes: readonly Fix[] = [],
): Case {
  const [fix = { refused: nothingSafe }, ...orElse] = fixes;
  const [first = otherwise, ...others] = [...new Set(words)];
  const all = scene.pods.filter(isLiving).length;
  return {
    diagnosis: first,
    changed: scene.changed,
    evidence: [
      ...others.slice(0, 2),
      ...(concerned.length > 0 ? [`${someOf(concerned.length, all)} cannot start`, ...whereInWords(concerned)] : []),
    ],
    fix,
    orElse,
  };
}

const sandboxReasons = [
  'FailedCreatePodSandBox',
  'FailedCreatePodContainer',
  'NetworkNotReady',
  'FailedPrepareDynamicResources',
];
const creationReasons: ReadonlySet<string> = new Set(['CreateContainerConfigError', 'CreateContainerError']);

export async function sandboxFailedCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const isStuck = ({ state }: ContainerFacts): boolean => creationReasons.has(state.waiting ?? '');
  const stuck = scene.pods.filter((pod) => isLiving(pod) && pod.containers.some(isStuck));
  const words = stuck.flatMap(({ containers }) =>
    containers.filter(isStuck).map(({ state }) => creationInWords(state.name, state.waitingMessage ?? '')),
  );
  const { messages, concerned } = await readStarting(scene, subject.namespace, sandboxReasons);
  const all = [...new Set([...stuck, ...concerned])];
  return caseOf(scene, [...words, ...messages.map(sandboxInWords)], all, 'the node cannot set up its pods', [
    ...undoFixes(scene, deps, notCreated),
    stuckPodFix(scene, all),
    ...stuckRolloutFix(scene, deps),
  ]);
}

export async function volumeStuckCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const reasons = ['FailedMount', 'FailedAttachVolume', 'FailedMapVolume'];
  const { messages, concerned } = await readStarting(scene, subject.namespace, reasons);
  const waiting = new Set(concerned.map(({ pod }) => pod.uid));
  const trouble = stuckVolume('VolumeStuck', ({ uid }) => waiting.has(uid));
  return caseOf(scene, messages.map(volumeInWords), concerned, 'its pods wait for a volume', [
    ...undoFixes(scene, deps, trouble),
    ...stuckRolloutFix(scene, deps),
    { refused: nothingSafe },
  ]);
}

export async function evictedCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const evicted = scene.pods.filter(({ pod }) => isEvicted(pod));
  const [first = 'its pods were evicted', ...others] = [
    ...new Set(evicted.map(({ pod }) => evictionInWords(pod.message ?? '')).filter(Boolean)),
  ];
  const count = evicted.length === 1 ? '1 pod was evicted' : `${evicted.length} pods were evicted`;
  return {
    diagnosis: first,
    changed: scene.changed,
    evidence: [...others.slice(0, 2), ...(evicted.length > 0 ? [count, ...whereInWords(evicted)] : [])],
    fix: { refused: nothingSafe },
  };
}
