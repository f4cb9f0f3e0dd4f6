import assert from 'node:assert/strict';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { values as table } from '../../scripts/chart/values.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { Manifest } from '../../src/manifests/manifest.ts';
import { byName, chart, helms, rendered, rendering } from './render.ts';

type Rendered = Map<string, Manifest>;

interface Trial {
  value: unknown;
  /** Other values that it takes to see this one. */
  beside?: object;
  /** The part of the release that it is about. */
  part(objects: Rendered): unknown;
  shows: unknown;
}

const watcher = 'Deployment tapfix tapfix-watcher';
const controller = 'Deployment tapfix tapfix-controller';
const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], value);

/** A part of one object, such as `spec.replicas`. */
const of =
  (name: string, path = '') =>
  (objects: Rendered): unknown =>
    path === '' ? objects.get(name) : at(objects.get(name), path);
const has =
  (name: string) =>
  (objects: Rendered): boolean =>
    objects.has(name);
const inPod = (name: string, path: string) => of(name, `spec.template.spec.${path}`);
const inContainer = (name: string, path: string) => inPod(name, `containers.0.${path}`);
const named = (list: unknown, name: string): unknown => (list as { name: string }[]).find((one) => one.name === name);
const variable =
  (name: string, path = watcher) =>
  (objects: Rendered) =>
    at(named(inContainer(path, 'env')(objects), name), 'value');
