import type { Remediation } from './remediation.ts';

/** Annotations that people set, in chat or with kubectl alike: somebody is on it; nobody wants to hear of it until then. */
export const acknowledgedBy = 'tapfix.dev/acknowledged-by';
export const snoozedUntil = 'tapfix.dev/snoozed-until';

/** "telegram:123456789", or a Kubernetes user. */
export const whoIsOnIt = ({ metadata }: Remediation): string | undefined =>
  metadata.annotations?.[acknowledgedBy] || undefined;

/** Until when, if that is still to come; what is not a time says nothing. */
export function snoozedUntilMs({ metadata }: Remediation, nowMs: number): number | undefined {
  const untilMs = Date.parse(metadata.annotations?.[snoozedUntil] ?? '');
  return untilMs > nowMs ? untilMs : undefined;
}
