import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { type Cluster, type FaultProxy, joinCluster, type WriteSeen } from '../../cluster/cluster.ts';
import { boundariesIn, boundaryOf, namespaceIn } from './boundaries.ts';
import { type Chat, startChat } from './chat.ts';
import { fixInPhase, onlyFix } from './incidents.ts';
import { mintedBindings } from './scene.ts';
import { type ConfigOptions, installResources, type Running, seenHealthy, startProcess } from './tapfix.ts';

/**
 * The controller is killed (SIGKILL) before and after every write from the proposal to Recovered, and started again:
 * the fix happens exactly once each time. The boundaries are recorded from a clean run, so a new write gets its cases.
 */
let cluster: Cluster;
let chat: Chat;
let proxy: FaultProxy;
let watcher: Running;
let controller: Running;
let viaProxy: string;
let asWatcher: string;
let config: ConfigOptions;
/** Namespaces of which the controller gets no good answer: their turn has not come. */
const silent = new Set<string>();

/** The Lease of one that was killed is not waited for here, dozens of times: e2e/replicas does that. */
async function startController(): Promise<Running> {
  const nobody = JSON.stringify({ spec: { holderIdentity: null } });
  await cluster.kubectl(['-n', 'tapfix', 'patch', 'lease', 'tapfix-controller', '--type=merge', '-p', nobody]);
  return startProcess({ role: 'controller', kubeconfig: viaProxy, config });
}

export interface Scene {
  /** In the names of its namespaces. */
  name: string;
  /** What must have been well before it breaks. */
  prepare?(cluster: Cluster, namespace: string): Promise<void>;
  break(cluster: Cluster, namespace: string): Promise<void>;
  /** Waited for after each kill. What crashes needs more than what is only kept from starting. */
  stableFor?: string;
  /** The one write that must happen exactly once. */
  theWrite: { verb: string; resource: string };
}

const isProposed = ({ status }: Remediation): boolean =>
  ['Rehearsed', 'Confirmed'].every((type) => status?.conditions?.some((c) => c.type === type && c.status === 'True'));

/** As many namespaces as asked for, each with the incident; `isReady` says how far its proposal must have come. */
async function broken(scene: Scene, namespaces: string[], isReady: (fix: Remediation) => boolean): Promise<void> {
  await Promise.all(namespaces.map((namespace) => scene.prepare?.(cluster, namespace)));
  if (scene.prepare) await seenHealthy();
  await Promise.all(namespaces.map((namespace) => scene.break(cluster, namespace)));
  for (const namespace of namespaces) await fixThat(isReady, namespace);
}

const fixThat = (isReady: (fix: Remediation) => boolean, namespace: string): Promise<Remediation> =>
  cluster.waitFor(
    `${namespace} to be proposed`,
    async () => {
      const fix = await onlyFix(cluster, namespace);
      return fix && isReady(fix) ? fix : undefined;
    },
    120_000,
  );

const freshNamespaces = (scene: Scene, count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, () => cluster.freshNamespace(`e2e-kill-${scene.name}`)));

/** As the watcher records a tap in chat. */
async function approve(namespace: string): Promise<void> {
  const fix = (await onlyFix(cluster, namespace))!;
  const approval = { state: 'Approved', by: 'telegram:111', via: 'telegram', at: new Date().toISOString() };
  const patch = JSON.stringify({ spec: { approval } });
  await cluster.kubectl(['-n', namespace, 'patch', 'fix', fix.metadata.name, '--type', 'merge', '-p', patch], {
    kubeconfig: asWatcher,
  });
}

async function cleanRun(scene: Scene): Promise<string[]> {
  const [namespace] = (await freshNamespaces(scene, 1)) as [string];
  await broken(scene, [namespace], isProposed);
  await approve(namespace);
  await fixInPhase(cluster, namespace, 'Recovered', 90_000);
  const boundaries = () => boundariesIn(namespace, proxy.writes);
  await cluster.waitFor(
    'its last Event',
    async () => boundaries().some((what) => what.endsWith('FixRecovered')),
    10_000,
  );
  return boundaries();
}

const judged = '/status: judged';
const wordsAbout = (boundaries: readonly string[], what: RegExp): (string | undefined)[] =>
  boundaries.filter((boundary) => what.test(boundary)).map((boundary) => boundary.split(': ')[1]);

/** Whatever else it writes, these are of every life. */
function assertWhole(boundaries: readonly string[]): void {
  const phases = ['Proposed', 'judged', 'Approved', 'Applying', 'Applied', 'Recovered'];
  assert.deepEqual(wordsAbout(boundaries, /\/status: /), phases);
  const minted = ['Proposed', 'Proposed', 'Proposed', 'Applying', 'Applying', 'Applying'];
  assert.deepEqual(
    wordsAbout(boundaries, /rolebindings|token/),
    minted.map((phase) => `while ${phase}`),
  );
}

