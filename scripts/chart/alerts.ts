import { stringify } from 'yaml';

/** What a rule is tried on, as promtool writes it: series, the minute to look, and the labels of the alert, if any. */
interface RuleCase {
  series: Readonly<Record<string, string>>;
  atMinutes: number;
}

export interface Alert {
  name: string;
  severity: 'critical' | 'warning';
  expr: string;
  for?: string;
  summary: string;
  description: string;
  fires: RuleCase & { labels: Readonly<Record<string, string>> };
  quiet: RuleCase;
}

const at = 'namespace="tapfix",pod="tapfix-watcher-1"';
const other = 'namespace="tapfix",pod="tapfix-watcher-2"';
const inTapfix = { namespace: 'tapfix' };

/**
 * A counter's series appears with its first count, which `increase` does not see: a series that was not there before
 * counts as well.
 */
const grown = (series: string, window: string): string =>
  `increase(${series}[${window}]) > 0 or (${series} unless ${series} offset ${window}) > 0`;

const failedFixes = 'tapfix_remediations_total{phase="Failed"}';

/** The only table of the alerts. deploy/monitoring and the chart are made from it, and each row is tried by promtool. */
export const alerts: readonly Alert[] = [
  {
    name: 'TapfixAbsent',
    severity: 'critical',
    expr: 'absent(tapfix_leader{role="watcher"}) or absent(tapfix_leader{role="controller"})',
    for: '5m',
    summary: 'The {{ $labels.role }} of tapfix is not scraped',
    description:
      'Nobody notices failures without the watcher, and no fix is applied without the controller. See the pods.',
    fires: {
      series: { [`tapfix_leader{role="controller",${at}}`]: '1x20' },
      atMinutes: 10,
      labels: { role: 'watcher' },
    },
    quiet: {
      series: { [`tapfix_leader{role="controller",${at}}`]: '1x20', [`tapfix_leader{role="watcher",${at}}`]: '1x20' },
      atMinutes: 10,
    },
  },
  {
    name: 'TapfixNoLeader',
    severity: 'critical',
    expr: 'max by (namespace, role) (tapfix_leader) == 0',
    for: '2m',
    summary: 'No replica of the {{ $labels.role }} of tapfix leads',
    description:
      'The replicas run and none of them acts. See the Lease tapfix-{{ $labels.role }} in {{ $labels.namespace }}.',
    fires: {
      series: { [`tapfix_leader{role="watcher",${at}}`]: '0x10', [`tapfix_leader{role="watcher",${other}}`]: '0x10' },
      atMinutes: 5,
      labels: { ...inTapfix, role: 'watcher' },
    },
    quiet: {
      series: { [`tapfix_leader{role="watcher",${at}}`]: '0x10', [`tapfix_leader{role="watcher",${other}}`]: '1x10' },
      atMinutes: 5,
    },
  },
  {
    name: 'TapfixTwoLeaders',
    severity: 'warning',
    expr: 'sum by (namespace, role) (tapfix_leader) > 1',
    for: '5m',
    summary: 'More than one replica of the {{ $labels.role }} of tapfix leads',
    description:
      'See the Lease tapfix-{{ $labels.role }} in {{ $labels.namespace }}, and whether clocks or nodes stand still.',
    fires: {
      series: { [`tapfix_leader{role="watcher",${at}}`]: '1x10', [`tapfix_leader{role="watcher",${other}}`]: '1x10' },
      atMinutes: 8,
      labels: { ...inTapfix, role: 'watcher' },
    },
    // A takeover: for a minute the old value is still there.
    quiet: {
      series: {
        [`tapfix_leader{role="watcher",${at}}`]: '1x4 0x10',
        [`tapfix_leader{role="watcher",${other}}`]: '0x3 1x10',
      },
      atMinutes: 8,
    },
  },
  {
    name: 'TapfixBlind',
    severity: 'critical',
    expr: 'min by (namespace, pod, kind) (tapfix_watch_up) == 0',
    for: '2m',
    summary: 'tapfix does not see {{ $labels.kind }}',
    description: 'Failures that show in {{ $labels.kind }} are not noticed. See /readyz of {{ $labels.pod }}.',
    fires: {
      series: { [`tapfix_watch_up{kind="pods",${at}}`]: '0x10', [`tapfix_watch_up{kind="jobs",${at}}`]: '1x10' },
      atMinutes: 5,
      labels: { ...inTapfix, pod: 'tapfix-watcher-1', kind: 'pods' },
    },
    quiet: { series: { [`tapfix_watch_up{kind="pods",${at}}`]: '1x3 0x0 1x10' }, atMinutes: 5 },
  },
  {
    name: 'TapfixCannotPost',
    severity: 'critical',
    expr: 'min by (namespace, channel) (tapfix_channel_up) == 0',
    for: '5m',
    summary: 'tapfix does not reach {{ $labels.channel }}',
    description:
      'Messages wait, and are posted when {{ $labels.channel }} answers again. kubectl get fix -A shows what is open.',
    fires: {
      series: { [`tapfix_channel_up{channel="telegram",${at}}`]: '0x20' },
      atMinutes: 10,
      labels: { ...inTapfix, channel: 'telegram' },
    },
    quiet: { series: { [`tapfix_channel_up{channel="telegram",${at}}`]: '0x4 1x20' }, atMinutes: 10 },
  },
  {
    name: 'TapfixMessagesFail',
    severity: 'warning',
    expr: 'sum by (namespace, channel) (increase(tapfix_notices_total{result="failed"}[10m])) > 3',
    summary: 'Messages to {{ $labels.channel }} keep failing',
    description: 'The log of tapfix-watcher says why, in lines with "message not sent yet".',
    fires: {
      series: { [`tapfix_notices_total{channel="slack",form="card",result="failed",${at}}`]: '0+1x20' },
      atMinutes: 15,
      labels: { ...inTapfix, channel: 'slack' },
    },
    quiet: {
      series: {
        [`tapfix_notices_total{channel="slack",form="card",result="failed",${at}}`]: '0x10 1x10',
        [`tapfix_notices_total{channel="slack",form="card",result="posted",${at}}`]: '0+1x20',
      },
      atMinutes: 15,
    },
  },
  {
    name: 'TapfixFixFailed',
    severity: 'warning',
    expr: grown(failedFixes, '10m'),
    summary: 'A fix that was approved has failed',
    description: 'kubectl get fix -A shows which one; its card and kubectl describe fix say why.',
    fires: {
      series: { [`tapfix_remediations_total{phase="Failed",${at}}`]: '_x10 1x20' },
      atMinutes: 12,
      labels: { ...inTapfix, pod: 'tapfix-watcher-1', phase: 'Failed' },
    },
    quiet: {
      series: {
        [`tapfix_remediations_total{phase="Failed",${at}}`]: '1x30',
        [`tapfix_remediations_total{phase="Recovered",${at}}`]: '0+1x30',
      },
      atMinutes: 20,
    },
  },
  {
    name: 'TapfixConfigTrouble',
    severity: 'warning',
    expr: 'max by (namespace, pod, what) (tapfix_config_trouble) == 1',
    for: '10m',
    summary: 'The configuration of tapfix is {{ $labels.what }}',
    description:
      'refused: what is in the file is wrong, and an earlier version stays in force. frozen: it is mounted so that it never changes. See /readyz of {{ $labels.pod }}.',
    fires: {
      series: { [`tapfix_config_trouble{what="refused",${at}}`]: '1x20' },
      atMinutes: 15,
      labels: { ...inTapfix, pod: 'tapfix-watcher-1', what: 'refused' },
    },
    quiet: { series: { [`tapfix_config_trouble{what="refused",${at}}`]: '1x5 0x15' }, atMinutes: 15 },
  },
  {
    name: 'TapfixConfigDiffers',
    severity: 'warning',
    expr: 'count by (namespace) (count by (namespace, hash) (tapfix_config_info)) > 1',
    for: '15m',
    summary: 'Not all pods of tapfix use the same configuration',
    description: 'An approval is carried out only if watcher and controller agree. Compare /readyz of the pods.',
    fires: {
      series: { [`tapfix_config_info{hash="a",${at}}`]: '1x30', [`tapfix_config_info{hash="b",${other}}`]: '1x30' },
      atMinutes: 20,
      labels: inTapfix,
    },
    quiet: {
      series: { [`tapfix_config_info{hash="a",${at}}`]: '1x30', [`tapfix_config_info{hash="a",${other}}`]: '1x30' },
      atMinutes: 20,
    },
  },
  {
    name: 'TapfixHeartbeatFails',
    severity: 'warning',
    expr: 'sum by (namespace) (increase(tapfix_heartbeats_total{result="failed"}[15m])) > 5',
    summary: 'The dead man’s switch of tapfix does not answer',
    description:
      'heartbeat.url is not reached; the log of tapfix-watcher says why, in lines with "heartbeat not sent".',
    fires: {
      series: { [`tapfix_heartbeats_total{result="failed",${at}}`]: '0+1x30' },
      atMinutes: 20,
      labels: inTapfix,
    },
    quiet: { series: { [`tapfix_heartbeats_total{result="sent",${at}}`]: '0+1x30' }, atMinutes: 20 },
  },
];