const last = (part: (objects: Rendered) => unknown) => (objects: Rendered) => (part(objects) as unknown[]).at(-1);
const image = inContainer(watcher, 'image');
const config = (objects: Rendered): object => {
  const parsed = parseConfig(at(objects.get('ConfigMap tapfix tapfix-config'), 'data')!['config.yaml' as never], 'f');
  assert(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
};
const egress = (role: string, index: number, path: string) =>
  of(`NetworkPolicy tapfix tapfix-${role}`, `spec.egress.${index}.${path}`);
const peers = [{ namespaceSelector: { matchLabels: { team: 'observability' } } }];
const cidrs = ['10.0.0.1/32'];
const blocks = [{ ipBlock: { cidr: '10.0.0.1/32' } }];
const tcp = (port: number): object => ({ protocol: 'TCP', port });
const onNetwork = { networkPolicy: { enabled: true } };
const monitored = { serviceMonitor: { enabled: true } };
const spread = { maxSkew: 2, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' };

const trialsOf = (role: 'watcher' | 'controller', name: string): Record<string, Trial> => ({
  [`${role}.replicas`]: { value: 3, part: of(name, 'spec.replicas'), shows: 3 },
  [`${role}.resources`]: {
    value: { limits: { memory: '512Mi' } },
    part: inContainer(name, 'resources.limits.memory'),
    shows: '512Mi',
  },
  [`${role}.extraEnv`]: {
    value: [{ name: 'TZ', value: 'Europe/Berlin' }],
    part: variable('TZ', name),
    shows: 'Europe/Berlin',
  },
  [`${role}.extraVolumes`]: {
    value: [{ name: 'ca', configMap: { name: 'ca' } }],
    part: last(inPod(name, 'volumes')),
    shows: { name: 'ca', configMap: { name: 'ca' } },
  },
  [`${role}.extraVolumeMounts`]: {
    value: [{ name: 'ca', mountPath: '/ca' }],
    part: last(inContainer(name, 'volumeMounts')),
    shows: { name: 'ca', mountPath: '/ca' },
  },
  [`${role}.podLabels`]: {
    value: { team: 'sre', 'app.kubernetes.io/component': 'mine' },
    part: of(name, 'spec.template.metadata.labels'),
    shows: { team: 'sre', 'app.kubernetes.io/name': 'tapfix', 'app.kubernetes.io/component': role },
  },
  [`${role}.podAnnotations`]: {
    value: { a: '1' },
    part: of(name, 'spec.template.metadata.annotations'),
    shows: { a: '1' },
  },
  [`${role}.priorityClassName`]: { value: 'high', part: inPod(name, 'priorityClassName'), shows: 'high' },
  [`${role}.nodeSelector`]: { value: { disk: 'ssd' }, part: inPod(name, 'nodeSelector'), shows: { disk: 'ssd' } },
  [`${role}.tolerations`]: {
    value: [{ operator: 'Exists' }],
    part: inPod(name, 'tolerations'),
    shows: [{ operator: 'Exists' }],
  },
  [`${role}.affinity`]: { value: { nodeAffinity: {} }, part: inPod(name, 'affinity'), shows: { nodeAffinity: {} } },
  [`${role}.topologySpread`]: {
    value: [spread],
    part: inPod(name, 'topologySpreadConstraints.0'),
    shows: {
      ...spread,
      labelSelector: { matchLabels: { 'app.kubernetes.io/name': 'tapfix', 'app.kubernetes.io/component': role } },
    },
  },
});

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** Of every value one that is not its default, and what it changes. */
const trials: Record<string, Trial> = {
  'image.registry': { value: 'mirror.example.com', part: image, shows: 'mirror.example.com/tapfix/tapfix:0.1.0' },
  'image.repository': { value: 'team/tapfix', part: image, shows: 'ghcr.io/team/tapfix:0.1.0' },
  'image.tag': { value: '9', part: image, shows: 'ghcr.io/tapfix/tapfix:9' },
  'image.digest': { value: digest, part: image, shows: `ghcr.io/tapfix/tapfix:0.1.0@${digest}` },
  'image.pullPolicy': { value: 'Always', part: inContainer(controller, 'imagePullPolicy'), shows: 'Always' },
  'image.pullSecrets': {
    value: [{ name: 'registry' }],
    part: inPod(controller, 'imagePullSecrets'),
    shows: [{ name: 'registry' }],
  },
  // A number of this size is written as -1.00123456789e+12 where a template is careless.
  config: {
    value: { channels: { console: null, telegram: { chat: -1001987654321 } } },
    part: (objects) => at(config(objects), 'channels'),
    shows: { telegram: { chat: '-1001987654321', routes: [], apiRoot: 'https://api.telegram.org' } },
  },
  existingConfigMap: { value: 'mine', part: inPod(controller, 'volumes.0.configMap.name'), shows: 'mine' },
  'chat.existingSecret': { value: 'mine', part: inPod(watcher, 'volumes.1.secret.secretName'), shows: 'mine' },
  'chat.keys.telegramBotToken': {
    value: 'telegram',
    part: variable('TELEGRAM_BOT_TOKEN_FILE'),
    shows: '/etc/tapfix-chat/telegram',
  },
  'chat.keys.slackBotToken': { value: 'bot', part: variable('SLACK_BOT_TOKEN_FILE'), shows: '/etc/tapfix-chat/bot' },
  'chat.keys.slackAppToken': { value: 'app', part: variable('SLACK_APP_TOKEN_FILE'), shows: '/etc/tapfix-chat/app' },
  approvers: {
    value: [{ namespace: 'shop', users: ['ada@example.com'], groups: ['sre'] }],
    part: of('RoleBinding shop tapfix-approver'),
    shows: {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'tapfix-approver', namespace: 'shop' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'tapfix-approver' },
      subjects: [
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ada@example.com' },
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'sre' },
      ],
    },
  },
  ...trialsOf('watcher', watcher),
  ...trialsOf('controller', controller),
  leaderElection: {
    value: { leaseDuration: '10s' },
    part: (objects) => at(config(objects), 'leaderElection.leaseDuration'),
    shows: 10_000,
  },
  'proxy.httpsProxy': { value: 'http://proxy:3128', part: variable('HTTPS_PROXY'), shows: 'http://proxy:3128' },
  'proxy.httpProxy': { value: 'http://proxy:3128', part: variable('HTTP_PROXY'), shows: 'http://proxy:3128' },
  'proxy.noProxy': {
    value: '.example.com',
    beside: { proxy: { httpsProxy: 'http://proxy:3128' } },
    part: variable('NO_PROXY'),
    shows: '$(KUBERNETES_SERVICE_HOST),localhost,127.0.0.1,.svc,.cluster.local,.example.com',
  },
  'crds.enabled': { value: false, part: has('CustomResourceDefinition remediations.tapfix.dev'), shows: false },
  'crds.keep': {
    value: false,
    part: of('CustomResourceDefinition notices.tapfix.dev', 'metadata'),
    shows: { name: 'notices.tapfix.dev' },
  },
  'shared.enabled': { value: false, part: has('ClusterRole tapfix-reader'), shows: false },
  'stamping.enabled': { value: false, part: has('MutatingAdmissionPolicy tapfix-stamp'), shows: false },
  'podDisruptionBudget.enabled': { value: false, part: has('PodDisruptionBudget tapfix tapfix-watcher'), shows: false },
  'podDisruptionBudget.maxUnavailable': {
    value: '50%',
    part: of('PodDisruptionBudget tapfix tapfix-watcher', 'spec.maxUnavailable'),
    shows: '50%',
  },
  'service.enabled': { value: true, part: has('Service tapfix tapfix-controller'), shows: true },
  'service.port': {
    value: 80,
    beside: monitored,
    part: of('Service tapfix tapfix-watcher', 'spec.ports'),
    shows: [{ name: 'http', port: 80, targetPort: 'http' }],
  },
  'service.annotations': {
    value: { a: '1' },
    beside: monitored,
    part: of('Service tapfix tapfix-watcher', 'metadata.annotations'),
    shows: { a: '1' },
  },
  'serviceMonitor.enabled': { value: true, part: has('ServiceMonitor tapfix tapfix'), shows: true },
  'serviceMonitor.interval': {
    value: '15s',
    beside: monitored,
    part: of('ServiceMonitor tapfix tapfix', 'spec.endpoints'),
    shows: [{ port: 'http', path: '/metrics', interval: '15s' }],
  },
  'serviceMonitor.labels': {
    value: { release: 'prometheus' },
    beside: monitored,
    part: of('ServiceMonitor tapfix tapfix', 'metadata.labels.release'),
    shows: 'prometheus',
  },
  'prometheusRule.enabled': {
    value: true,
    part: of('PrometheusRule tapfix tapfix', 'spec.groups.0.rules.0.alert'),
    shows: 'TapfixAbsent',
  },
  'prometheusRule.labels': {
    value: { release: 'prometheus' },
    beside: { prometheusRule: { enabled: true } },
    part: of('PrometheusRule tapfix tapfix', 'metadata.labels.release'),
    shows: 'prometheus',
  },
  'dashboard.enabled': {
    value: true,
    part: (objects) => {
      const map = objects.get('ConfigMap tapfix tapfix-dashboard') as { data?: Record<string, string> } | undefined;
      return map && at(JSON.parse(map.data!['tapfix.json']!), 'title');
    },
    shows: 'tapfix',
  },
  'dashboard.labels': {
    value: { mine: '1' },
    beside: { dashboard: { enabled: true } },
    part: of('ConfigMap tapfix tapfix-dashboard', 'metadata.labels.mine'),
    shows: '1',
  },
  'networkPolicy.enabled': {
    value: true,
    // The API server and DNS, and nothing else.
    part: (objects) => (of('NetworkPolicy tapfix tapfix-controller', 'spec.egress')(objects) as unknown[])?.length,
    shows: 2,
  },
  'networkPolicy.apiServer.cidrs': {
    value: cidrs,
    beside: onNetwork,
    part: egress('controller', 1, 'to'),
    shows: blocks,
  },
  'networkPolicy.apiServer.ports': {
    value: [16443],
    beside: onNetwork,
    part: egress('controller', 1, 'ports'),
    shows: [tcp(16443)],
  },
  'networkPolicy.dns.ports': {
    value: [5353],
    beside: onNetwork,
    part: egress('watcher', 0, 'ports'),
    shows: [{ protocol: 'UDP', port: 5353 }, tcp(5353)],
  },
  'networkPolicy.web.cidrs': { value: cidrs, beside: onNetwork, part: egress('watcher', 2, 'to'), shows: blocks },
  'networkPolicy.web.ports': {
    value: [3128],
    beside: onNetwork,
    part: egress('watcher', 2, 'ports'),
    shows: [tcp(3128)],
  },
  'networkPolicy.ingressFrom': {
    value: peers,
    beside: onNetwork,
    part: of('NetworkPolicy tapfix tapfix-watcher', 'spec.ingress'),
    shows: [{ ports: [tcp(8080)], from: peers }],
  },
  extraObjects: {
    value: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'more', namespace: '{{ .Release.Namespace }}' } }],
    part: has('ConfigMap tapfix more'),
    shows: true,
  },
};