interface Kill {
  boundary: string;
  when: 'before' | 'after';
}
const killsAt = (boundaries: readonly string[]): Kill[] =>
  boundaries.flatMap((boundary) => [
    { boundary, when: 'before' },
    { boundary, when: 'after' },
  ]);

/** What `begin` sets going gets as far as this write, and no further. */
async function dies(namespace: string, { boundary, when }: Kill, begin: () => Promise<void>): Promise<void> {
  const match = (write: WriteSeen): boolean => {
    const seen = boundaryOf(write, proxy.writes);
    return seen?.namespace === namespace && seen.what === boundary;
  };
  const held = when === 'before' ? proxy.holdBefore(match) : proxy.holdAfter(match);
  await begin();
  const stuck = await Promise.race([held, sleep(60_000).then(() => undefined)]);
  await controller.kill();
  stuck?.drop();
  assert.ok(stuck, `the write never came\n${controller.log().slice(-2000)}`);
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

async function assertFixedOnce(scene: Scene, namespace: string): Promise<void> {
  await fixInPhase(cluster, namespace, 'Recovered', 120_000);
  assert.deepEqual(await executions(namespace, scene.theWrite), ['tapfix-writer']);
  // Nobody needs its pods any more, and dozens of them would keep the node busy.
  await cluster.kubectl(['-n', namespace, 'scale', 'deploy', '--all', '--replicas=0']);
}

/** So many are broken at a time: more would only keep a small machine busy. */
const brokenAtOnce = 12;

/**
 * Each in a life of its own, in which the controller sees this one only; what comes after is for all of them at once.
 * Those that are killed while their fix is executed are rehearsed and approved before.
 */
async function killEach(
  t: TestContext,
  scene: Scene,
  kills: readonly Kill[],
  during: 'rehearsal' | 'execution',
): Promise<string[]> {
  if (kills.length === 0) return [];
  const [now, later] = [kills.slice(0, brokenAtOnce), kills.slice(brokenAtOnce)];
  const namespaces = await freshNamespaces(scene, now.length);
  const approveAll = async (): Promise<void> => {
    for (const namespace of namespaces) await fixThat(isProposed, namespace);
    for (const namespace of namespaces) await approve(namespace);
  };
  if (during === 'rehearsal') for (const namespace of namespaces) silent.add(namespace);
  await broken(scene, namespaces, during === 'rehearsal' ? () => true : isProposed);
  for (const namespace of namespaces) silent.add(namespace);
  await controller.kill();
  if (during === 'execution') await approveAll();
  for (const [index, kill] of now.entries())
    await t.test(`${kill.when} ${kill.boundary}`, async () => {
      const namespace = namespaces[index]!;
      silent.delete(namespace);
      await dies(namespace, kill, async () => void (controller = await startController()));
      silent.add(namespace);
    });
  silent.clear();
  controller = await startController();
  const end = during === 'rehearsal' ? 'rehearsed again, and fixed once' : 'fixed once';
  await t.test(`what was killed in its ${during} is ${end}`, async () => {
    if (during === 'rehearsal') await approveAll();
    for (const namespace of namespaces) await assertFixedOnce(scene, namespace);
  });
  return [...namespaces, ...(await killEach(t, scene, later, during))];
}

const leftRights = async (namespaces: readonly string[]): Promise<string[]> =>
  (await Promise.all(namespaces.map((namespace) => mintedBindings(cluster, namespace)))).flat();

/** A test of this name, with its own controller; one for each file. */
export function killedAtEveryWrite(name: string, scene: Scene): void {
  before(async () => {
    cluster = await joinCluster();
    chat = await startChat(cluster.nodeAddress);
    proxy = await cluster.faultProxy();
    // 401: the client does not repeat it, so that nobody waits for those whose turn has not come.
    proxy.fail((request) => silent.has(namespaceIn(request)), 401, Infinity);
    await installResources(cluster);
    viaProxy = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-controller', { server: proxy.url });
    asWatcher = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-watcher');
    config = { apiRoot: chat.apiRoot, include: ['e2e-kill-*'], ...(scene.stableFor && { stableFor: scene.stableFor }) };
    watcher = await startProcess({ role: 'watcher', kubeconfig: asWatcher, config });
    controller = await startController();
  });
  after(async () => {
    await watcher.kill();
    await controller.kill();
    await proxy.close();
    await chat.close();
  });

  test(name, async (t) => {
    const boundaries = await cleanRun(scene);
    console.log(boundaries.map((line) => `    ${line}`).join('\n'));
    assertWhole(boundaries);
    const rehearsed = boundaries.findIndex((boundary) => boundary.endsWith(judged)) + 1;
    const namespaces = [
      ...(await killEach(t, scene, killsAt(boundaries.slice(0, rehearsed)), 'rehearsal')),
      ...(await killEach(t, scene, killsAt(boundaries.slice(rehearsed)), 'execution')),
    ];
    await cluster.waitFor('no right to be left', async () => (await leftRights(namespaces)).length === 0, 90_000);
  });
}
