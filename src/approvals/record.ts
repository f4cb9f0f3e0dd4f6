import { hasCode, isConflict, isNotFound } from '../kube/api.ts';
import type { Remediation } from '../kube/remediation.ts';
import { messageOf } from '../lib/errors.ts';
import { refuse } from './rules.ts';
import type { Desk, Said } from './verb.ts';

/** Written only if nobody changed it since it was judged. undefined: somebody did. */
export async function record(
  { metadata }: Remediation,
  change: { annotations?: Record<string, string>; spec?: object },
  { api }: Pick<Desk, 'api'>,
  said: Said,
): Promise<Said | undefined> {
  const { namespace, name, resourceVersion } = metadata;
  const { annotations, spec } = change;
  const body = { metadata: { resourceVersion, ...(annotations && { annotations }) }, ...(spec && { spec }) };
  try {
    await api.patch<Remediation>({ kind: 'Remediation', ...(namespace && { namespace }), name }, 'merge', body);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    if (hasCode(error, 403) || hasCode(error, 422))
      return refuse('RefusedByCluster', `The cluster refused it: ${messageOf(error)}`.slice(0, 190));
    throw error;
  }
  return said;
}
