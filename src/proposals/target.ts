import { parseAction } from '../actions/table.ts';
import type { Reader } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';
import { RetryLater } from '../lib/errors.ts';

/** Whether what was shown is no longer what would be done: then nobody can approve it any more. Not rehearsed yet: nothing was shown. */
export async function hasTargetChanged(reader: Reader, { metadata, spec, status }: Remediation): Promise<boolean> {
  if (!spec.action || !status?.preview) return false;
  const { action, params } = parseAction(spec.action);
  const context = { namespace: metadata.namespace ?? '', fixUid: metadata.uid, reader };
  try {
    const prepared = await action.prepare(params, context);
    return !prepared.ok || prepared.targetHash !== status.preview.targetHash;
  } catch (error) {
    if (error instanceof RetryLater) return false; // not at this moment
    throw error;
  }
}