const nested = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, step) => ({ [step]: inner }), value) as object;

function merged(one: object, other: object): object {
  const isGroup = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const result: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other))
    result[key] = isGroup(value) && isGroup(result[key]) ? merged(result[key], value) : value;
  return result;
}

describe('the values of the chart', { concurrency: 2 }, () => {
  test('each is tried below', () => {
    const paths = table.map(({ path }) => path).filter((path) => path !== 'global');
    assert.deepEqual(Object.keys(trials).sort(), paths.sort());
  });

  for (const [path, { value, beside = {}, part, shows }] of Object.entries(trials))
    test(`${path} is used`, async () => {
      const [before, after] = [beside, merged(beside, nested(path, value))].map((values) => rendered({ values }));
      const partBefore: unknown = part(byName(await before!));
      assert.deepEqual(part(byName(await after!)), shows);
      assert.notDeepEqual(partBefore, shows);
    });

  test('with everything set, Helm 3 and Helm 4 make the same', async () => {
    const everything = Object.entries(trials)
      .filter(([, { shows, value }]) => !(shows === false && value === false))
      .map(([path, { value }]) => nested(path, value))
      .reduce(merged, {});
    const [three, four] = await Promise.all(helms.map(({ helm }) => rendered({ helm, values: everything })));
    assert.deepEqual(byName(three!), byName(four!));
    assert(three!.length > 60);
  });

  test('the controller has neither the tokens of the chats nor the proxy', async () => {
    const objects = byName(await rendered({ values: { proxy: { httpsProxy: 'http://proxy:3128' } } }));
    assert.doesNotMatch(JSON.stringify(objects.get(controller)), /PROXY|TOKEN|tapfix-chat/);
  });

  test('one replica has no budget: it would keep a node from being drained', async () => {
    const objects = byName(await rendered({ values: { watcher: { replicas: 1 } } }));
    assert(!objects.has('PodDisruptionBudget tapfix tapfix-watcher'));
    assert(objects.has('PodDisruptionBudget tapfix tapfix-controller'));
  });

  test('with a ConfigMap of yours the chart brings none', async () =>
    assert(!byName(await rendered({ values: { existingConfigMap: 'mine' } })).has('ConfigMap tapfix tapfix-config')));
});

