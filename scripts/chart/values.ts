import { stringify } from 'yaml';
import { imageRepository } from '../../src/manifests/manifest.ts';

/** A part of a JSON schema, draft 7. */
export interface ValueSchema {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, ValueSchema>>;
  required?: readonly string[];
  additionalProperties?: boolean | ValueSchema;
  items?: ValueSchema;
  [keyword: string]: unknown;
}

export interface Value {
  /** `watcher.replicas`. */
  path: string;
  default: unknown;
  schema: ValueSchema;
  about: string;
}

const text: ValueSchema = { type: 'string' };
const yesOrNo: ValueSchema = { type: 'boolean' };
const port: ValueSchema = { type: 'integer', minimum: 1, maximum: 65535 };
const listOf = (items: ValueSchema): ValueSchema => ({ type: 'array', items });
const texts = listOf(text);
/** Labels, annotations, selectors of nodes: Kubernetes takes text only. */
const textByName: ValueSchema = { type: 'object', additionalProperties: text };
/** What is handed on as it is: the API server knows its fields. */
const anyObject: ValueSchema = { type: 'object' };
const anyObjects = listOf(anyObject);
const named = listOf({ type: 'object', required: ['name'], properties: { name: text } });
const only = (properties: Record<string, ValueSchema>, required: readonly string[] = []): ValueSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  ...(required.length > 0 && { required }),
});
const amounts: ValueSchema = { type: 'object', additionalProperties: { type: ['string', 'number'] } };

const [registry = '', ...repository] = imageRepository.split('/');

const row = (path: string, value: unknown, schema: ValueSchema, about: string): Value => ({
  path,
  default: value,
  schema,
  about,
});