const ruleOf = ({ name, severity, expr, for: forText, summary, description }: Alert): object => ({
  alert: name,
  expr,
  ...(forText && { for: forText }),
  labels: { severity },
  annotations: { summary, description },
});

const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });

/** As Prometheus reads them from a file. */
export const rulesFile = (): string => yaml({ groups: [{ name: 'tapfix', rules: alerts.map(ruleOf) }] });

/** Prometheus fills in the labels of the alert. */
const filledIn = (text: string, labels: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label] ?? '');

function ruleTests({ name, severity, summary, description, fires, quiet }: Alert): object[] {
  const expected = {
    exp_labels: { severity, ...fires.labels },
    exp_annotations: { summary: filledIn(summary, fires.labels), description: filledIn(description, fires.labels) },
  };
  const tried = (what: string, { series, atMinutes }: RuleCase, alerts: object[]): object => ({
    name: `${name} ${what}`,
    interval: '1m',
    input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
    alert_rule_test: [{ eval_time: `${atMinutes}m`, alertname: name, exp_alerts: alerts }],
  });
  return [tried('fires', fires, [expected]), tried('stays quiet', quiet, [])];
}

/** For `promtool test rules`: each alert once as it fires, once as it stays quiet. */
export const ruleTestsFile = (): string =>
  yaml({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests: alerts.flatMap(ruleTests) });

/** For the Prometheus operator. */
export const prometheusRule = (): string =>
  yaml({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'tapfix', namespace: 'tapfix' },
    spec: { groups: [{ name: 'tapfix', rules: alerts.map(ruleOf) }] },
  });
