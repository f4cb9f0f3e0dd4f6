import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { configIn } from '../../src/config/load.ts';
import { hashOf } from '../../src/lib/hash.ts';
import { createApi } from '../../src/kube/client.ts';
import { loadKubeConfig } from '../../src/kube/kubeconfig.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { breakByQuota, fixInPhase, onlyFix } from './support/incidents.ts';
import { configText, installTapfix, removeDeployments, rolledOut } from './support/tapfix.ts';

/** A running pod of deploy/manifests, a real kubelet, and a ConfigMap that is edited under it. */
let cluster: Cluster;
const config = { apiRoot: 'http://127.0.0.1:9', include: ['e2e-reload-*'] };

before(async () => {
  cluster = await joinCluster();
  await installTapfix(cluster, config);
});
after(() => removeDeployments(cluster));

interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string; labels: Record<string, string> };
  status: { podIP?: string; containerStatuses?: { restartCount: number }[] };
}

async function podOf(role: 'watcher' | 'controller'): Promise<Pod> {
  const pods = await cluster.list<Pod>('pods', 'tapfix');
  const pod = pods.find(
    ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === role && !metadata.deletionTimestamp,
  );
  assert.ok(pod, `no pod of the ${role}`);
  return pod;
}

const page = async ({ status }: Pod, path: string): Promise<string> =>
  (await fetch(`http://${status.podIP}:8080${path}`, { signal: AbortSignal.timeout(10_000) })).text();

const hashIn = async (pod: Pod): Promise<string | undefined> =>
  /tapfix_config_info\{hash="(\w+)"\} 1/.exec(await page(pod, '/metrics').catch(() => ''))?.[1];

interface Readyz {
  checks: Record<string, { ok: boolean; detail: string }>;
}
const configCheck = async (pod: Pod) => (JSON.parse(await page(pod, '/readyz')) as Readyz).checks['config']!;

let edits = 0;
/** The kubelet looks at its pods once a minute, or when one of them was changed: so that nobody waits for a minute. */
async function edit(text: string): Promise<void> {
  const data = JSON.stringify({ data: { 'config.yaml': text } });
  await cluster.kubectl(['-n', 'tapfix', 'patch', 'configmap', 'tapfix-config', '--type', 'merge', '-p', data]);
  await nudge();
}
async function nudge(): Promise<void> {
  edits += 1;
  await cluster.kubectl(['-n', 'tapfix', 'annotate', 'pods', '--all', '--overwrite', `e2e/edit=${edits}`]);
}

/** Nudged again now and then: the kubelet's own view of the ConfigMap may have been a moment old. */
function arrives(what: string, isThere: () => Promise<boolean>): Promise<unknown> {
  let looks = 0;
  const probe = async (): Promise<boolean> => {
    if (++looks % 20 === 0) await nudge();
    return isThere();
  };
  return cluster.waitFor(what, probe, 150_000);
}

const textOf = (n: number): string => configText({ ...config, stableFor: `${n}s` });
const hashOfText = (text: string): string => hashOf(configIn(text, 'config.yaml'), 12);

/** As somebody who took over the watcher would write: its token, and no chat. */
async function asWatcher() {
  const KUBECONFIG = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-watcher');
  return createApi({ kubeConfig: loadKubeConfig({ env: { KUBECONFIG, HOME: cluster.dir } }) });
}

const conditionOf = ({ status }: Remediation, type: string) => status?.conditions?.find((c) => c.type === type);
/** The record that the first test ages, and when. */
let aged: { namespace: string; name: string; atMs: number };

test('a chat user whom the controller’s own configuration does not list is waited for; once listed the fix is applied', async () => {
  const namespace = await cluster.freshNamespace('e2e-reload-listed');
  await breakByQuota(cluster, namespace);
  const { metadata } = await cluster.waitFor(
    'its proposal to be confirmed',
    async () => {
      const fix = await onlyFix(cluster, namespace);
      return fix && conditionOf(fix, 'Confirmed')?.status === 'True' && fix.status?.preview ? fix : undefined;
    },
    90_000,
  );
  const { name } = metadata;
  const api = await asWatcher();
  const ref = { kind: 'Remediation', namespace, name } as const;
  const approval = { state: 'Approved', by: 'telegram:222', via: 'telegram', at: new Date().toISOString() };
  await api.patch(ref, 'merge', { spec: { approval } });
  await fixInPhase(cluster, namespace, 'Approved', 30_000);
  await sleep(8_000); // longer than its class's patience
  assert.equal((await onlyFix(cluster, namespace))?.status?.phase, 'Approved');
  assert.ok(await cluster.get('resourcequotas', namespace, 'platform-hardening'), 'nothing was deleted');
  const listed = configText(config).replace('approvers: [', 'approvers: [{name: Ben, telegram: 222}, ');
  await edit(listed);
  await arrives(
    'the edit in the controller',
    async () => (await hashIn(await podOf('controller'))) === hashOfText(listed),
  );
  await fixInPhase(cluster, namespace, 'Recovered', 90_000);

  const cleared = await cluster.waitFor(
    'the controller to see that it is over',
    async () => {
      const fix = await onlyFix(cluster, namespace);
      return fix && conditionOf(fix, 'SeenCleared') ? fix : undefined;
    },
    60_000,
  );
  const old = { ...conditionOf(cleared, 'IncidentCleared')!, lastTransitionTime: '2020-01-01T00:00:00Z' };
  const conditions = cleared.status!.conditions!.map((c) => (c.type === old.type ? old : c));
  const { resourceVersion } = cleared.metadata;
  await api.patch({ ...ref, subresource: 'status' }, 'merge', {
    metadata: { resourceVersion },
    status: { conditions },
  });
  aged = { namespace, name, atMs: Date.now() };
  const forged = conditions.map((c) =>
    c.type === 'SeenCleared' ? { ...c, lastTransitionTime: old.lastTransitionTime } : c,
  );
  await assert.rejects(
    api.patch({ ...ref, subresource: 'status' }, 'merge', { status: { conditions: forged } }),
    /control/,
  );
  await api.close();
});

