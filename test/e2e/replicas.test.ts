import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import { applyIn, available, breakByRollout, deployment, fixInPhase, onlyFix } from './support/incidents.ts';
import { createScene, type Scene } from './support/scene.ts';
import { installTapfix, removeDeployments, rolledOut, seenHealthy } from './support/tapfix.ts';

/** Two replicas of each role as pods of deploy/manifests, on the real node: whatever becomes of the leader, another goes on. */
let cluster: Cluster;
let chat: Chat;
let scene: Scene;

const roles = ['watcher', 'controller'] as const;
type Role = (typeof roles)[number];
/** As in the product's own defaults: so long it may take until another one leads. */
const lease = { leaseDuration: '6s', renewDeadline: '4s', retryPeriod: '1s' };
/** How often the leader is killed, with two incidents each time. */
const kills = Number(process.env['E2E_KILLS'] ?? 4);
const spaces: string[] = [];

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  scene = createScene(cluster, chat);
  await installTapfix(cluster, { apiRoot: chat.apiRoot, include: ['e2e-lead-*'], lease }, 2);
  for (let n = 0; n < 2 * kills + 2; n++) spaces.push(await cluster.freshNamespace('e2e-lead'));
  for (const namespace of spaces) await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
  for (const namespace of spaces) await available(cluster, namespace, 'checkout');
  await seenHealthy();
});
after(async () => {
  await removeDeployments(cluster);
  await chat.close();
});

interface Lease {
  spec?: { holderIdentity?: string };
}
interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  status: { podIP?: string; conditions?: { type: string; status: string }[] };
}

/** The name of the pod that leads. */
async function leaderOf(role: Role): Promise<string | undefined> {
  const holder = (await cluster.get<Lease>('leases', 'tapfix', `tapfix-${role}`))?.spec?.holderIdentity;
  return holder?.replace(/_\w+$/, '') || undefined;
}

const podsOf = async (role: Role): Promise<Pod[]> =>
  (await cluster.list<Pod>('pods', 'tapfix')).filter(({ metadata }) => metadata.name.startsWith(`tapfix-${role}`));

/** Seconds until another pod leads. */
async function untilAnotherLeads(role: Role, than: string): Promise<number> {
  const beganMs = Date.now();
  await cluster.waitFor(
    `another ${role} than ${than} to lead`,
    async () => ![undefined, than].includes(await leaderOf(role)),
    30_000,
  );
  return (Date.now() - beganMs) / 1000;
}

const bothReady = (role: Role): Promise<true> =>
  cluster.waitFor(
    `two ready pods of the ${role}`,
    async () => {
      const ready = (await podsOf(role)).filter(
        ({ metadata, status }) =>
          !metadata.deletionTimestamp &&
          status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
      );
      return ready.length === 2;
    },
    90_000,
  );

/** Killed first: asked to end, even in no time, it would release its Lease. */
async function killLeader(role: Role): Promise<void> {
  const name = (await leaderOf(role))!;
  process.kill(pidIn((await podsOf(role)).find(({ metadata }) => metadata.name === name)!), 'SIGKILL');
  await cluster.kubectl(['-n', 'tapfix', 'delete', 'pod', name, '--force', '--grace-period=0']);
  const seconds = await untilAnotherLeads(role, name);
  console.log(`  the ${role} was killed: another led after ${seconds.toFixed(1)} s`);
  assert(seconds < 10, `it took ${seconds} s`);
}

const approve = async (namespace: string): Promise<void> =>
  chat.press(await scene.withButton(namespace, /Roll back/, 90_000), /Roll back/);

/** One Remediation, one execution, one message, and it is green. */
async function endsGreenOnce(namespace: string): Promise<void> {
  await fixInPhase(cluster, namespace, 'Recovered', 150_000);
  await scene.messageAbout(namespace, /🟢/, 60_000);
  assert.equal((await onlyFix(cluster, namespace))?.spec.action?.type, 'RolloutUndo');
  assert.deepEqual(await scene.writes(namespace), ['tapfix-writer patch deployments']);
  assert.equal(scene.about(namespace).length, 1, scene.about(namespace).map(({ text }) => text).join('\n---\n')); // prettier-ignore
  assert.deepEqual(await scene.bindings(namespace), []);
}

/** The process of a pod's container, as the machine sees it. */
function pidIn({ metadata: { uid } }: Pod): number {
  const isOurs = (pid: string): boolean => {
    try {
      const inPod = readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(uid);
      return inPod && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('tapfix');
    } catch {
      return false; // it has ended
    }
  };
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isOurs(name));
  assert(pid, `no process in the pod ${uid}`);
  return Number(pid);
}