const refused = [
  { name: 'an unknown key', values: { wacher: {} }, say: /wacher/ },
  { name: 'an unknown key inside a group', values: { watcher: { replicaCount: 3 } }, say: /replicaCount/ },
  { name: 'an unknown key of an approver', values: { approvers: [{ namespace: 'a', user: 'ada' }] }, say: /approvers/ },
  { name: 'an approver who is nobody', values: { approvers: [{ namespace: 'a' }] }, say: /approvers/ },
  { name: 'a number as text', values: { watcher: { replicas: '3' } }, say: /replicas/ },
  { name: 'fewer replicas than none', values: { controller: { replicas: -1 } }, say: /replicas/ },
  { name: 'a label that is no text', values: { watcher: { podLabels: { a: 1 } } }, say: /podLabels/ },
  { name: 'a list where there is a group', values: { config: [] }, say: /config/ },
  { name: 'a port that is none', values: { service: { port: 70000 } }, say: /port/ },
  { name: 'a digest that is none', values: { image: { digest: 'latest' } }, say: /digest/ },
  { name: 'a policy of pulling that there is not', values: { image: { pullPolicy: 'Sometimes' } }, say: /pullPolicy/ },
  { name: 'a token as a value', values: { chat: { telegramBotToken: '123:abc' } }, say: /telegramBotToken/ },
];

describe('the schema of the values', { concurrency: 2 }, () => {
  for (const { name: major, helm } of helms) {
    for (const { name, values, say } of refused)
      test(`${major} refuses ${name}`, async () => {
        const { code, stderr } = await rendering({ helm, values });
        assert.notEqual(code, 0);
        assert.match(stderr, /values don't meet the specifications of the schema/);
        assert.match(stderr, say);
      });

    test(`${major} accepts global values`, async () => {
      const { code, stderr } = await rendering({ helm, values: { global: { imageRegistry: 'x', any: [1] } } });
      assert.equal(code, 0, stderr);
    });
  }

  test('the notes name three commands, for this release', async () => {
    // `helm template` leaves the notes out, so a copy of the chart has them as a file.
    const copy = join(await mkdtemp(join(tmpdir(), 'tapfix-chart-')), 'tapfix');
    await cp(chart, copy, { recursive: true });
    await rename(join(copy, 'templates/NOTES.txt'), join(copy, 'files/NOTES.txt'));
    const text = '{{ tpl (.Files.Get "files/NOTES.txt") . | b64enc }}';
    const values = { extraObjects: [{ kind: 'Notes', metadata: { name: 'notes' }, text }] };
    const object = byName(await rendered({ values, namespace: 'ops', chart: copy })).get('Notes notes');
    const notes = Buffer.from(object!['text'] as string, 'base64').toString();
    await rm(join(copy, '..'), { recursive: true });
    assert.deepEqual(notes.match(/^ {3}kubectl .*$/gm), [
      '   kubectl -n ops rollout status deployment/tapfix-watcher',
      '   kubectl -n ops create secret generic tapfix-chat --from-literal=TELEGRAM_BOT_TOKEN="$TELEGRAM_BOT_TOKEN"',
      '   kubectl get fix -A',
    ]);
    assert.doesNotMatch(notes, /WARNING/);
  });
});
