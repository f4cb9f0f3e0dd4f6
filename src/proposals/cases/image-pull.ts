import { readEvents } from '../../diagnosis/events.ts';
import { readImagesInUse } from '../../diagnosis/pods.ts';
import { closestImage, pullFailureInWords, saysWhy } from '../../diagnosis/words/images.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { imageFix } from '../fixes/image-fix.ts';
import { imagePull, isPullFailure } from '../fixes/revision-trouble.ts';
import { undoFix } from '../fixes/undo-fix.ts';
import { type Case, type Culprit, isLiving, readScene, type Scene, someOf } from '../scene.ts';

const waitingIn = ({ pods }: Scene): Culprit[] =>
  pods
    .filter(isLiving)
    .flatMap((pod) =>
      pod.containers.filter(({ state }) => isPullFailure(state.waiting)).map((container) => ({ pod, container })),
    );

/** Until 1.30 a back-off message does not contain the error before it; the Event does. */
async function readWhy({ reader }: Scene, { pod, container }: Culprit): Promise<string> {
  const { waitingMessage = '' } = container.state;
  if (saysWhy(waitingMessage)) return waitingMessage;
  const events = await readEvents(reader, pod.pod.namespace, ['Failed'], [pod.pod.uid]);
  const pull = events.find(({ message }) => message.startsWith(`Failed to pull image "${container.image}"`));
  return pull?.message ?? waitingMessage;
}

export async function imagePullCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const waiting = waitingIn(scene);
  const images = [...new Map(waiting.map((one) => [one.container.image, one])).values()];
  const words = await Promise.all(
    images.map(async (one) =>
      pullFailureInWords(one.container.image, one.container.state.waiting ?? '', await readWhy(scene, one)),
    ),
  );
  const [first = 'an image cannot be pulled', ...others] = words;
  return {
    diagnosis: first,
    changed: scene.changed,
    evidence: [
      ...others.slice(0, 3),
      ...(waiting.length > 0 ? [howMany(scene, waiting)] : []),
      ...(await hint(scene, subject, images[0])),
    ],
    fix: undoFix(scene, deps, imagePull([...new Set(waiting.map(({ container }) => container.state.name))])),
    orElse: imageFix(scene, waiting, deps),
  };
}

const howMany = ({ pods }: Scene, waiting: readonly Culprit[]): string => {
  const some = new Set(waiting.map(({ pod }) => pod.pod.uid)).size;
  return `${someOf(some, pods.filter(isLiving).length)} ${some === 1 ? 'waits' : 'wait'} for it`;
};

/** Only a hint in words: a person must decide which image is meant. */
async function hint(
  { reader }: Scene,
  { namespace, object }: Subject,
  culprit: Culprit | undefined,
): Promise<string[]> {
  if (!culprit) return [];
  const near = closestImage(culprit.container.image, await readImagesInUse(reader, namespace));
  if (!near) return [];
  return [
    near.workload === object.name
      ? `its other pods run ${near.image}`
      : `closest in use: ${near.workload} runs ${near.image}`,
  ];
}
