import type { Prepared } from '../actions/action.ts';
import { parseAction } from '../actions/table.ts';
import type { Reader } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';

/** Reads the live target through the action itself, so that press and execution compare the same thing. */
export const createTargetReader =
  (reader: Reader) =>
  async ({ metadata, spec }: Remediation): Promise<Prepared> => {
    if (!spec.action) return { ok: false, reason: 'NoAction', say: 'There is nothing to apply.' };
    const { action, params } = parseAction(spec.action);
    return action.prepare(params, { namespace: metadata.namespace ?? '', fixUid: metadata.uid, reader });
  };
