import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import type { Remediation } from '../../src/kube/remediation.ts';
import { bothHelms } from '../chart/tools.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { exec, type Outcome, outcomeOf } from '../cluster/exec.ts';
import { type Chat, startChat } from './support/chat.ts';
import { breakByQuota, fixInPhase, onlyFix } from './support/incidents.ts';
import { createScene, type Scene } from './support/scene.ts';
import { configText, createTokens, importTapfix, policiesBite, rolledOut } from './support/tapfix.ts';

/**
 * The life of a release: installed and upgraded by Helm 3, uninstalled, installed again by Helm 4, which takes over what
 * was left. One incident lasts all the while, and nobody may hear of it twice.
 */
const chart = join(import.meta.dirname, '../../deploy/helm/tapfix');

let cluster: Cluster;
let chat: Chat;
let scene: Scene;
let helms: Record<'helm3' | 'helm4', string>;
let shop: string;

before(async () => {
  cluster = await joinCluster();
  helms = await bothHelms(console.log, new AbortController().signal);
  chat = await startChat(cluster.nodeAddress);
  scene = createScene(cluster, chat);
  await importTapfix(cluster);
  await cluster.kubectl(['create', 'namespace', 'tapfix']);
  await createTokens(cluster);
  shop = await cluster.freshNamespace('e2e-helm');
});
after(() => chat.close());

/** Its own directories: nothing of the machine's Helm is read or written. */
const environment = () => ({
  ...process.env,
  KUBECONFIG: cluster.kubeconfig,
  HELM_CACHE_HOME: join(cluster.dir, 'helm/cache'),
  HELM_CONFIG_HOME: join(cluster.dir, 'helm/config'),
  HELM_DATA_HOME: join(cluster.dir, 'helm/data'),
});

function valuesOf(more: object): string {
  const config = parse(configText({ apiRoot: chat.apiRoot })) as { channels: object };
  const channels = { ...config.channels, console: null };
  const role = { replicas: 1 };
  return JSON.stringify({ config: { ...config, channels }, watcher: role, controller: role, ...more });
}

/** Everything else that the chart can bring and this cluster knows; its network does not enforce NetworkPolicies. */
const everythingElse = (mark: string): object => ({
  watcher: { replicas: 1, podAnnotations: { 'example.com/upgraded': mark } },
  controller: { replicas: 2, podAnnotations: { 'example.com/upgraded': mark } },
  networkPolicy: { enabled: true },
  service: { enabled: true },
  dashboard: { enabled: true },
  approvers: [{ namespace: shop, users: ['ada@example.com'], groups: ['sre'] }],
});

const helm = (major: keyof typeof helms, words: readonly string[], more: object = {}): Promise<string> =>
  exec(helms[major], words, { env: environment(), input: valuesOf(more) });
const refusedHelm = (major: keyof typeof helms, words: readonly string[]): Promise<Outcome> =>
  outcomeOf(helms[major], words, { env: environment(), input: valuesOf({}) });

const release = ['tapfix', chart, '-n', 'tapfix', '--values', '-', '--wait', '--timeout', '2m'];
/** Messages about the incident, and replies to one. */
const posted = (): number =>
  chat.calls.filter(
    ({ method, body }) =>
      method === 'sendMessage' && (JSON.stringify(body).includes(shop) || 'reply_parameters' in body),
  ).length;

/** The kinds by which a release could refuse somebody's request. */
const guards = [
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
];

async function left(kinds: readonly string[]): Promise<string[]> {
  const names = await Promise.all(kinds.map((kind) => cluster.kubectl(['get', kind, '-A', '-o', 'name'])));
  return names.flatMap((text) => text.split('\n')).filter((name) => name.includes('tapfix'));
}

const rest = ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings', 'networkpolicies', 'services'];

const crds = async (): Promise<string[]> => (await left(['customresourcedefinitions'])).sort();
const bothCrds = ['notices', 'remediations'].map(
  (name) => `customresourcedefinition.apiextensions.k8s.io/${name}.tapfix.dev`,
);

/** The incident is as it was, and the chat has heard nothing more, also not a moment after tapfix is Ready. */
async function nothingIsRepeated(record: Remediation): Promise<void> {
  await rolledOut(cluster);
  await sleep(15_000);
  const fix = await onlyFix(cluster, shop);
  assert.equal(fix?.metadata.uid, record.metadata.uid);
  assert.equal(fix?.status?.phase, 'Proposed');
  assert.equal(posted(), 1, 'nothing was posted again');
}

describe('a release of the chart', () => {
  let record: Remediation;

  test('Helm 3 installs it, its policies are enforced, and it notices and proposes', async () => {
    await helm('helm3', ['install', ...release]);
    await cluster.waitFor('the admission policies to be enforced', () => policiesBite(cluster), 30_000);
    await breakByQuota(cluster, shop);
    await scene.withButton(shop, /Delete quota/);
    record = await fixInPhase(cluster, shop, 'Proposed', 30_000);
    assert.equal(posted(), 1);
  });

  test('a second release with the same names is refused, and the first one is named', async () => {
    for (const [major, namespace] of [
      ['helm3', 'tapfix'],
      ['helm4', 'tapfix'],
      ['helm3', 'ops'],
      ['helm4', 'ops'],
    ] as const) {
      const words = ['install', 'another', chart, '-n', namespace, '--create-namespace', '--values', '-'];
      const { code, stderr } = await refusedHelm(major, words);
      assert.notEqual(code, 0);
      assert.match(stderr, /release-name" must equal "another": current value is "tapfix"/, `${major} ${namespace}`);
    }
  });

  test('an upgrade with other values loses no record and repeats no message', async () => {
    await helm('helm3', ['upgrade', ...release], everythingElse('yes'));
    await nothingIsRepeated(record);
    const pods = await cluster.list<{ metadata: { annotations?: Record<string, string> } }>('pods', 'tapfix');
    assert(pods.every(({ metadata }) => metadata.annotations?.['example.com/upgraded'] === 'yes'));
    assert.equal((await left(['networkpolicies', 'services', 'poddisruptionbudgets'])).length, 5);
  });

  test('uninstalled, it refuses nobody’s requests, and the records are still there', async () => {
    await helm('helm3', ['uninstall', 'tapfix', '-n', 'tapfix', '--wait']);
    assert.deepEqual(await left([...guards, ...rest]), []);
    assert.deepEqual(await crds(), bothCrds);
    assert.equal((await onlyFix(cluster, shop))?.metadata.uid, record.metadata.uid);
    // What only the policies refused is accepted: nothing else stands in anybody's way.
    await cluster.waitFor('the canary to be accepted', async () => !(await policiesBite(cluster)), 30_000);
  });

  test('Helm 4 installs it again: the records are taken over, and nothing is posted again', async () => {
    await helm('helm4', ['install', ...release]);
    await nothingIsRepeated(record);
    await helm('helm4', ['upgrade', ...release], everythingElse('again'));
    await nothingIsRepeated(record);
  });

  test('a press of the button that was there all the while is carried out', async () => {
    await chat.press(await scene.withButton(shop, /Delete quota/), /Delete quota/);
    await chat.press(await scene.withButton(shop, /^Yes, delete/), /^Yes, delete/);
    await fixInPhase(cluster, shop, 'Recovered', 60_000);
    assert.equal(posted(), 1);
  });

  test('Helm 4 uninstalls it, and again nothing that could refuse is left', async () => {
    await helm('helm4', ['uninstall', 'tapfix', '-n', 'tapfix', '--wait']);
    assert.deepEqual(await left([...guards, ...rest]), []);
    assert.deepEqual(await crds(), bothCrds);
  });
});
