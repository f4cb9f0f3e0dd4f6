import { isNotFound } from '../../kube/api.ts';
import { controllerOf } from '../../kube/raw.ts';
import type { Outcome } from '../../lib/queue.ts';
import { type ControllerDeps, createLoop, keyOf } from '../common/loop.ts';
import { refOf, writeStatus } from '../common/patch.ts';
import { nextAvailableInMs, ownedBy } from '../common/pods.ts';
import { createRecorder, refTo } from '../common/recorder.ts';
import type { PodObject, Template } from '../common/shapes.ts';
import { forgetOldRevisions, type Revisions, syncRevisions } from './controller-revision.ts';
import { isNamespaceGoing, podOf, wordsOf } from './pod-control.ts';
import { selectorText } from './selector.ts';
import {
  ordinalOf,
  partitionOf,
  planStatefulSet,
  revisionLabel,
  revisionOfPod,
  type StatefulSetObject,
  statefulSetStatus,
} from './stateful-plan.ts';

/** StatefulSets: numbered pods, in order. Claims of volumeClaimTemplates are not created. */
export function runStatefulSets(deps: ControllerDeps): void {
  const { api, clock, lookout } = deps;
  const recorder = createRecorder({ ...deps, component: 'statefulset-controller' });
  const loop = createLoop(deps, 'statefulset-controller', sync);
  lookout.on('StatefulSet', (set) => loop.add(keyOf(set)));
  lookout.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'StatefulSet') loop.add(`${metadata.namespace}/${owner.name}`);
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const set = await api.get<StatefulSetObject>({ kind: 'StatefulSet', namespace, name });
    if (!set) return undefined;
    const revisions = await syncRevisions(api, set, (hash) => ({
      ...set.spec?.template?.metadata?.labels,
      'controller.kubernetes.io/hash': hash,
    }));
    const newest = revisions.newest.metadata.name;
    const read = (): Promise<PodObject[]> => podsOf(set);
    const pods = await read();
    const failure = set.metadata.deletionTimestamp ? undefined : await act(set, pods, revisions);
    const nowMs = clock.now();
    const after = failure === undefined ? await read() : pods;
    await writeStatus(api, 'StatefulSet', set, statefulSetStatus(set, after, newest, nowMs));
    if (failure !== undefined) throw failure;
    const live = new Set([newest, set.status?.currentRevision, ...after.map(revisionOfPod)]);
    await forgetOldRevisions(api, revisions, (it) => live.has(it), set.spec?.revisionHistoryLimit);
    const againInMs = nextAvailableInMs(after, set.spec?.minReadySeconds ?? 0, nowMs);
    return againInMs === undefined ? undefined : { againInMs };
  }

  async function podsOf({ metadata, spec }: StatefulSetObject): Promise<PodObject[]> {
    const all = await api.list<PodObject>('Pod', metadata.namespace, selectorText(spec?.selector));
    return all.filter((pod) => ownedBy(metadata.uid)(pod) && ordinalOf(pod) >= 0);
  }

  async function act(set: StatefulSetObject, pods: readonly PodObject[], revisions: Revisions): Promise<unknown> {
    const plan = planStatefulSet(set, pods, revisions.newest.metadata.name, clock.now());
    const works = [
      ...plan.create.map((ordinal) => create(set, ordinal, revisions)),
      ...plan.remove.map((pod) => remove(set, pod)),
    ];
    const failed = (await Promise.allSettled(works)).find((result) => result.status === 'rejected');
    return failed && !isNamespaceGoing(failed.reason) ? failed.reason : undefined;
  }

  async function create(set: StatefulSetObject, ordinal: number, { newest, all }: Revisions): Promise<void> {
    const { name, namespace } = set.metadata;
    const podName = `${name}-${ordinal}`;
    const current = all.find(({ metadata }) => metadata.name === set.status?.currentRevision);
    const revision = ordinal < partitionOf(set) && current ? current : newest;
    const body = podOf(set, numbered(set, revision.data?.spec?.template ?? {}, ordinal, revision.metadata.name), {
      name: podName,
    });
    try {
      await api.create({ kind: 'Pod', namespace }, body);
      say(set, 'Normal', 'SuccessfulCreate', `Create Pod ${podName} in StatefulSet ${name} successful`);
    } catch (error) {
      const message = `Create Pod ${podName} in StatefulSet ${name} failed error: ${wordsOf(error)}`;
      if (!isNamespaceGoing(error)) say(set, 'Warning', 'FailedCreate', message);
      throw error;
    }
  }

  async function remove(set: StatefulSetObject, pod: PodObject): Promise<void> {
    const about = `Delete Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
    try {
      await api.delete(refOf('Pod', pod), { uid: pod.metadata.uid });
      say(set, 'Normal', 'SuccessfulDelete', `${about} successful`);
    } catch (error) {
      if (isNotFound(error)) return;
      say(set, 'Warning', 'FailedDelete', `${about} failed error: ${wordsOf(error)}`);
      throw error;
    }
  }

  const say = (set: StatefulSetObject, type: 'Normal' | 'Warning', reason: string, message: string): void =>
    recorder.event(refTo(set), type, reason, message);
}

function numbered(
  { metadata, spec }: StatefulSetObject,
  template: Template,
  ordinal: number,
  revision: string,
): Template {
  const name = `${metadata.name}-${ordinal}`;
  const { $patch: _, ...own } = template as Template & { $patch?: string };
  const labels = {
    ...own.metadata?.labels,
    'apps.kubernetes.io/pod-index': String(ordinal),
    [revisionLabel]: revision,
    'statefulset.kubernetes.io/pod-name': name,
  };
  const subdomain = spec?.serviceName ? { subdomain: spec.serviceName } : {};
  return { ...own, metadata: { ...own.metadata, labels }, spec: { ...own.spec, hostname: name, ...subdomain } };
}
