import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, startChat } from './support/chat.ts';
import { applyIn, available, deployment, fixInPhase, quota } from './support/incidents.ts';
import { createScene, type Scene } from './support/scene.ts';
import { installResources, type Running, seenHealthy, startProcess } from './support/tapfix.ts';

/** What Kubernetes leaves lying about (old events, the first words of a condition) must not become news. */
let cluster: Cluster;
let chat: Chat;
let scene: Scene;
let watcher: Running;
let controller: Running;

const start = async (role: 'watcher' | 'controller'): Promise<Running> =>
  startProcess({
    role,
    kubeconfig: await cluster.serviceAccountKubeconfig('tapfix', `tapfix-${role}`),
    config: { apiRoot: chat.apiRoot, include: ['e2e-stale-*'] },
  });

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  scene = createScene(cluster, chat);
  await installResources(cluster);
  controller = await start('controller');
  watcher = await start('watcher');
});
after(async () => {
  await watcher.kill();
  await controller.kill();
  await chat.close();
});

const fixes = (namespace: string): Promise<Remediation[]> => cluster.list('remediations.tapfix.dev', namespace);

test('a crash that is over and an ordinary rollout after a restart: nobody is told anything', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-rollout');
  await applyIn(cluster, namespace, deployment('checkout', 1, ['crash']));
  await scene.messageAbout(namespace, /checkout keeps crashing/, 90_000);
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
  await available(cluster, namespace, 'checkout');
  await fixInPhase(cluster, namespace, 'Resolved', 60_000);
  const events = await cluster.list<{ reason: string }>('events', namespace);
  assert.ok(
    events.some(({ reason }) => reason === 'BackOff'),
    'the old news is still there',
  );
  await watcher.kill();
  // Without its short deadline: a rollout that takes its time is not one that is stuck.
  const slow = deployment('checkout', 1, ['unready']).replace(
    'progressDeadlineSeconds: 30',
    'progressDeadlineSeconds: 600',
  );
  await applyIn(cluster, namespace, slow);
  watcher = await start('watcher');
  await sleep(30_000); // patience is 5 s here, and the rollout is not finished all the while
  const told = (await fixes(namespace)).map(
    ({ metadata, spec, status }) =>
      `${metadata.name} ${spec.incident.class} ${spec.incident.message} (${status?.phase})`,
  );
  assert.equal(told.length, 1, told.join('; '));
  assert.equal(scene.about(namespace).length, 1);
});

test('two quotas in the way: when the first is gone, the second is told', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-quotas');
  await applyIn(cluster, namespace, quota('first'));
  await applyIn(cluster, namespace, deployment('api', 1, ['run']));
  const { metadata } = await fixInPhase(cluster, namespace, 'Proposed', 60_000);
  await applyIn(cluster, namespace, quota('second'));
  const approve = [
    'patch',
    'fix',
    metadata.name,
    '--type',
    'merge',
    '-p',
    '{"spec":{"approval":{"state":"Approved"}}}',
  ];
  await cluster.waitFor(
    'the rehearsal',
    async () => (await fixes(namespace))[0]?.status?.conditions?.some(({ type }) => type === 'Confirmed'),
    30_000,
  );
  await cluster.kubectl(['-n', namespace, ...approve]);
  const second = await cluster.waitFor(
    'a card about the second quota',
    async () => (await fixes(namespace)).find(({ spec }) => spec.incident.object.name === 'second'),
    90_000,
  );
  assert.equal(second.spec.action?.type, 'DeleteResourceQuota');
  const sets = await cluster.list<{ status: { conditions?: { message: string }[] } }>('replicasets', namespace);
  assert.match(
    sets[0]?.status.conditions?.[0]?.message ?? '',
    /exceeded quota: first/,
    'the condition keeps its first words',
  );
});

test('a revision that looks healthy for 12 s before each crash, without a probe: undone, and watched for twice as long', async () => {
  const namespace = await cluster.freshNamespace('e2e-stale-slow');
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run'], ''));
  await available(cluster, namespace, 'checkout');
  await seenHealthy();
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run-then-crash', '12'], ''));
  await scene.withButton(namespace, /Approve undo/, 120_000);
  const { metadata } = (await fixes(namespace))[0]!;
  const approval = '{"spec":{"approval":{"state":"Approved"}}}';
  await cluster.kubectl(['-n', namespace, 'patch', 'fix', metadata.name, '--type', 'merge', '-p', approval]);
  const fix = await fixInPhase(cluster, namespace, 'Recovered', 120_000);
  assert.ok((fix.status?.execution?.stableSeconds ?? 0) >= 24, JSON.stringify(fix.status?.execution?.stableSeconds));
  assert.deepEqual(await scene.writes(namespace), ['tapfix-writer patch deployments']);
});
