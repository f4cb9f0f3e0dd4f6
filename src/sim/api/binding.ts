import type { Core } from './core.ts';
import { type Answer, type Obj, stamp, text, type Tree, tree, trees } from './model.ts';
import { conflict, internal, success } from './refusal.ts';
import type { Target } from './route.ts';
import { mustFind } from './writing.ts';

/** What the scheduler does: the pod belongs to a node from now on. */
export function bind(core: Core, target: Target, body: Tree, isDryRun: boolean): Answer {
  const node = text(tree(body['target'])['name']);
  if (!node) throw internal('target.name: Required value');
  const pod = mustFind(core, target);
  const { name, uid } = pod.metadata;
  const wanted = text(tree(body['metadata'])['uid']);
  if (wanted && wanted !== uid)
    throw conflict('pods', name, `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`);
  const assigned = text(pod.spec?.['nodeName']);
  if (pod.metadata.deletionTimestamp)
    throw conflict('pods/binding', name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if (assigned) throw conflict('pods/binding', name, `pod ${name} is already assigned to node "${assigned}"`);
  if (!isDryRun) core.store.put(target.row, bound(pod, node, stamp(core.clock.now())));
  return success(201);
}

function bound(pod: Obj, nodeName: string, now: string): Obj {
  const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const others = trees(pod.status?.['conditions']).filter(({ type }) => type !== scheduled.type);
  return { ...pod, spec: { ...pod.spec, nodeName }, status: { ...pod.status, conditions: [...others, scheduled] } };
}
