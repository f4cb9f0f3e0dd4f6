import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, type FaultProxy, joinCluster, type WriteSeen } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import {
  applyIn,
  available,
  breakByQuota,
  breakByRollout,
  deployment,
  fixInPhase,
  onlyFix,
} from './support/incidents.ts';
import { mintedBindings } from './support/scene.ts';
import { installResources, type Running, startProcess } from './support/tapfix.ts';

/**
 * The controller is killed (SIGKILL) before and after every write between approval and Applied, and started again:
 * the fix happens exactly once each time. The boundaries are recorded from a clean run, so a new write gets its cases.
 */
let cluster: Cluster;
let chat: Chat;
let proxy: FaultProxy;
let watcher: Running;
let controller: Running;
let viaProxy: string;
let asWatcher: string;

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  proxy = await cluster.faultProxy();
  await installResources(cluster);
  viaProxy = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-controller', { server: proxy.url });
  asWatcher = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-watcher');
  watcher = await startProcess({
    role: 'watcher',
    kubeconfig: asWatcher,
    config: { apiRoot: chat.apiRoot, include: ['e2e-kill-*'] },
  });
  controller = await startController();
});
after(async () => {
  await watcher.kill();
  await controller.kill();
  await proxy.close();
  await chat.close();
});

const startController = (): Promise<Running> =>
  startProcess({
    role: 'controller',
    kubeconfig: viaProxy,
    config: { apiRoot: chat.apiRoot, include: ['e2e-kill-*'] },
  });

interface Scene {
  name: string;
  prepare(namespace: string): Promise<void>;
  break(namespace: string): Promise<void>;
  /** The one write that must happen exactly once. */
  theWrite: { verb: string; resource: string };
}

const scenes: Scene[] = [
  {
    name: 'quota',
    prepare: async () => {},
    break: (namespace) => breakByQuota(cluster, namespace, ['api']),
    theWrite: { verb: 'delete', resource: 'resourcequotas' },
  },
  {
    name: 'undo',
    prepare: async (namespace) => {
      await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
      await available(cluster, namespace, 'checkout');
    },
    break: (namespace) => breakByRollout(cluster, namespace),
    theWrite: { verb: 'patch', resource: 'deployments' },
  },
];

const isProposed = ({ status }: Remediation): boolean =>
  ['Rehearsed', 'Confirmed'].every((type) => status?.conditions?.some((c) => c.type === type && c.status === 'True'));

/** As many namespaces as asked for, each with the incident proposed, rehearsed and confirmed. */
async function proposed(scene: Scene, count: number): Promise<string[]> {
  const namespaces = await Promise.all(
    Array.from({ length: count }, () => cluster.freshNamespace(`e2e-kill-${scene.name}`)),
  );
  await Promise.all(namespaces.map((namespace) => scene.prepare(namespace)));
  await sleep(8_000); // the good revision must have been seen healthy for stableFor
  await Promise.all(namespaces.map((namespace) => scene.break(namespace)));
  for (const namespace of namespaces)
    await cluster.waitFor(
      `${namespace} to be proposed`,
      async () => {
        const fix = await onlyFix(cluster, namespace);
        return fix && isProposed(fix) ? fix : undefined;
      },
      120_000,
    );
  return namespaces;
}

/** As the watcher records a tap in chat. */
async function approve(namespace: string): Promise<void> {
  const fix = (await onlyFix(cluster, namespace))!;
  const approval = { state: 'Approved', by: 'telegram:111', via: 'telegram', at: new Date().toISOString() };
  const patch = JSON.stringify({ spec: { approval } });
  await cluster.kubectl(['-n', namespace, 'patch', 'fix', fix.metadata.name, '--type', 'merge', '-p', patch], {
    kubeconfig: asWatcher,
  });
}

/** A write of this execution, with everything that differs from run to run taken out. */
function signature({ method, path, dryRun }: WriteSeen, namespace: string): string | undefined {
  const isOurs = path.includes(`/namespaces/${namespace}/`) || path.endsWith('/serviceaccounts/tapfix-writer/token');
  if (!isOurs || dryRun) return undefined;
  const generic = path
    .replace(namespace, 'NS')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
    .replace(/\/(remediations|replicasets|events)\/[^/]+/, '/$1/NAME');
  return `${method} ${generic}`;
}

async function cleanRun(scene: Scene): Promise<string[]> {
  const [namespace] = (await proposed(scene, 1)) as [string];
  const from = proxy.writes.length;
  await approve(namespace);
  await cluster.waitFor(
    'Applied',
    async () => ['Applied', 'Recovered'].includes((await onlyFix(cluster, namespace))?.status?.phase ?? ''),
    60_000,
  );
  const boundaries = proxy.writes.slice(from).flatMap((write) => signature(write, namespace) ?? []);
  await fixInPhase(cluster, namespace, 'Recovered', 90_000);
  return boundaries;
}

const occurrence = (list: readonly string[], index: number): number =>
  list.slice(0, index + 1).filter((other) => other === list[index]).length;

/** Repeated until the pods appear: how often is not the same in every run. */
const isNudge = (boundary: string): boolean => boundary.includes('/replicasets/');

interface Kill {
  boundary: string;
  nth: number;
  when: 'before' | 'after';
}

async function killAt(namespace: string, { boundary, nth, when }: Kill): Promise<void> {
  let seen = 0;
  const match = (write: WriteSeen): boolean => signature(write, namespace) === boundary && ++seen === nth;
  const held = when === 'before' ? proxy.holdBefore(match) : proxy.holdAfter(match);
  await approve(namespace);
  const stuck = await Promise.race([held, sleep(30_000).then(() => undefined)]);
  assert.ok(stuck, `the write never came\n${controller.log().slice(-2000)}`);
  await controller.kill();
  stuck.drop();
  controller = await startController();
}

async function executions(namespace: string, { verb, resource }: Scene['theWrite']): Promise<string[]> {
  const real = (await cluster.audit()).filter(
    (event) =>
      event.namespace === namespace &&
      event.verb === verb &&
      event.resource === resource &&
      !event.dryRun &&
      event.code < 300 &&
      event.user.includes(':tapfix:'),
  );
  return real.map(({ user }) => user.split(':').pop()!);
}

for (const scene of scenes)
  test(`${scene.name}: killed before and after every write from approval to Applied, exactly one execution`, async (t) => {
    const boundaries = await cleanRun(scene);
    assert.ok(boundaries.length >= 6, boundaries.join('\n'));
    console.log(boundaries.map((line) => `    ${line}`).join('\n'));
    const kills = boundaries
      .map((boundary, index) => ({ boundary, nth: occurrence(boundaries, index) }))
      .filter(({ boundary, nth }) => nth === 1 || !isNudge(boundary))
      .flatMap((kill): Kill[] => (['before', 'after'] as const).map((when) => ({ ...kill, when })));
    const namespaces = await proposed(scene, kills.length);
    for (const [index, kill] of kills.entries()) {
      const namespace = namespaces[index]!;
      await t.test(`${kill.when} ${kill.boundary}${kill.nth > 1 ? ` (${kill.nth})` : ''}`, async () => {
        await killAt(namespace, kill);
        await fixInPhase(cluster, namespace, 'Recovered', 120_000);
        assert.deepEqual(await executions(namespace, scene.theWrite), ['tapfix-writer']);
        await cluster.waitFor(
          'no right to be left',
          async () => (await mintedBindings(cluster, namespace)).length === 0,
          90_000,
        );
      });
    }
  });
