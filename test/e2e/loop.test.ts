import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { type Chat, type ChatMessage, mallory, startChat } from './support/chat.ts';
import {
  applyIn,
  available,
  breakByQuota,
  breakByRollout,
  deployment,
  fixInPhase,
  onlyFix,
  quota,
} from './support/incidents.ts';
import { aRemediation } from './support/remediation.ts';
import { account, createScene, type Scene } from './support/scene.ts';
import { assertNoSecretsInLogs, installTapfix, removeDeployments, seenHealthy } from './support/tapfix.ts';

/** tapfix runs as pods of deploy/manifests on the real node; a stand-in that nobody here wrote is the chat. */
let cluster: Cluster;
let chat: Chat;
let scene: Scene;

before(async () => {
  cluster = await joinCluster();
  chat = await startChat(cluster.nodeAddress);
  scene = createScene(cluster, chat);
  await installTapfix(cluster, { apiRoot: chat.apiRoot });
});
after(async () => {
  await removeDeployments(cluster);
  await chat.close();
});

interface Pod {
  metadata: { creationTimestamp: string };
  status: { phase: string };
}

const about = (namespace: string): ChatMessage[] => scene.about(namespace);
const messageAbout = (namespace: string, words: RegExp, timeoutMs?: number) =>
  scene.messageAbout(namespace, words, timeoutMs);
const withButton = (namespace: string, label: RegExp) => scene.withButton(namespace, label);
const writes = (namespace: string) => scene.writes(namespace);

describe('a quota that blocks pods', () => {
  let namespace: string;
  let pressedAt: number;

  test('becomes one message with one fix, however many events say it', async () => {
    namespace = await cluster.freshNamespace('e2e-quota');
    await breakByQuota(cluster, namespace, ['api', 'web', 'worker']);
    const message = await messageAbout(namespace, /platform-hardening/);
    assert.match(message.text, /blocks \d workloads?/);
    scene.show(await withButton(namespace, /Roll back|Delete quota/));
    await cluster.waitFor(
      'twenty FailedCreate events',
      async () => {
        const seen = (await cluster.list<{ reason: string; count?: number }>('events', namespace)).filter(
          ({ reason }) => reason === 'FailedCreate',
        );
        return seen.reduce((sum, { count = 1 }) => sum + count, 0) >= 20;
      },
      60_000,
    );
    const fix = await fixInPhase(cluster, namespace, 'Proposed', 10_000);
    assert.equal(fix.spec.incident.key, `${namespace}/ResourceQuota/platform-hardening`);
    assert.equal(fix.spec.action?.type, 'DeleteResourceQuota');
  });

  test('stays one card with no undo after 90 s and a missed progress deadline', async () => {
    await sleep(90_000);
    const deployments = await cluster.list<{ status: { conditions: { type: string; reason: string }[] } }>(
      'deployments',
      namespace,
    );
    assert.ok(
      deployments.every(({ status }) => status.conditions.some(({ reason }) => reason === 'ProgressDeadlineExceeded')),
      'the deadline was to be missed',
    );
    assert.equal(about(namespace).length, 1);
    assert.equal((await onlyFix(cluster, namespace))?.spec.action?.type, 'DeleteResourceQuota');
    const fix = await onlyFix(cluster, namespace);
    assert.deepEqual(fix?.status?.sightings?.affected, ['Deployment/api', 'Deployment/web', 'Deployment/worker']);
  });

  test('is not deleted by a stranger, nor without being asked twice', async () => {
    const message = await withButton(namespace, /Roll back|Delete quota/);
    await chat.press(message, /Roll back|Delete quota/, mallory);
    await cluster.waitFor('the refusal', async () => chat.answers().some((text) => /approver/i.test(text)), 15_000);
    await chat.press(message, /Roll back|Delete quota/);
    await withButton(namespace, /^Yes, delete/);
    assert.equal((await onlyFix(cluster, namespace))?.spec.approval.state, 'Pending');
  });

  test('is deleted after the second tap, the pods are back within 10 s, and the message turns green', async () => {
    pressedAt = Date.now();
    await chat.press(await withButton(namespace, /^Yes, delete/), /^Yes, delete/);
    const deletedAt = await cluster.waitFor(
      'the quota to be gone',
      async () => ((await cluster.list('resourcequotas', namespace)).length === 0 ? Date.now() : undefined),
      30_000,
    );
    const pods = await cluster.waitFor(
      'all pods to be running',
      async () => {
        const found = await cluster.list<Pod>('pods', namespace);
        return found.length === 6 && found.every(({ status }) => status.phase === 'Running') && found;
      },
      60_000,
    );
    // tapfix has its part in when they are made; how long they take to start is the node's matter.
    const backAt = Math.max(...pods.map(({ metadata }) => Date.parse(metadata.creationTimestamp)));
    const seconds = (from: number): string => ((backAt - from) / 1000).toFixed(1);
    console.log(`  pods back ${seconds(deletedAt)} s after the delete, ${seconds(pressedAt)} s after the tap`);
    assert.ok(backAt - deletedAt <= 10_000, `the last pod was made ${seconds(deletedAt)} s after the delete`);
    const fix = await fixInPhase(cluster, namespace, 'Recovered', 60_000);
    assert.equal(fix.spec.approval.by, 'telegram:111');
    const message = await messageAbout(namespace, /🟢.*healthy again/s);
    assert.equal(about(namespace).length, 1);
    assert.deepEqual(message.buttons, []);
  });

  test('was deleted exactly once, by the writer alone, and no right is left', async () => {
    const done = await writes(namespace);
    assert.deepEqual(
      done.filter((line) => line.includes('resourcequotas')),
      ['tapfix-writer delete resourcequotas'],
    );
    assert.ok(
      done.every((line) => line.startsWith('tapfix-writer ')),
      done.join(', '),
    );
    assert.ok(
      done.every((line) => /resourcequotas|replicasets/.test(line)),
      done.join(', '),
    );
    assert.deepEqual(await scene.bindings(namespace), []);
  });
});

