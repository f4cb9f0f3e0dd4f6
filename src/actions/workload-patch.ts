import type { JsonPatchOp, KubeObject } from '../kube/api.ts';
import type { Ref } from '../kube/resources.ts';
import type { PodTemplate } from '../kube/views.ts';
import { hashOf } from '../lib/hash.ts';
import {
  type ActionContext,
  longestSnapshot,
  markAnnotation,
  no,
  type ActionRefusal,
  type RolledOutKind,
  type Trace,
} from './action.ts';

/** A workload as an action patches it: read, changed together with our mark, and recognised after a crash. */
export interface LiveWorkload extends KubeObject {
  spec: {
    template: PodTemplate;
    replicas?: number;
    paused?: boolean;
    strategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string } };
    updateStrategy?: {
      type?: string;
      rollingUpdate?: { partition?: number; maxUnavailable?: number | string; maxSurge?: number | string };
    };
    podManagementPolicy?: string;
    revisionHistoryLimit?: number;
  };
  status?: Record<string, unknown>;
}

export interface WorkloadTarget {
  kind: RolledOutKind;
  name: string;
  uid: string;
}

export const refOf = ({ kind, name }: WorkloadTarget, namespace: string): Ref => ({ kind, namespace, name });

/** The workload with this uid, and not a later one of the same name. */
export async function readMeant(
  target: WorkloadTarget,
  { reader, namespace }: ActionContext,
): Promise<LiveWorkload | undefined> {
  const live = await reader.get<LiveWorkload>(refOf(target, namespace));
  return live?.metadata.uid === target.uid && !live.metadata.deletionTimestamp ? live : undefined;
}

export const targetGone = ({ kind, name }: { kind: string; name: string }): ActionRefusal =>
  no('TargetGone', `${kind} ${name} is no longer there.`);

const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** A patch on the uid and the resourceVersion that were read, with our mark in it: both happen or neither. */
export function markedPatch({ metadata }: KubeObject, changes: readonly JsonPatchOp[], fixUid: string): JsonPatchOp[] {
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    ...changes,
    annotated('/metadata', metadata, markAnnotation, fixUid),
  ];
}

/** Sets one annotation and leaves every other as it is. */
export function annotated(
  path: string,
  { annotations }: { annotations?: Record<string, string> },
  key: string,
  value: string,
): JsonPatchOp {
  return annotations
    ? { op: 'add', path: `${path}/annotations/${pointer(key)}`, value }
    : { op: 'add', path: `${path}/annotations`, value: { [key]: value } };
}

/**
 * The record of a patching action about its target: the hash of the values that it replaces (compared after a crash),
 * and those values as far as people may read them. Empty if the target is gone.
 */
export function createMemory<P>(
  targetOf: (params: P) => WorkloadTarget,
  replaced: (live: LiveWorkload, params: P) => { exactly: object; readable: object },
) {
  const hashed = (live: LiveWorkload, params: P): string =>
    hashOf({ uid: live.metadata.uid, ...replaced(live, params).exactly });
  const remember = (live: LiveWorkload, params: P): string =>
    JSON.stringify({ currentHash: hashed(live, params), ...replaced(live, params).readable });
  return {
    hashed,
    remember,
    async inspect(params: P, before: string, context: ActionContext): Promise<Trace> {
      const live = await readMeant(targetOf(params), context);
      if (!live) return 'other';
      if (live.metadata.annotations?.[markAnnotation] === context.fixUid) return 'ours';
      const { currentHash } = JSON.parse(before) as { currentHash?: string };
      return hashed(live, params) === currentHash ? 'untouched' : 'other';
    },
    async snapshot(params: P, context: ActionContext): Promise<string> {
      const live = await readMeant(targetOf(params), context);
      return live ? remember(live, params).slice(0, longestSnapshot) : '';
    },
  };
}
