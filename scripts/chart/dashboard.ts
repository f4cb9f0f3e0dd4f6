interface Panel {
  title: string;
  about: string;
  kind: 'stat' | 'timeseries';
  unit?: string;
  queries: readonly { expr: string; legend: string }[];
}

const here = 'namespace=~"$namespace"';
const perMinute = (metric: string, by: string, more = ''): string =>
  `sum by (${by}) (rate(tapfix_${metric}{${here}${more}}[5m])) * 60`;

/** The only table of the dashboard: a row of the screen for each list. */
export const panels: readonly (readonly Panel[])[] = [
  [
    {
      title: 'Leaders',
      about: 'Exactly one replica of each role leads.',
      kind: 'stat',
      queries: [{ expr: `sum by (role) (tapfix_leader{${here}})`, legend: '{{role}}' }],
    },
    {
      title: 'Chats that answer',
      about: '1 while the vendor can be reached.',
      kind: 'stat',
      queries: [{ expr: `min by (channel) (tapfix_channel_up{${here}})`, legend: '{{channel}}' }],
    },
    {
      title: 'Seen',
      about: '1 while everything that is watched is seen, or was a minute ago.',
      kind: 'stat',
      queries: [{ expr: `min by (kind) (tapfix_watch_up{${here}})`, legend: '{{kind}}' }],
    },
    {
      title: 'Configuration',
      about: 'refused: the file has a mistake. frozen: it is mounted so that it never changes. Both should be 0.',
      kind: 'stat',
      queries: [
        { expr: `max by (what) (tapfix_config_trouble{${here}})`, legend: '{{what}}' },
        { expr: `count(count by (hash) (tapfix_config_info{${here}}))`, legend: 'different ones' },
      ],
    },
  ],
  [
    {
      title: 'Incidents per hour',
      about: 'Recorded as Remediations, by class.',
      kind: 'timeseries',
      queries: [{ expr: `sum by (class) (increase(tapfix_incidents_total{${here}}[1h]))`, legend: '{{class}}' }],
    },
    {
      title: 'What became of fixes, per hour',
      about: 'Phases that Remediations entered.',
      kind: 'timeseries',
      queries: [{ expr: `sum by (phase) (increase(tapfix_remediations_total{${here}}[1h]))`, legend: '{{phase}}' }],
    },
    {
      title: 'Decisions per hour',
      about: 'Presses and commands in chat, by what came of them.',
      kind: 'timeseries',
      queries: [{ expr: `sum by (result) (increase(tapfix_decisions_total{${here}}[1h]))`, legend: '{{result}}' }],
    },
  ],
  [
    {
      title: 'Signals a minute',
      about: 'Every observation of a failure ends in one outcome.',
      kind: 'timeseries',
      queries: [{ expr: perMinute('signals_total', 'outcome'), legend: '{{outcome}}' }],
    },
    {
      title: 'Messages a minute',
      about: 'Posted, edited, failed.',
      kind: 'timeseries',
      queries: [{ expr: perMinute('notices_total', 'channel, result'), legend: '{{channel}} {{result}}' }],
    },
    {
      title: 'Silence of the watches',
      about: 'Since the API server last said anything: given up as dead after 90 seconds.',
      kind: 'timeseries',
      unit: 's',
      queries: [{ expr: `max by (kind) (tapfix_watch_silence_seconds{${here}})`, legend: '{{kind}}' }],
    },
  ],
  [
    {
      title: 'Blind, heartbeats, reloads per day',
      about: 'Times that nothing or a part was not seen; pings of heartbeat.url; changes of the configuration.',
      kind: 'timeseries',
      queries: [
        { expr: `sum by (what) (increase(tapfix_blindness_total{${here}}[1d]))`, legend: '{{what}}' },
        {
          expr: `sum by (result) (increase(tapfix_heartbeats_total{${here},result!="sent"}[1d]))`,
          legend: 'heartbeat {{result}}',
        },
        {
          expr: `sum by (result) (increase(tapfix_config_reloads_total{${here}}[1d]))`,
          legend: 'configuration {{result}}',
        },
      ],
    },
    {
      title: 'Memory',
      about: 'Both roles live within 256 MiB.',
      kind: 'timeseries',
      unit: 'bytes',
      queries: [
        {
          expr: `max by (pod) (process_resident_memory_bytes{${here},pod=~"tapfix-.*"})`,
          legend: '{{pod}}',
        },
      ],
    },
    {
      title: 'Delay of the event loop',
      about: 'How long the process was busy with one thing.',
      kind: 'timeseries',
      unit: 's',
      queries: [
        { expr: `max by (pod) (nodejs_eventloop_lag_p99_seconds{${here},pod=~"tapfix-.*"})`, legend: '{{pod}}' },
      ],
    },
  ],
];

const columns = 24;
const datasource = { type: 'prometheus', uid: '${datasource}' };

function panelOf({ title, about, kind, unit, queries }: Panel, id: number, gridPos: object): object {
  return {
    id,
    title,
    description: about,
    type: kind,
    datasource,
    gridPos,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      expr,
      legendFormat: legend,
      datasource,
    })),
    fieldConfig: { defaults: { ...(unit && { unit }), min: 0 }, overrides: [] },
    options:
      kind === 'stat'
        ? {
            colorMode: 'none',
            graphMode: 'none',
            reduceOptions: { calcs: ['lastNotNull'] },
            textMode: 'value_and_name',
          }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
  };
}

/** For Grafana 10 or newer: imported by hand, or found by its sidecar in the ConfigMap of the chart. */
export function dashboardFile(): string {
  const heights = panels.map((row) => (row.every(({ kind }) => kind === 'stat') ? 5 : 8));
  const placed = panels.flatMap((row, r) => {
    const w = columns / row.length;
    const y = heights.slice(0, r).reduce((sum, h) => sum + h, 0);
    return row.map((panel, c) => ({ panel, gridPos: { x: c * w, y, w, h: heights[r] } }));
  });
  const dashboard = {
    uid: 'tapfix',
    title: 'tapfix',
    tags: ['tapfix', 'kubernetes'],
    schemaVersion: 39,
    editable: true,
    refresh: '1m',
    time: { from: 'now-24h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        {
          name: 'namespace',
          type: 'query',
          label: 'Namespace of tapfix',
          datasource,
          query: 'label_values(tapfix_leader, namespace)',
          definition: 'label_values(tapfix_leader, namespace)',
          includeAll: true,
          allValue: '.*',
          current: { text: 'All', value: '$__all' },
          refresh: 2,
        },
      ],
    },
    panels: placed.map(({ panel, gridPos }, index) => panelOf(panel, index + 1, gridPos)),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