describe('a new revision that crash-loops', () => {
  let namespace: string;

  test('becomes one message that offers the undo', async () => {
    namespace = await cluster.freshNamespace('e2e-crash');
    // Without a readiness probe the good revision is scaled away at once: only who watched knows that it was healthy.
    await applyIn(cluster, namespace, deployment('checkout', 2, ['run'], ''));
    await available(cluster, namespace, 'checkout');
    await seenHealthy();
    await breakByRollout(cluster, namespace);
    const message = await messageAbout(namespace, /checkout (?:is (?:down|degraded)|keeps crashing)/, 90_000);
    assert.match(message.text, /crash/);
    scene.show(await withButton(namespace, /Roll back|Delete quota/));
    const fix = await fixInPhase(cluster, namespace, 'Proposed', 10_000);
    assert.deepEqual(fix.spec.action, {
      type: 'RolloutUndo',
      rolloutUndo: { kind: 'Deployment', name: 'checkout', uid: fix.spec.incident.object.uid, toRevision: 1 },
    });
  });

  test('is undone after one tap, made while the watcher was down, and turns green', async () => {
    const message = await withButton(namespace, /Roll back/);
    await scene.scaleWatcher(0);
    await chat.press(message, /Roll back/);
    await scene.scaleWatcher(1);
    await fixInPhase(cluster, namespace, 'Recovered', 90_000);
    await messageAbout(namespace, /🟢.*healthy again/s);
    assert.equal(about(namespace).length, 1);
    const { spec } = (await cluster.get<{ spec: { template: { spec: { containers: { args: string[] }[] } } } }>(
      'deployments',
      namespace,
      'checkout',
    ))!;
    assert.deepEqual(spec.template.spec.containers[0]?.args, ['run']);
  });

  test('was undone by exactly one write of the writer, and no right is left', async () => {
    assert.deepEqual(await writes(namespace), ['tapfix-writer patch deployments']);
    assert.deepEqual(await scene.bindings(namespace), []);
  });
});

test('no pod is ready, through a probe that fails: it is critical, and arrives with a sound', async () => {
  const namespace = await cluster.freshNamespace('e2e-down');
  const patient = deployment('web', 2, ['unready']).replace('progressDeadlineSeconds: 30', '');
  await applyIn(cluster, namespace, patient);
  scene.show(await messageAbout(namespace, /0\/2 ready/, 240_000));
  const { class: failureClass, severity } = (await onlyFix(cluster, namespace))!.spec.incident;
  assert.deepEqual([failureClass, severity], ['ProbeFailing', 'critical']);
  const isIt = ({ method, body }: Chat['calls'][number]): boolean =>
    method === 'sendMessage' && String(body['text']).includes(namespace);
  assert.equal(String(chat.calls.find(isIt)?.body['disable_notification']), 'false');
});

test('a quota that is deleted and created again: one message, about the new one', async () => {
  const namespace = await cluster.freshNamespace('e2e-again');
  await breakByQuota(cluster, namespace);
  await withButton(namespace, /Delete quota/);
  // By then its owner retries only every minute, so that no pod slips in between.
  await sleep(60_000);
  await cluster.kubectl(['-n', namespace, 'replace', '--force', '-f', '-'], { input: quota('platform-hardening') });
  const { metadata } = (await cluster.get<{ metadata: { uid: string } }>(
    'resourcequotas',
    namespace,
    'platform-hardening',
  ))!;
  const second = await cluster.waitFor(
    'its successor',
    async () => {
      const fixes = await cluster.list<Remediation>('remediations.tapfix.dev', namespace);
      return fixes.find(({ spec }) => spec.incident.object.uid === metadata.uid);
    },
    120_000,
  );
  assert.ok(second.spec.follows);
  await sleep(20_000);
  assert.equal(about(namespace).length, 1);
  await withButton(namespace, /Delete quota/);
});

