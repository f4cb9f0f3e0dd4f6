import type { Config } from './schema.ts';

const units = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
] as const;

/** Milliseconds as the file writes them: "1h30m", and "168h" for a week. */
export function humanDuration(ms: number): string {
  if (ms === 0) return '0s';
  let rest = ms;
  let text = '';
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text;
}

/**
 * The configuration as its file would look with every default written out; it loads to the same configuration again.
 */
export function humanConfig(config: Config): object {
  const { classes, extraReasons, notices, escalation, approval, recovery, channels, heartbeat, leaderElection } =
    config;
  return {
    ...config,
    classes: Object.fromEntries(Object.entries(classes).map(([name, rule]) => [name, withHumanFor(rule)])),
    extraReasons: extraReasons.map(withHumanFor),
    notices: humanNotices(notices),
    escalation: escalation.map((step) => ({ ...step, after: humanDuration(step.after) })),
    approval: { ...approval, ttl: humanDuration(approval.ttl) },
    recovery: { stableFor: humanDuration(recovery.stableFor), timeout: humanDuration(recovery.timeout) },
    retention: humanDuration(config.retention),
    channels: channels.slack ? { ...channels, slack: withSlackRoutes(channels.slack) } : channels,
    leaderElection: {
      leaseDuration: humanDuration(leaderElection.leaseDuration),
      renewDeadline: humanDuration(leaderElection.renewDeadline),
      retryPeriod: humanDuration(leaderElection.retryPeriod),
    },
    heartbeat: { ...heartbeat, every: humanDuration(heartbeat.every) },
  };
}

/** One of the two keys for reminders, as in the file. */
function humanNotices({ coalesce, reminders, reminder, ...others }: Config['notices']): object {
  const own =
    reminder === undefined ? { reminders: reminders.map(humanDuration) } : { reminder: humanDuration(reminder) };
  return { ...others, coalesce: humanDuration(coalesce), ...own };
}

const withHumanFor = <T extends { for?: number }>(rule: T): object =>
  rule.for === undefined ? rule : { ...rule, for: humanDuration(rule.for) };

const withSlackRoutes = (slack: NonNullable<Config['channels']['slack']>): object => ({
  ...slack,
  routes: slack.routes.map(({ namespaces, chat }) => ({ namespaces, channel: chat })),
});
