import type { Notice } from '../kube/notice.ts';
import { foundAtStart, type Remediation, severityRank } from '../kube/remediation.ts';

/** When the process started that found it broken already; undefined: it broke while somebody looked. */
export const startOf = ({ metadata }: Remediation): string | undefined => metadata.annotations?.[foundAtStart];

/**
 * Pure. Whether this belongs into the message that told what that start found: patience differs, so they come one after
 * the other. What is more severe than anything in it would not be heard there, and gets a message of its own.
 */
export function belongsTo(notice: Notice, fix: Remediation, members: readonly Remediation[]): boolean {
  const start = startOf(fix);
  return (
    notice.spec.form === 'boot' &&
    start !== undefined &&
    members.some((member) => startOf(member) === start) &&
    members.some((member) => severityRank(member) <= severityRank(fix))
  );
}
