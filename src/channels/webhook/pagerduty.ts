import { cut } from '../../lib/text.ts';
import type { Alert } from '../../notices/cards/message.ts';

/** https://developer.pagerduty.com/docs/send-alert-event: where events go unless a file names another place. */
export const pagerDutyUrl = 'https://events.pagerduty.com/v2/enqueue';

/** The longest summary that PagerDuty takes. */
const longestSummary = 1024;

const severities: Readonly<Record<string, string>> = { critical: 'critical', warning: 'warning', info: 'info' };

/**
 * An event of the Events API v2. An acknowledgement and a resolution need only the key of what was triggered.
 * https://developer.pagerduty.com/docs/send-alert-event
 */
export function pagerDutyEvent(alert: Alert, routingKey: string): object {
  const key = { routing_key: routingKey, event_action: alert.event, dedup_key: alert.id };
  if (alert.event !== 'trigger') return key;
  const [first] = alert.incidents;
  return {
    ...key,
    client: 'tapfix',
    payload: {
      summary: cut(alert.summary, longestSummary),
      source: alert.cluster,
      severity: severities[alert.severity] ?? 'error',
      timestamp: alert.at,
      ...(first && { component: first.name, group: first.namespace, class: first.class }),
      custom_details: { incidents: alert.incidents, ...(alert.more !== undefined && { more: alert.more }) },
    },
  };
}
