import { z } from 'zod';
import type { Reader } from '../kube/api.ts';
import type { ActionSpec, Remediation } from '../kube/remediation.ts';
import { RetryLater } from '../lib/errors.ts';
import type { Action, Prepared } from './action.ts';
import { deletePod } from './delete-pod.ts';
import { deleteResourceQuota } from './delete-resource-quota.ts';
import { patchDeploymentImage } from './patch-deployment-image.ts';
import { rolloutRestart } from './rollout-restart.ts';
import { rolloutUndo } from './rollout-undo.ts';
import { scaleDeployment } from './scale-deployment.ts';

/** The closed set: a new action is one new file and one new row. */
export const actions: readonly Action<unknown>[] = [
  deleteResourceQuota,
  patchDeploymentImage,
  scaleDeployment,
  rolloutRestart,
  deletePod,
  rolloutUndo,
];

export const actionOf = (type: string): Action<unknown> | undefined => actions.find((action) => action.type === type);

export interface ParsedAction {
  action: Action<unknown>;
  params: unknown;
}

/** Throws with an explanation if the type is unknown or its params block is invalid. */
export function parseAction(spec: ActionSpec): ParsedAction {
  const action = actionOf(spec.type);
  if (!action) throw new Error(`unknown action ${spec.type}; known: ${actions.map(({ type }) => type).join(', ')}`);
  const parsed = action.params.safeParse(spec[action.block]);
  if (!parsed.success) throw new Error(`${spec.type} has bad parameters: ${z.prettifyError(parsed.error)}`);
  return { action, params: parsed.data };
}

export const specOf = (action: Action<unknown>, params: unknown): ActionSpec => ({
  type: action.type,
  [action.block]: params,
});

/** Reads the live target through the action itself, so that press and execution compare the same thing. */
export const createTargetReader =
  (reader: Reader) =>
  async ({ metadata, spec }: Remediation): Promise<Prepared> => {
    if (!spec.action) return { ok: false, reason: 'NoAction', say: 'There is nothing to apply.' };
    const { action, params } = parseAction(spec.action);
    return action.prepare(params, { namespace: metadata.namespace ?? '', fixUid: metadata.uid, reader });
  };

/**
 * Whether the fix would no longer do what was shown: then nobody can approve it any more. False if it was not rehearsed
 * yet, because nothing was shown.
 */
export async function hasTargetChanged(reader: Reader, { metadata, spec, status }: Remediation): Promise<boolean> {
  if (!spec.action || !status?.preview) return false;
  const { action, params } = parseAction(spec.action);
  const context = { namespace: metadata.namespace ?? '', fixUid: metadata.uid, reader };
  try {
    const prepared = await action.prepare(params, context);
    return !prepared.ok || prepared.targetHash !== status.preview.targetHash;
  } catch (error) {
    if (error instanceof RetryLater) return false; // it cannot be determined right now
    throw error;
  }
}
