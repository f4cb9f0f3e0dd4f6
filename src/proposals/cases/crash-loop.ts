import { readEvents } from '../../diagnosis/events.ts';
import { othersInWords, probeInWords } from '../../diagnosis/words/container-ends.ts';
import { line } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { crashingPodFix } from '../fixes/pod-fix.ts';
import { crash } from '../fixes/revision-trouble.ts';
import { undoFix } from '../fixes/undo-fix.ts';
import {
  type Case,
  type Culprit,
  endWithWords,
  logWords,
  readScene,
  restartsInWords,
  type Scene,
  waitingForFirst,
  worstOf,
} from '../scene.ts';

/** An older Event has nothing to do with the last end. */
const latelyMs = 900_000;

const kubeletReasons = ['Unhealthy', 'FailedPostStartHook'];

/** A container that the kubelet kills looks like one that crashes. The kubelet reported the reason before. */
async function readKubelet({ reader }: Scene, { pod: { pod } }: Culprit, nowMs: number): Promise<string[]> {
  const events = await readEvents(reader, pod.namespace, kubeletReasons, [pod.uid]);
  const fatal = events.find(
    ({ reason, message, lastSeenMs }) =>
      nowMs - lastSeenMs < latelyMs && (reason !== 'Unhealthy' || /^(?:Liveness|Startup) probe/.test(message)),
  );
  if (!fatal) return [];
  if (fatal.reason === 'Unhealthy') return [probeInWords(fatal.message)];
  const said = line(fatal.message.replace(/^PostStartHook failed$/, ''), 160);
  return [`its post-start hook fails${said ? `: ${said}` : ''}`];
}

export async function crashLoopCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  // Asked now and read below: the reader asks each question once.
  readEvents(deps.reader, subject.namespace, kubeletReasons, []).catch(() => undefined);
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const { pods, changed } = scene;
  // The container that crashes most stands for the workload.
  const worst = worstOf(pods, ({ state }) => state.ended !== undefined && !state.ready);
  const [killed, words] = worst
    ? await Promise.all([readKubelet(scene, worst, deps.nowMs), logWords(worst, deps)])
    : [[], []];
  const [end, ...last] = worst ? endWithWords(worst) : [];
  const why = [...(end ? [end] : []), ...killed, ...last];
  return {
    diagnosis: why.join('; ') || 'a container does not stay up',
    changed,
    evidence: [
      restartsInWords(pods),
      ...waitingForFirst(scene),
      ...othersInWords(pods, worst?.container.state.name ?? ''),
      ...words,
    ],
    fix: undoFix(scene, deps, crash),
    orElse: crashingPodFix(scene, deps),
  };
}
