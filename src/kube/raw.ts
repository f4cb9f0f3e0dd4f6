import type { KubeObject, ObjectMeta, OwnerReference } from './api.ts';

/**
 * Helpers to read objects as the API server sent them. A value of the wrong type gives an empty answer, never a throw.
 */
export type Raw = Record<string, unknown>;
export const obj = (value: unknown): Raw =>
  value && typeof value === 'object' && !Array.isArray(value) ? (value as Raw) : {};
export const arr = (value: unknown): Raw[] => (Array.isArray(value) ? value.map(obj) : []);
export const str = (value: unknown): string => (typeof value === 'string' ? value : '');
export const num = (value: unknown, otherwise = 0): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;

/**
 * Returns 0 when the value is not a time: absurd and missing timestamps are both "unknown". So is 1970, which stands for
 * "never": a kubelet writes it as the start of a container that could not be started.
 */
export const timeMs = (value: unknown): number => {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
};

export const strings = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(obj(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** The beginning, as a copy: a slice would keep the whole string in memory, and messages may be a megabyte long. */
export const beginning = (value: unknown, longest: number): string => {
  const text = str(value);
  return text.length <= longest ? text : Buffer.from(text.slice(0, longest)).toString();
};

/**
 * Names an object, and says whether it is being deleted. identityIn gives undefined for an object without a name or a
 * uid.
 */
export interface Identity {
  namespace: string;
  name: string;
  uid: string;
  deleting: boolean;
}

export function identityIn(object: KubeObject): Identity | undefined {
  const meta = obj(obj(object)['metadata']);
  const [name, uid] = [str(meta['name']), str(meta['uid'])];
  if (!name || !uid) return undefined;
  return { namespace: str(meta['namespace']), name, uid, deleting: Boolean(meta['deletionTimestamp']) };
}

export const specIn = (object: KubeObject): Raw => obj(obj(object)['spec']);
export const statusIn = (object: KubeObject): Raw => obj(obj(object)['status']);

export interface ConditionView {
  status: string;
  reason: string;
  message: string;
  sinceMs: number;
}

const longestMessage = 2048;

export function conditionIn(object: KubeObject, type: string): ConditionView | undefined {
  const found = arr(statusIn(object)['conditions']).find((condition) => condition['type'] === type);
  return (
    found && {
      status: str(found['status']),
      reason: beginning(found['reason'], 128),
      message: beginning(found['message'], longestMessage),
      sinceMs: timeMs(found['lastTransitionTime']),
    }
  );
}

/** Whether the object's own status has this condition as True. */
export const hasCondition = (object: KubeObject, type: string): boolean => conditionIn(object, type)?.status === 'True';

/**
 * The controller of an object. A static pod's controller is its node, which is not a workload, so it does not count.
 */
export function controllerOf(meta: ObjectMeta): OwnerReference | undefined {
  const found = arr(obj(meta)['ownerReferences']).find((owner) => owner['controller'] === true);
  const [kind, name, uid] = [str(found?.['kind']), str(found?.['name']), str(found?.['uid'])];
  if (!kind || !name || !uid || kind === 'Node') return undefined;
  return { apiVersion: str(found?.['apiVersion']), kind, name, uid, controller: true };
}
