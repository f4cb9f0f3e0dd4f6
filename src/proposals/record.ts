import type { Config } from '../config/schema.ts';
import {
  conditionOf,
  group,
  type IncidentRecord,
  isCleared,
  phaseOf,
  predecessorsIn,
  type Remediation,
  type RemediationSpec,
} from '../kube/remediation.ts';
import { iso } from '../lib/clock.ts';
import { redact } from '../lib/redact.ts';
import { plain } from '../lib/text.ts';
import type { Derived } from './derive.ts';

const recurrenceMs = 3_600_000;

export interface RecordFacts {
  incident: Pick<IncidentRecord, 'key' | 'class' | 'severity' | 'reason' | 'object' | 'message'> & {
    firstSeenMs: number;
  };
  derived: Derived;
  /** Earlier Remediations of the same key. */
  earlier: readonly Remediation[];
  /** Watched because the configuration names it literally, but nothing may be changed there. */
  notifyOnly: boolean;
  proposedBy: string;
  config: Config;
  nowMs: number;
}

/** A fix of that type that was applied within the last hour and did not last. */
export function recurrence(earlier: readonly Remediation[], type: string, nowMs: number): Remediation | undefined {
  return earlier.find((fix) => {
    const applied = conditionOf(fix, 'Applied');
    return fix.spec.action?.type === type && applied && nowMs - Date.parse(applied.lastTransitionTime) < recurrenceMs;
  });
}

/**
 * A fix of that type that was applied in this episode and did not help. One that was never applied may be tried again.
 */
const failedBefore = (earlier: readonly Remediation[], type: string): Remediation | undefined =>
  earlier.find(
    (fix) =>
      !isCleared(fix) &&
      fix.spec.action?.type === type &&
      phaseOf(fix) === 'Failed' &&
      fix.status?.execution?.appliedAt !== undefined,
  );

/** The text goes to a chat from here, so it is redacted whoever wrote it. */
const said = (text: string, maxLength: number): string => plain(redact(text), maxLength);

/** Pure. The spec of a new Remediation, with everything that the card needs. */
export function remediationSpec(facts: RecordFacts): RemediationSpec {
  const { incident, derived, config, proposedBy } = facts;
  const { key, class: failureClass, severity, reason, object, message, firstSeenMs } = incident;
  const action = allowedAction(facts);
  return {
    incident: {
      key,
      class: failureClass,
      severity,
      reason: plain(reason, 128),
      object,
      message: said(message, 1024),
      firstSeen: iso(firstSeenMs),
    },
    diagnosis: said(derived.diagnosis, 512),
    context: {
      changed: derived.changed.map((line) => said(line, 512)).slice(0, 10),
      evidence: derived.evidence.map((line) => said(line, 512)).slice(0, 10),
    },
    ...('spec' in action ? { action: action.spec } : {}),
    rationale: plain('spec' in action ? derived.rationale : action.why, 2048),
    proposedBy,
    ttlMinutes: Math.min(Math.max(Math.round(config.approval.ttl / 60_000), 1), 60),
    approval: { state: 'Pending' },
  };
}

function allowedAction({ derived, earlier, notifyOnly, nowMs }: RecordFacts) {
  if (!derived.action) return { why: derived.rationale };
  if (notifyOnly) return { why: 'nothing is changed in this namespace' };
  const failed = failedBefore(earlier, derived.action.type);
  if (failed) return { why: `the same fix was applied at ${failed.status?.execution?.appliedAt} and did not help` };
  const before = recurrence(earlier, derived.action.type, nowMs);
  if (before) {
    const at = conditionOf(before, 'Applied')!.lastTransitionTime;
    const times = ordinal(timesInAnHour(earlier, derived.action.type, nowMs));
    return { why: `the same fix was applied at ${at} and did not last (${times} time in an hour)` };
  }
  return { spec: derived.action };
}

/**
 * How often it was broken, including this time, and also when no fix was offered any more. A successor does not count
 * as a new time.
 */
function timesInAnHour(earlier: readonly Remediation[], type: string, nowMs: number): number {
  const isRecent = ({ metadata }: Remediation): boolean =>
    nowMs - Date.parse(metadata.creationTimestamp) < recurrenceMs;
  const predecessorOf = predecessorsIn(earlier);
  const before = earlier.filter(
    (fix) => recurrence([fix], type, nowMs) || (!predecessorOf(fix) && isCleared(fix) && isRecent(fix)),
  );
  return before.length + 1;
}

const ordinal = (n: number): string => ['', 'first', 'second', 'third'][n] ?? `${n}th`;

export const remediationBody = (
  namespace: string,
  name: string,
  spec: RemediationSpec,
  annotations: Record<string, string> = {},
): object => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'Remediation',
  metadata: { name, namespace, ...(Object.keys(annotations).length > 0 && { annotations }) },
  spec,
});
