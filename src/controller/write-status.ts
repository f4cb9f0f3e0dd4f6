import { type Api, isConflict, isNotFound } from '../kube/api.ts';
import {
  type Condition,
  type Phase,
  phaseOf,
  type Remediation,
  type RemediationStatus,
  withCondition,
} from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { redact } from '../lib/redact.ts';
import { line, plain } from '../lib/text.ts';

/** The status changes of a pass. `conditions` holds those that change; the others stay. */
export interface StatusChange {
  phase?: Phase;
  conditions: Omit<Condition, 'lastTransitionTime'>[];
  preview?: RemediationStatus['preview'];
  execution?: RemediationStatus['execution'];
}

const refOf = ({ metadata }: Remediation) => ({
  kind: 'Remediation' as const,
  namespace: metadata.namespace!,
  name: metadata.name,
});

export const condition = (type: string, ok: boolean, reason: string, message: string) => ({
  type,
  status: ok ? ('True' as const) : ('False' as const),
  reason: line(reason, 64),
  message: plain(redact(message), 1024), // it also goes into Events and the log
});

/**
 * Writes the status with the resourceVersion that the decision was based on: with two processes, or if the watcher
 * writes at the same time, one of them reads again. undefined if that happened; then nothing was written.
 */
export async function say(
  api: Api,
  fix: Remediation,
  word: StatusChange,
  nowMs: number,
): Promise<Remediation | undefined> {
  const { conditions, ...rest } = word;
  const all = conditions.reduce<Condition[]>(
    (list, next) => withCondition(list, { ...next, lastTransitionTime: iso(nowMs) }),
    [...(fix.status?.conditions ?? [])],
  );
  const { uid, resourceVersion } = fix.metadata;
  const body = { metadata: { uid, resourceVersion }, status: { ...rest, conditions: all } };
  try {
    return await api.patch<Remediation>({ ...refOf(fix), subresource: 'status' }, 'merge', body);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    throw error;
  }
}

/** The same Remediation as it is now; undefined if it is gone, replaced by another, or no longer in that phase. */
export async function readAgain(api: Api, fix: Remediation): Promise<Remediation | undefined> {
  const fresh = await api.get<Remediation>(refOf(fix));
  return fresh?.metadata.uid === fix.metadata.uid && phaseOf(fresh) === phaseOf(fix) ? fresh : undefined;
}