const rolesRows = (role: 'watcher' | 'controller'): Value[] => [
  row(`${role}.replicas`, 2, { type: 'integer', minimum: 0 }, 'One leads, the others watch and take over.'),
  row(
    `${role}.resources`,
    { requests: { cpu: '20m', memory: '128Mi' }, limits: { memory: '256Mi' } },
    only({ requests: amounts, limits: amounts, claims: named }),
    'Measured: both roles live within 256Mi.',
  ),
  row(`${role}.extraEnv`, [], named, 'Variables beside those of the chart, such as `TZ` for the times on cards.'),
  row(`${role}.extraVolumes`, [], named, 'Volumes beside those of the chart.'),
  row(
    `${role}.extraVolumeMounts`,
    [],
    listOf({ type: 'object', required: ['name', 'mountPath'] }),
    'Where the container finds them.',
  ),
  row(`${role}.podLabels`, {}, textByName, 'The labels by which the pods are selected stay as they are.'),
  row(`${role}.podAnnotations`, {}, textByName, 'Annotations of the pods.'),
  row(`${role}.priorityClassName`, '', text, 'An existing PriorityClass: what reports trouble should outlive it.'),
  row(`${role}.nodeSelector`, {}, textByName, 'Labels of the nodes that may run it.'),
  row(`${role}.tolerations`, [], anyObjects, 'Taints that it bears.'),
  row(`${role}.affinity`, {}, anyObject, 'Affinity of the pods.'),
  row(
    `${role}.topologySpread`,
    [{ maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
    listOf({ type: 'object', required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'] }),
    'topologySpreadConstraints; the selector of the pods of this role is added where there is none.',
  ),
];

/** The only table of the values: values.yaml, the schema and the README of the chart are made from it. */
export const values: readonly Value[] = [
  row('image.registry', registry, text, 'The registry, such as that of a mirror.'),
  row('image.repository', repository.join('/'), text, 'The image without its registry.'),
  row('image.tag', '', text, 'The version of the chart if empty.'),
  row(
    'image.digest',
    '',
    { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    '`sha256:...`: then the nodes take exactly this image, whatever the tag is.',
  ),
  row(
    'image.pullPolicy',
    'IfNotPresent',
    { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'] },
    'When to pull.',
  ),
  row('image.pullSecrets', [], named, 'Existing Secrets of the registry, as `- name: NAME`.'),

  row(
    'config',
    { cluster: 'my-cluster', namespaces: { include: ['*'] }, channels: { console: {} }, approval: { approvers: [] } },
    anyObject,
    'The configuration, as config.example.yaml shows it. A change is taken up without a restart. A key that the default has is removed with `null`.',
  ),
  row('existingConfigMap', '', text, 'A ConfigMap of yours with the key `config.yaml`; then `config` is not used.'),
  row('chat.existingSecret', 'tapfix-chat', text, 'The Secret with the tokens of the chats. It may come later.'),
  row('chat.keys.telegramBotToken', 'TELEGRAM_BOT_TOKEN', text, "Its key of the Telegram bot's token."),
  row('chat.keys.slackBotToken', 'SLACK_BOT_TOKEN', text, "Its key of Slack's bot token, `xoxb-`."),
  row('chat.keys.slackAppToken', 'SLACK_APP_TOKEN', text, "Its key of Slack's app-level token, `xapp-`."),
  row(
    'approvers',
    [],
    listOf({
      ...only({ namespace: { type: 'string', minLength: 1 }, users: texts, groups: texts }, ['namespace']),
      anyOf: [
        { required: ['users'], properties: { users: { type: 'array', minItems: 1 } } },
        { required: ['groups'], properties: { groups: { type: 'array', minItems: 1 } } },
      ],
    }),
    'Who may decide with kubectl: `- namespace: shop`, with `users` and `groups` of Kubernetes. Binds the ClusterRole tapfix-approver there.',
  ),

  ...rolesRows('watcher'),
  ...rolesRows('controller'),

  row(
    'leaderElection',
    {},
    only({ leaseDuration: text, renewDeadline: text, retryPeriod: text }),
    '`leaseDuration`, `renewDeadline`, `retryPeriod`: put into `config`.',
  ),
  row('proxy.httpsProxy', '', text, 'HTTPS_PROXY of the watcher, for the chats and the heartbeat.'),
  row('proxy.httpProxy', '', text, 'HTTP_PROXY of the watcher.'),
  row(
    'proxy.noProxy',
    '',
    text,
    'NO_PROXY, beside the API server and the names of the cluster, which are always in it.',
  ),

  row('crds.enabled', true, yesOrNo, 'Whether the chart brings the CustomResourceDefinitions.'),
  row('crds.keep', true, yesOrNo, 'They and all records stay when the release is uninstalled.'),
  row(
    'shared.enabled',
    true,
    yesOrNo,
    'The ClusterRoles and policies that all tapfix of a cluster share. A second release, in another namespace, sets this and `crds.enabled` to false: the first one brings them.',
  ),
  row(
    'stamping.enabled',
    true,
    yesOrNo,
    'Writes who decides into a decision by kubectl, on Kubernetes 1.36 or newer. Nothing depends on it.',
  ),
  row('podDisruptionBudget.enabled', true, yesOrNo, 'A budget for each role that has more than one replica.'),
  row(
    'podDisruptionBudget.maxUnavailable',
    1,
    { type: ['integer', 'string'] },
    'How many pods a drain may take at a time.',
  ),

  row('service.enabled', false, yesOrNo, 'A Service for each role, for its port of /metrics.'),
  row('service.port', 8080, port, 'The port of the Services.'),
  row('service.annotations', {}, textByName, 'Annotations of the Services.'),
  row(
    'serviceMonitor.enabled',
    false,
    yesOrNo,
    'A ServiceMonitor of the Prometheus operator, with the Services it needs.',
  ),
  row('serviceMonitor.interval', '30s', text, 'How often it scrapes.'),
  row('serviceMonitor.labels', {}, textByName, 'Labels by which your Prometheus selects it.'),
  row('prometheusRule.enabled', false, yesOrNo, 'The alerts of deploy/monitoring, for the Prometheus operator.'),
  row('prometheusRule.labels', {}, textByName, 'Labels by which your Prometheus selects them.'),
  row('dashboard.enabled', false, yesOrNo, 'The dashboard of deploy/monitoring in a ConfigMap.'),
  row('dashboard.labels', { grafana_dashboard: '1' }, textByName, "Labels by which Grafana's sidecar finds it."),

  row('networkPolicy.enabled', false, yesOrNo, 'A NetworkPolicy for each role.'),
  row(
    'networkPolicy.apiServer.cidrs',
    ['0.0.0.0/0', '::/0'],
    texts,
    'The addresses of the API server. Name yours: with the default the controller reaches those ports of everything. `kubectl get endpointslices -n default` shows them.',
  ),
  row(
    'networkPolicy.apiServer.ports',
    [443, 6443],
    listOf(port),
    'Its ports: the one of the Service, and the one behind it.',
  ),
  row('networkPolicy.dns.ports', [53], listOf(port), 'The ports of DNS, UDP and TCP.'),
  row(
    'networkPolicy.web.cidrs',
    ['0.0.0.0/0', '::/0'],
    texts,
    'What the watcher alone may reach besides: the chats, or your proxy.',
  ),
  row('networkPolicy.web.ports', [443], listOf(port), 'The ports of those.'),
  row(
    'networkPolicy.ingressFrom',
    [],
    anyObjects,
    'Who may read /metrics, as peers of a NetworkPolicy; empty: everybody.',
  ),

  row('extraObjects', [], anyObjects, 'More objects of this release; templates in them are filled in.'),
  row('global', {}, anyObject, 'Values of a chart that has this one as a part. Nothing in them is used.'),
];

type Tree = { [key: string]: Tree | Value };
const isValue = (node: Tree | Value): node is Value => Object.hasOwn(node, 'path') && typeof node['path'] === 'string';

function tree(): Tree {
  const root: Tree = {};
  for (const value of values) {
    const steps = value.path.split('.');
    const last = steps.pop()!;
    let node = root;
    for (const step of steps) node = (node[step] ??= {}) as Tree;
    node[last] = value;
  }
  return root;
}

const isGlobal = ({ path }: Value): boolean => path === 'global';
const firstLine = '# Made by npm run manifests; README.md beside it has the same as a table.\n';

/** values.yaml: each value with its default below a sentence about it. */
export function valuesFile(): string {
  const lines = (node: Tree, indent: string): string[] =>
    Object.entries(node).flatMap(([key, inner]) => {
      if (!isValue(inner)) return [`${indent}${key}:`, ...lines(inner, `${indent}  `)];
      if (isGlobal(inner)) return [];
      const shown = stringify({ [key]: inner.default }, { lineWidth: 0 })
        .trimEnd()
        .split('\n');
      return [`${indent}# ${inner.about}`, ...shown.map((line) => `${indent}${line}`)];
    });
  const groups = Object.entries(tree()).map(([key, node]) => lines({ [key]: node }, '').join('\n'));
  return `${firstLine}${groups.filter(Boolean).join('\n\n')}\n`;
}

/** values.schema.json: a typo cannot hide. */
export function schemaFile(): string {
  const schemaOf = (node: Tree): ValueSchema =>
    only(
      Object.fromEntries(
        Object.entries(node).map(([key, inner]) => [
          key,
          isValue(inner) ? { ...inner.schema, description: inner.about } : schemaOf(inner),
        ]),
      ),
    );
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(tree()) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const cell = (words: string): string => words.replaceAll('|', '\\|');

/** The table of the README. */
export function valuesTable(): string {
  const rows = values.map(
    ({ path, default: value, about }) => `| \`${path}\` | \`${cell(JSON.stringify(value))}\` | ${cell(about)} |`,
  );
  return ['| value | default | what it is |', '| --- | --- | --- |', ...rows].join('\n');
}
