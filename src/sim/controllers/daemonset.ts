import { controllerOf } from '../../kube/raw.ts';
import { sameValue } from '../../lib/hash.ts';
import type { Outcome } from '../../lib/queue.ts';
import { type ControllerDeps, createLoop, keyOf } from '../common/loop.ts';
import { writeStatus } from '../common/patch.ts';
import { nextAvailableInMs, ownedBy } from '../common/pods.ts';
import { createRecorder, refTo } from '../common/recorder.ts';
import type { NodeObject, PodObject } from '../common/shapes.ts';
import { forgetOldRevisions, type RevisionObject, syncRevisions } from './controller-revision.ts';
import { type DaemonSetObject, daemonSetStatus, pinnedTo, placesOf, planDaemonSet } from './daemon-plan.ts';
import { taintsOf } from './fits.ts';
import { createPodControl, inSlowStart, isNamespaceGoing, podOf } from './pod-control.ts';
import { selectorText } from './selector.ts';
import { revisionLabel, revisionOfPod } from './stateful-plan.ts';

/** DaemonSets: one pod on each node that will have it. Surge is not supported. */
export function runDaemonSets(deps: ControllerDeps): void {
  const { api, clock, lookout } = deps;
  const recorder = createRecorder({ ...deps, component: 'daemonset-controller' });
  const pods = createPodControl(api, recorder);
  const loop = createLoop(deps, 'daemonset-controller', sync);
  const nodes = new Map<string, object>();
  lookout.on('DaemonSet', (set) => loop.add(keyOf(set)));
  lookout.on('Pod', ({ metadata }) => {
    const owner = controllerOf(metadata);
    if (owner?.kind === 'DaemonSet') loop.add(`${metadata.namespace}/${owner.name}`);
  });
  lookout.on('Node', (node, isGone) => {
    const matters = { labels: node.metadata.labels, taints: taintsOf(node as NodeObject), isGone };
    if (sameValue(nodes.get(node.metadata.name), matters)) return; // a heartbeat is no news
    nodes.set(node.metadata.name, matters);
    for (const set of lookout.seen('DaemonSet')) loop.add(keyOf(set));
  });

  async function sync(namespace: string, name: string): Promise<Outcome> {
    const set = await api.get<DaemonSetObject>({ kind: 'DaemonSet', namespace, name });
    if (!set) return undefined;
    const revisions = await syncRevisions(api, set, (hash) => ({
      ...set.spec?.template?.metadata?.labels,
      [revisionLabel]: hash,
    }));
    const newest = hashOf(revisions.newest);
    const places = await readPlaces(set);
    const failure = set.metadata.deletionTimestamp ? undefined : await act(set, places, newest);
    const nowMs = clock.now();
    const after = await readPlaces(set);
    await writeStatus(api, 'DaemonSet', set, daemonSetStatus(set, after, newest, nowMs));
    if (failure !== undefined) throw failure;
    const own = after.flatMap((place) => place.pods);
    const live = new Set([newest, ...own.map(revisionOfPod)]);
    const isLive = (revision: string): boolean => live.has(revision.slice(revision.lastIndexOf('-') + 1));
    await forgetOldRevisions(api, revisions, isLive, set.spec?.revisionHistoryLimit);
    const againInMs = nextAvailableInMs(own, set.spec?.minReadySeconds ?? 0, nowMs);
    return againInMs === undefined ? undefined : { againInMs };
  }

  async function readPlaces(set: DaemonSetObject) {
    const all = await api.list<PodObject>('Pod', set.metadata.namespace, selectorText(set.spec?.selector));
    const allNodes = await api.list<NodeObject>('Node');
    return placesOf(set, allNodes, all.filter(ownedBy(set.metadata.uid)));
  }

  async function act(set: DaemonSetObject, places: ReturnType<typeof placesOf>, newest: string): Promise<unknown> {
    const plan = planDaemonSet(set, places, newest, clock.now());
    for (const { metadata, spec } of plan.failed) {
      const message = `Found failed daemon pod ${metadata.namespace}/${metadata.name} on node ${spec?.nodeName}, will try to kill it`;
      recorder.event(refTo(set), 'Warning', 'FailedDaemonPod', message);
    }
    await Promise.all(plan.remove.map((pod) => pods.remove(set, pod)));
    const failure = await inSlowStart(plan.create.length, (index) =>
      pods.create(set, daemonPod(set, plan.create[index]!, newest)),
    );
    return isNamespaceGoing(failure) ? undefined : failure;
  }
}

const hashOf = ({ metadata }: RevisionObject): string =>
  metadata.labels?.[revisionLabel] ?? metadata.name.slice(metadata.name.lastIndexOf('-') + 1);

function daemonPod(set: DaemonSetObject, node: string, revision: string): object {
  const { template = {} } = set.spec ?? {};
  const generation = String(set.metadata.generation ?? 1);
  const labels = { ...template.metadata?.labels, [revisionLabel]: revision, 'pod-template-generation': generation };
  const pinned = {
    ...template,
    metadata: { ...template.metadata, labels },
    spec: pinnedTo(template.spec ?? {}, node),
  };
  return podOf(set, pinned, { generateName: `${set.metadata.name}-` });
}