test('a Lease names the leader of each role, the other pod is ready, and each has its own node if there are several', async () => {
  for (const role of roles) {
    await bothReady(role);
    const names = (await podsOf(role)).map(({ metadata }) => metadata.name);
    assert(names.includes((await leaderOf(role))!), `${await leaderOf(role)} is none of ${names.join(', ')}`);
  }
});

/** The moment at which it is killed, and which role: each pair of incidents has another one. */
const moments: readonly { name: string; whom: readonly Role[]; when: 'patience' | 'posted' | 'pressed' }[] = [
  { name: 'the watcher, while it is patient', whom: ['watcher'], when: 'patience' },
  { name: 'both, once the card is there', whom: ['watcher', 'controller'], when: 'posted' },
  { name: 'the controller, just after the press', whom: ['controller'], when: 'pressed' },
  { name: 'the watcher, just after the press', whom: ['watcher'], when: 'pressed' },
];

for (let n = 0; n < kills; n++) {
  const { name, whom, when } = moments[n % moments.length]!;
  test(`${n + 1}: the leader's pod is deleted by force (${name}): one Remediation, one undo, one message each`, async () => {
    const pair = spaces.slice(2 * n, 2 * n + 2);
    const kill = async (at: typeof when): Promise<void> => {
      if (at === when) await Promise.all(whom.map(killLeader));
    };
    // One after the other: what breaks at the same time is one message.
    for (const [index, namespace] of pair.entries()) {
      await breakByRollout(cluster, namespace);
      if (index === 0) await kill('patience');
      await scene.withButton(namespace, /Roll back/, 90_000);
    }
    await kill('posted');
    for (const namespace of pair) await approve(namespace);
    await kill('pressed');
    for (const namespace of pair) await endsGreenOnce(namespace);
    for (const role of whom) await bothReady(role);
  });
}

test('a leader that is stopped for 30 s and continued writes nothing more than the one request under way', async () => {
  const namespace = spaces.at(-2)!;
  const stopped = await Promise.all(
    roles.map(async (role) => {
      const name = (await leaderOf(role))!;
      const pod = (await podsOf(role)).find(({ metadata }) => metadata.name === name)!;
      return { role, name, from: pod.status.podIP!, pid: pidIn(pod) };
    }),
  );
  const beganMs = Date.now();
  for (const { pid } of stopped) process.kill(pid, 'SIGSTOP');
  try {
    await breakByRollout(cluster, namespace);
    for (const { role, name } of stopped) assert((await untilAnotherLeads(role, name)) < 12);
    await approve(namespace);
    await sleep(Math.max(0, beganMs + 30_000 - Date.now()));
  } finally {
    for (const { pid } of stopped) process.kill(pid, 'SIGCONT');
  }
  const continuedMs = Date.now();
  await endsGreenOnce(namespace);
  await sleep(5_000);
  for (const { role, from } of stopped) {
    const late = (await cluster.audit()).filter(
      (event) => event.from === from && Date.parse(event.at) >= continuedMs - 1_000 && event.code < 300,
    );
    console.log(`  the ${role} that was stopped wrote ${late.length} times afterwards`);
    assert(late.length <= 1, JSON.stringify(late));
  }
});

test('asked to stop, a leader hands over at once', async () => {
  for (const role of roles) {
    await bothReady(role);
    const name = (await leaderOf(role))!;
    await cluster.kubectl(['-n', 'tapfix', 'delete', 'pod', name, '--wait=false']);
    const seconds = await untilAnotherLeads(role, name);
    console.log(`  the ${role} stopped: another led after ${seconds.toFixed(1)} s`);
    assert(seconds < 5.5, `it took ${seconds} s: the Lease ran out instead of being released`);
    await bothReady(role);
  }
});

test('a rolling update during an open incident repeats nothing, and the undo is still offered and works', async () => {
  const namespace = spaces.at(-1)!;
  await breakByRollout(cluster, namespace);
  await scene.withButton(namespace, /Roll back/, 90_000);
  for (const role of roles) await cluster.kubectl(['-n', 'tapfix', 'rollout', 'restart', `deploy/tapfix-${role}`]);
  await rolledOut(cluster);
  await sleep(5_000);
  assert.equal(scene.about(namespace).length, 1);
  await approve(namespace);
  await endsGreenOnce(namespace);
});
