import { readEvents } from '../../diagnosis/events.ts';
import { type Missing, missingIn, missingInWords, needs, referencesIn } from '../../diagnosis/words/references.ts';
import { ifForbidden, type KubeObject, type Reader } from '../../kube/api.ts';
import { obj } from '../../kube/raw.ts';
import { line } from '../../lib/text.ts';
import type { DeriveDeps, Subject } from '../derive.ts';
import { configMissing, type RevisionTrouble } from '../fixes/revision-trouble.ts';
import { undoFix } from '../fixes/undo-fix.ts';
import { type Case, isLiving, readScene, type Scene, someOf } from '../scene.ts';

/** The message of the kubelet about one pod. */
interface MissingReport {
  uid: string;
  message: string;
}

/**
 * From the state of containers, and for volumes from Events: a pod that waits for a volume shows only
 * "ContainerCreating".
 */
async function readSaid(scene: Scene, namespace: string): Promise<MissingReport[]> {
  const { pods, reader } = scene;
  const living = pods.filter(isLiving);
  const states = living.flatMap(({ pod, containers }) =>
    containers
      .filter(({ state }) => state.waiting === 'CreateContainerConfigError')
      .map(({ state }) => ({ uid: pod.uid, message: state.waitingMessage ?? '' })),
  );
  const creating = living.filter(({ containers }) =>
    containers.some(({ state }) => state.waiting === 'ContainerCreating' || state.waiting === 'PodInitializing'),
  );
  const events =
    creating.length === 0
      ? []
      : await readEvents(
          reader,
          namespace,
          ['FailedMount'],
          creating.map(({ pod }) => pod.uid),
        );
  const mounts: MissingReport[] = [];
  for (const { object, message } of events) {
    const missing = missingIn(message).map((one) => named(one, scene));
    if (missing.length > 0 && !(await isAnyThere(reader, namespace, missing)))
      mounts.push({ uid: object.uid, message });
  }
  return [...states, ...mounts];
}

/**
 * An Event may be old, or written by anybody: an object that is there when we look is not missing. tapfix never reads
 * Secrets, and ConfigMaps only where it was given the right and the template refers to them.
 */
async function isAnyThere(reader: Reader, namespace: string, missing: readonly Missing[]): Promise<boolean> {
  for (const { kind, name, key } of missing) {
    if (kind !== 'ConfigMap' || !name) continue;
    const live = await reader
      .get<KubeObject & { data?: unknown; binaryData?: unknown }>({ kind, namespace, name })
      .catch(ifForbidden(undefined));
    if (live && (key === undefined || Object.hasOwn({ ...obj(live.data), ...obj(live.binaryData) }, key))) return true;
  }
  return false;
}

/** A message about a volume may not name the source of the volume; the template does. */
function named(missing: Missing, { rollout }: Scene): Missing {
  if (missing.name) return missing;
  const [newest] = rollout.revisions;
  const meant = newest
    ? referencesIn(newest.template).find(({ kind, volume }) => kind === missing.kind && volume === missing.volume)
    : undefined;
  return meant ? { ...missing, name: meant.name } : missing;
}

/** The rollout is to blame only for objects that its template needs and the previous one does not. */
const neededBefore =
  (missing: readonly Missing[]): NonNullable<RevisionTrouble['notBroughtBy']> =>
  (newest, previous) => {
    if (missing.length === 0) return 'what is missing has no name, so it is not known what brought it';
    if (missing.some((one) => needs(previous.template, one)))
      return `revision ${previous.view.revision} needs it as well, so going back would not help`;
    if (missing.every((one) => needs(newest.template, one))) return undefined;
    return `revision ${newest.view.revision} does not refer to it by name, so it is not known what brought it`;
  };

export async function configMissingCase(subject: Subject, deps: DeriveDeps): Promise<Case | undefined> {
  const scene = await readScene(subject, deps);
  if (!scene) return undefined;
  const said = await readSaid(scene, subject.namespace);
  const all = said.flatMap(({ message }) => missingIn(message)).map((one) => named(one, scene));
  const missing = [...new Map(all.map((one) => [missingInWords(one), one])).values()];
  const waiting = new Set(said.map(({ uid }) => uid));
  return {
    diagnosis: missing.slice(0, 3).map(missingInWords).join('; ') || verbatim(said),
    changed: scene.changed,
    evidence:
      waiting.size > 0 ? [`${someOf(waiting.size, scene.pods.filter(isLiving).length)} cannot start without it`] : [],
    fix: undoFix(
      scene,
      deps,
      configMissing(({ uid }) => waiting.has(uid), neededBefore(missing)),
    ),
  };
}

const verbatim = ([first]: readonly MissingReport[]): string =>
  first?.message
    ? `a container cannot be created: ${line(first.message, 300)}`
    : 'something that it refers to is missing';
