import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
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
import { createScene, type Scene } from './support/scene.ts';
import { assertNoSecretsInLogs, installTapfix, removeDeployments, rolledOut } from './support/tapfix.ts';

/** As in loop.test.ts tapfix runs as pods of deploy/manifests; here its pods are killed, and nobody may hear of it. */
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

describe('what must not be said again', () => {
  let rejected: string;
  let open: string;
  let waiting: string;
  let patient: string;

  test('a rejected fix that still fails is silent; a restart with both open repeats nothing', async () => {
    rejected = await cluster.freshNamespace('e2e-reject');
    open = await cluster.freshNamespace('e2e-open');
    waiting = await cluster.freshNamespace('e2e-waiting');
    await applyIn(cluster, open, deployment('checkout', 1, ['run']));
    await available(cluster, open, 'checkout');
    await breakByQuota(cluster, rejected);
    await scene.withButton(rejected, /Reject/);
    await chat.press(await scene.withButton(rejected, /Reject/), /Reject/);
    await fixInPhase(cluster, rejected, 'Rejected', 30_000);
    await scene.messageAbout(rejected, /🔴.*still.*Rejected by Ada/su);
    await breakByQuota(cluster, waiting);
    await breakByRollout(cluster, open);
    await scene.withButton(waiting, /Delete quota/);
    await scene.withButton(open, /Roll back/);
    const posts = chat.posts();
    await assertNoSecretsInLogs(cluster);
    await cluster.kubectl(['-n', 'tapfix', 'delete', 'pod', '--all', '--grace-period=0', '--force']);
    await rolledOut(cluster);
    await sleep(180_000);
    assert.equal(chat.posts(), posts, 'nothing was posted in three minutes');
    assert.equal((await onlyFix(cluster, rejected))?.status?.phase, 'Rejected');
    for (const namespace of [waiting, open])
      assert.equal((await onlyFix(cluster, namespace))?.status?.phase, 'Proposed');
    const pods = await cluster.list('pods', rejected);
    assert.equal(pods.length, 0, 'it was to fail all the while');
  });

  test('killed during patience: told once after the restart', async () => {
    patient = await cluster.freshNamespace('e2e-patient');
    await breakByQuota(cluster, patient);
    await cluster.waitFor(
      'the first refusal',
      async () =>
        (await cluster.list<{ reason: string }>('events', patient)).some(({ reason }) => reason === 'FailedCreate'),
      20_000,
    );
    assert.equal(await onlyFix(cluster, patient), undefined, 'patience was to last');
    await cluster.kubectl(['-n', 'tapfix', 'delete', 'pod', '--all', '--grace-period=0', '--force']);
    await rolledOut(cluster);
    await scene.messageAbout(patient, /platform-hardening/, 90_000);
    await sleep(10_000);
    assert.equal(scene.about(patient).length, 1);
  });

  test('what heals by itself is closed in grey, and nothing was changed', async () => {
    await cluster.kubectl(['-n', patient, 'delete', 'resourcequota', 'platform-hardening']);
    await cluster.kubectl(['-n', patient, 'annotate', 'replicaset', '--all', 'poke=1']);
    const fix: Remediation = await fixInPhase(cluster, patient, 'Resolved', 60_000);
    assert.equal(fix.spec.approval.state, 'Pending');
    await scene.messageAbout(patient, /⚪/);
    assert.deepEqual(await scene.writes(patient), []);
  });

  test('no secret stands in any log', () => assertNoSecretsInLogs(cluster));
});
