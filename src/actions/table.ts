import { z } from 'zod';
import type { ActionSpec } from '../kube/remediation.ts';
import type { Action } from './action.ts';
import { deletePod } from './delete-pod.ts';
import { deleteResourceQuota } from './delete-resource-quota.ts';
import { patchDeploymentImage } from './patch-deployment-image.ts';
import { rolloutRestart } from './rollout-restart.ts';
import { rolloutUndo } from './rollout-undo.ts';
import { scaleDeployment } from './scale-deployment.ts';

/** The closed set: one new action is one new file and one new row. */
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

/** Throws, saying what is wrong, when the type is unknown or its params block is not as it should be. */
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