test('with the approver role and kubectl alone: approved in that name, applied, recovered', async () => {
  const namespace = await cluster.freshNamespace('e2e-kubectl');
  const role = ['create', 'rolebinding', 'grace', '--clusterrole=tapfix-approver', '--user=grace'];
  await cluster.kubectl(['-n', namespace, ...role]);
  await breakByQuota(cluster, namespace);
  const { metadata } = await fixInPhase(cluster, namespace, 'Proposed', 60_000);
  await withButton(namespace, /Roll back|Delete quota/);
  const kubeconfig = await cluster.userKubeconfig('grace');
  const patch = ['patch', 'fix', metadata.name, '--type', 'merge', '-p', '{"spec":{"approval":{"state":"Approved"}}}'];
  await cluster.kubectl(['-n', namespace, ...patch], { kubeconfig });
  const fix = await fixInPhase(cluster, namespace, 'Recovered', 60_000);
  assert.equal(fix.spec.approval.by, 'grace');
  assert.match((await messageAbout(namespace, /🟢/)).text, /approved by grace/);
});

test('a fix that was approved and over while nobody could post: shown once, in its final state, without a sound', async () => {
  const namespace = await cluster.freshNamespace('e2e-unseen');
  const scale = (replicas: number): Promise<string> =>
    cluster.kubectl(['-n', 'tapfix', 'scale', 'deploy/tapfix-watcher', `--replicas=${replicas}`]);
  await scale(0);
  try {
    await breakByQuota(cluster, namespace);
    const blocking = (await cluster.get<{ metadata: { uid: string } }>(
      'resourcequotas',
      namespace,
      'platform-hardening',
    ))!;
    const { uid } = blocking.metadata;
    const { incident } = aRemediation('').spec;
    const object = { kind: 'ResourceQuota', name: 'platform-hardening', uid };
    const own = { ...incident, key: `${namespace}/ResourceQuota/platform-hardening`, object };
    const action = { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'platform-hardening', uid } };
    const proposal = aRemediation('by-hand-1', { incident: own, action }, { namespace });
    await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(proposal) });
    await cluster.waitFor(
      'its rehearsal',
      async () => (await onlyFix(cluster, namespace))?.status?.preview?.targetHash,
      60_000,
    );
    const patch = ['patch', 'fix', 'by-hand-1', '--type', 'merge', '-p', '{"spec":{"approval":{"state":"Approved"}}}'];
    await cluster.kubectl(['-n', namespace, ...patch]);
    await fixInPhase(cluster, namespace, 'Recovered', 90_000);
    assert.equal(about(namespace).length, 0);
  } finally {
    await scale(1);
  }
  assert.match((await messageAbout(namespace, /🟢/, 90_000)).text, /approved by admin/);
  await sleep(10_000);
  assert.equal(about(namespace).length, 1);
  const post = chat.calls.find(
    ({ method, body }) => method === 'sendMessage' && String(body['text']).includes(namespace),
  );
  assert.equal(String(post?.body['disable_notification']), 'true');
});

test('a fix that the controller would not derive, proposed and approved with the watcher’s own token: nothing is written', async () => {
  const namespace = await cluster.freshNamespace('e2e-forged');
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run']));
  await applyIn(cluster, namespace, deployment('checkout', 1, ['run', 'again']));
  await available(cluster, namespace, 'checkout');
  const target = (await cluster.get<{ metadata: { uid: string } }>('deployments', namespace, 'checkout'))!;
  const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-watcher');
  const object = { kind: 'Deployment', name: 'checkout', uid: target.metadata.uid };
  const { incident } = aRemediation('').spec;
  const forged = aRemediation(
    'forged-1',
    {
      incident: { ...incident, key: `${namespace}/Deployment/checkout`, class: 'CrashLoop', object },
      action: { type: 'RolloutUndo', rolloutUndo: { ...object, toRevision: 1 } },
      proposedBy: account('tapfix-watcher'),
    },
    { namespace },
  );
  await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(forged), kubeconfig });
  const approval = { state: 'Approved', by: 'telegram:111', via: 'telegram' };
  const patch = ['patch', 'fix', 'forged-1', '--type', 'merge', '-p', JSON.stringify({ spec: { approval } })];
  await cluster.kubectl(['-n', namespace, ...patch], { kubeconfig });
  const fix = await cluster.waitFor(
    'the end',
    async () => {
      const now = await onlyFix(cluster, namespace);
      return now?.status?.phase === 'Failed' ? now : undefined;
    },
    30_000,
  );
  assert.equal(fix.status?.conditions?.find(({ type }) => type === 'Failed')?.reason, 'NotConfirmed');
  assert.deepEqual(await writes(namespace), []);
});

test('no secret stands in any log', () => assertNoSecretsInLogs(cluster));
