import { patchDeploymentImage } from '../../actions/patch-deployment-image.ts';
import { withoutRestart } from '../../actions/template.ts';
import type { Revision } from '../../diagnosis/workload.ts';
import { windowMs } from '../../health/stability.ts';
import { arr, obj, specIn, str } from '../../kube/raw.ts';
import type { PodTemplate } from '../../kube/views.ts';
import { spokenDuration } from '../../lib/duration.ts';
import { sameValue } from '../../lib/hash.ts';
import { counted } from '../../lib/text.ts';
import type { DeriveDeps } from '../derive.ts';
import { type Culprit, type Fix, isLiving, type Scene } from '../scene.ts';
import { isPullFailure } from './revision-trouble.ts';
import { healthyMs, replacedBy } from './undo-fix.ts';

const lists = ['containers', 'initContainers'] as const;

/** The image of a container or init container: their names are unique among both. */
export function imageIn({ spec }: PodTemplate, name: string): string | undefined {
  const all = lists.flatMap((list) => arr(obj(spec)[list]));
  const image = all.find((container) => container['name'] === name)?.['image'];
  return image === undefined ? undefined : str(image);
}

/** The template with another image in this container. */
function withImage(template: PodTemplate, name: string, image: string): PodTemplate {
  const spec = obj(template.spec);
  const changed = lists.map((list) => [
    list,
    spec[list] && arr(spec[list]).map((one) => (one['name'] === name ? { ...one, image } : one)),
  ]);
  return { ...template, spec: { ...spec, ...Object.fromEntries(changed.filter(([, value]) => value)) } };
}

interface Ran {
  revision: Revision;
  image: string;
  /** The evidence that it ran, as text. */
  known: string;
}

/**
 * The image that its own pods run now, or ran while this process watched. Nothing else proves that an image runs here.
 */
function ranIn(revision: Revision, container: string, { rollout, pods }: Scene, deps: DeriveDeps): Ran | undefined {
  const image = imageIn(revision.template, container);
  if (!image) return undefined;
  const { uid, revision: number } = revision.view;
  const running = pods.filter(
    ({ pod, containers }) =>
      pod.owner?.uid === uid &&
      !pod.deleting &&
      containers.some(({ state, image: own }) => state.name === container && state.ready && own === image),
  ).length;
  if (running > 0)
    return {
      revision,
      image,
      known: `${counted(running, 'pod')} of revision ${number} ${running === 1 ? 'runs' : 'run'} it now`,
    };
  const { history, config, nowMs } = deps;
  const ranMs = healthyMs(revision, { workload: rollout, history, nowMs });
  return ranMs >= windowMs('CrashLoop', config.recovery.stableFor, history.brokenAfterMs(uid))
    ? { revision, image, known: `revision ${number} was seen healthy with it for ${spokenDuration(ranMs)}` }
    : undefined;
}

/** Whether the image is all that its newest pods wait for. */
const waitsOnlyForImages = ({ pods }: Scene, uid: string): boolean =>
  pods
    .filter((pod) => isLiving(pod) && pod.pod.owner?.uid === uid && !pod.pod.ready)
    .every(
      ({ containers }) =>
        containers.some(({ state }) => isPullFailure(state.waiting)) &&
        containers.every(({ state }) => state.restarts === 0),
    );

/**
 * The last image that ran in this workload, if going back a whole revision is no solution: the revision before has the
 * same trouble, or the newest did not bring it. Empty for anything but a Deployment, and for a paused one: the undo's
 * refusal says that already.
 */
export function imageFix(scene: Scene, waiting: readonly Culprit[], deps: DeriveDeps): Fix[] {
  const { object, deployment, revisions } = scene.rollout;
  const [newest, ...older] = revisions;
  const names = [...new Set(waiting.map(({ container }) => container.state.name))];
  const [container] = names;
  if (!deployment || deployment.paused || !newest || older.length === 0 || !container) return [];
  if (names.length > 1)
    return [
      { refused: `${names.length} containers wait for their images (${names.join(', ')}), and a fix changes one` },
    ];
  if (!waitsOnlyForImages(scene, newest.view.uid))
    return [{ refused: 'its new pods have other trouble as well, so another image alone may not help' }];
  const current = imageIn(newest.template, container);
  // The newest of them: if an image ran before and cannot be pulled now, that is no reason to go further back.
  const ran = revisions.map((revision) => ranIn(revision, container, scene, deps)).find((one) => one !== undefined);
  if (!ran) return [{ refused: `no image of ${container} is known to have run in it` }];
  if (ran.image === current) return []; // the undo's refusal says already that the newest revision did not bring it
  if (waiting.some((one) => one.container.image === ran.image))
    return [{ refused: `the last image of ${container} that ran in it cannot be pulled either` }];
  const { name, uid } = object.metadata;
  const next = withImage(specIn(object)['template'] as PodTemplate, container, ran.image);
  const isAll = sameValue(withoutRestart(next), withoutRestart(ran.revision.template));
  const pods = replacedBy('Deployment', next, scene.rollout, ran.revision);
  return [
    {
      action: patchDeploymentImage as never,
      params: { name, uid, container, image: ran.image },
      why: `It is the last image that ran here: ${ran.known}. ${pods}.${isAll ? '' : ' What else was changed since then stays.'}`,
    },
  ];
}