test('twenty edits of the ConfigMap: each becomes active in the running pods, none is missed', async () => {
  const [watcher, controller] = [await podOf('watcher'), await podOf('controller')];
  for (let n = 10; n < 30; n++) {
    await edit(textOf(n));
    await arrives(`edit ${n}`, async () => (await hashIn(watcher)) === hashOfText(textOf(n)));
  }
  await arrives('the last edit in the other half', async () => (await hashIn(controller)) === hashOfText(textOf(29)));
  assert.deepEqual(await configCheck(watcher), {
    ok: true,
    detail: `in force: ${hashOfText(textOf(29))}`,
    required: false,
  });
  assert.match(await page(watcher, '/metrics'), /tapfix_config_reloads_total\{result="taken"\} 21\n/);
  const now = await podOf('watcher');
  assert.deepEqual([now.metadata.uid, now.status.containerStatuses?.[0]?.restartCount], [watcher.metadata.uid, 0]);
});

test('a mistake: the old one stays in force, and it is said which', async () => {
  const watcher = await podOf('watcher');
  await edit(textOf(30).replace('coalesce: 2s', 'coalesce: 2h'));
  await arrives('the refusal', async () => !(await configCheck(watcher)).ok);
  const { detail } = await configCheck(watcher);
  assert.match(
    detail,
    /^in force: \w{12}; the change in the file is refused: notices\.coalesce must be between 0s and 60s, not 2h \(line \d+\)$/,
  );
  assert.equal(await hashIn(watcher), hashOfText(textOf(29)));
  await edit(textOf(31));
  await arrives('the next edit', async () => (await hashIn(watcher)) === hashOfText(textOf(31)));
  assert.equal((await configCheck(watcher)).ok, true);
});

test('mounted by subPath it never changes: that is said, and nothing is claimed', async () => {
  const mount = { name: 'config', mountPath: '/etc/tapfix/config.yaml', subPath: 'config.yaml', readOnly: true };
  const patch = [{ op: 'replace', path: '/spec/template/spec/containers/0/volumeMounts/0', value: mount }];
  await cluster.kubectl([
    '-n',
    'tapfix',
    'patch',
    'deploy',
    'tapfix-watcher',
    '--type',
    'json',
    '-p',
    JSON.stringify(patch),
  ]);
  await rolledOut(cluster);
  const [watcher, controller] = [await podOf('watcher'), await podOf('controller')];
  const frozen =
    '/etc/tapfix/config.yaml is mounted by subPath, so it never changes while this pod lives: mount the volume as the directory /etc/tapfix, without subPath';
  const log = (): Promise<string> => cluster.kubectl(['-n', 'tapfix', 'logs', watcher.metadata.name]);
  assert.ok((await log()).includes(`"reason":"${frozen}","msg":"the configuration cannot be reloaded"`), await log());
  assert.match(await page(watcher, '/metrics'), /tapfix_config_trouble\{what="frozen"\} 1\n/);
  await edit(textOf(32));
  await arrives('the edit in the other half', async () => (await hashIn(controller)) === hashOfText(textOf(32)));
  const hash = hashOfText(textOf(31));
  assert.deepEqual(await configCheck(watcher), { ok: false, detail: `in force: ${hash}; ${frozen}`, required: false });
  assert.equal(await hashIn(watcher), hash);
  assert.doesNotMatch(await page(watcher, '/metrics'), /tapfix_config_reloads_total\{/);
  assert.doesNotMatch(await log(), /configuration changed/);
});

test('a transition time of 2020, written by the watcher, has not made the controller delete the record', async () => {
  const sweepMs = 60_000;
  await sleep(Math.max(aged.atMs + sweepMs + 15_000 - Date.now(), 0));
  const fix = await onlyFix(cluster, aged.namespace);
  assert.equal(fix?.metadata.name, aged.name);
  assert.equal(conditionOf(fix, 'IncidentCleared')?.lastTransitionTime, '2020-01-01T00:00:00Z');
});
