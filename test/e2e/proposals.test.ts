import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { createStage, mode, type Stage, workload } from './support/acts.ts';
import { type Chat, startChat } from './support/chat.ts';
import { installResources, type Running, seenHealthy, startProcess } from './support/tapfix.ts';

/**
 * What tapfix proposes by itself beside a quota's deletion and the undo of a Deployment, on a real cluster: the watcher
 * comes to it, the controller comes to the same by its own reading, a person approves, and it recovers. Both are the
 * built program, each with its own account's rights.
 */
let cluster: Cluster;
let stage: Stage;
let chat: Chat;
let running: Running[] = [];

async function start(): Promise<void> {
  // A pod that is made to crash gets no image for a moment: that alone is nothing to tell.
  const patience = { ImagePull: '10s', ProbeFailing: '3s', Unschedulable: '3s' };
  running = await Promise.all(
    (['watcher', 'controller'] as const).map(async (role) =>
      startProcess({
        role,
        kubeconfig: await cluster.serviceAccountKubeconfig('tapfix', `tapfix-${role}`),
        config: { apiRoot: chat.apiRoot, include: ['e2e-prop-*'], crashLoopFor: '3s', patience },
      }),
    ),
  );
}

before(async () => {
  cluster = await joinCluster();
  stage = createStage(cluster);
  chat = await startChat(cluster.nodeAddress);
  await installResources(cluster);
  await start();
});
after(async () => {
  for (const one of running) await one.kill();
  await chat.close();
});

interface Owner {
  spec: { template: { spec: { containers: { image: string }[] } } };
}

/** Two wrong images, one after the other: going back one revision would not help. Nothing is left of the one that ran. */
async function mistypeTwice(namespace: string): Promise<void> {
  await stage.apply(namespace, workload({ args: ['run'], spec: { strategy: { type: 'Recreate' } } }));
  await stage.counted(namespace, 1);
  await seenHealthy();
  for (const image of ['localhost/app:1.o', 'localhost/app:l.0']) {
    await cluster.kubectl(['-n', namespace, 'set', 'image', 'deploy/checkout', `app=${image}`]);
    const isThere = async (): Promise<boolean> =>
      (await cluster.list<Owner>('replicasets', namespace)).some(
        ({ spec }) => spec.template.spec.containers[0]?.image === image,
      );
    await cluster.waitFor(`a ReplicaSet with ${image}`, isThere, 30_000);
  }
}

/** How each pod behaves stands in an annotation of its own. */
const annotated = (replicas: number): object => {
  const env = [{ name: 'MODE', valueFrom: { fieldRef: { fieldPath: "metadata.annotations['mode']" } } }];
  const readinessProbe = { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 };
  const container = { name: 'app', image: 'localhost/app:1.0', imagePullPolicy: 'IfNotPresent', readinessProbe, env };
  return workload({ replicas, annotations: { mode: 'run' }, podSpec: { containers: [container] } });
};

interface Pod {
  status: { containerStatuses?: { state: { running?: object } }[] };
}

/** One pod of two, made to start anew by an image that is changed and changed back, crashes from then on. */
async function spoilOne(namespace: string): Promise<void> {
  await stage.apply(namespace, annotated(2));
  const [first] = await stage.counted(namespace, 2);
  const { name } = first!.metadata;
  const setImage = (image: string) => cluster.kubectl(['-n', namespace, 'set', 'image', `pod/${name}`, `app=${image}`]);
  await cluster.kubectl(['-n', namespace, 'annotate', 'pod', name, 'mode=crash', '--overwrite']);
  await setImage('localhost/app:none');
  const isStopped = async (): Promise<boolean> =>
    (await cluster.get<Pod>('pods', namespace, name))?.status.containerStatuses?.[0]?.state.running === undefined;
  await cluster.waitFor('its container to stop', isStopped, 30_000);
  await setImage('localhost/app:1.0');
}

/** All pods went wrong with a ConfigMap, which is right again by now. */
async function leaveUnready(namespace: string): Promise<void> {
  await stage.apply(namespace, mode('unready'), workload({ replicas: 2 }));
  await stage.counted(namespace, 0, 2);
  await stage.started(namespace);
  await stage.apply(namespace, mode('run'));
}

/** Only one of them fits on a node. */
async function scaleTooFar(namespace: string): Promise<void> {
  const labelSelector = { matchLabels: { app: 'checkout' } };
  const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
  const affinity = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  await stage.apply(namespace, workload({ args: ['run'], podSpec: { affinity } }));
  await stage.counted(namespace, 1);
  await new Promise((resolve) => setTimeout(resolve, 2_000)); // the books have whole seconds
  await cluster.kubectl(['-n', namespace, 'scale', 'deploy/checkout', '--replicas=3']);
}

/** The new revision stands still at its first pod; the other still runs the one before. */
async function rollOutBadly(namespace: string): Promise<void> {
  const set = (args: string[]): object => workload({ kind: 'StatefulSet', replicas: 2, args });
  await stage.apply(namespace, set(['run']));
  await stage.counted(namespace, 2);
  await seenHealthy();
  await stage.apply(namespace, set(['crash']));
}

const proposals: { type: string; class: string; break(namespace: string): Promise<void>; write: RegExp[]; says: RegExp }[] = [
  { type: 'PatchDeploymentImage', class: 'ImagePull', break: mistypeTwice, write: [/^tapfix-writer patch deployments checkout$/], says: /^It is the last image that ran here: revision 1 was seen healthy with it for .*1 pod is replaced: none runs until the new one does/ },
  { type: 'DeletePod', class: 'CrashLoop', break: spoilOne, write: [/^tapfix-writer create pods\/eviction checkout-\S+$/], says: /^Another pod runs the same and is healthy/ },
  { type: 'RolloutRestart', class: 'ProbeFailing', break: leaveUnready, write: [/^tapfix-writer patch deployments checkout$/], says: /2 pods are replaced step by step/ },
  { type: 'ScaleDeployment', class: 'Unschedulable', break: scaleTooFar, write: [/^tapfix-writer patch deployments checkout$/], says: /^It was scaled 1 → 3 at .*2 pods have found no node since/ },
  { type: 'RolloutUndo', class: 'CrashLoop', break: rollOutBadly, write: [/^tapfix-writer patch statefulsets checkout$/, /^tapfix-writer create pods\/eviction checkout-1$/], says: /^Revision 1 was seen healthy for .*; 1 pod is replaced, 1 of revision 1 stays/ },
]; // prettier-ignore

describe('what tapfix proposes by itself', { concurrency: 5, timeout: 400_000 }, () => {
  for (const { type, class: failureClass, break: breakIt, write, says } of proposals)
    test(`${failureClass}: ${type} is proposed, confirmed, approved, and heals`, async () => {
      const namespace = await cluster.freshNamespace('e2e-prop');
      await breakIt(namespace);
      const offered = async (): Promise<Remediation | undefined> =>
        (await cluster.list<Remediation>('remediations.tapfix.dev', namespace)).find(({ spec }) => spec.action);
      const fix = await cluster
        .waitFor(`a proposal in ${namespace}`, offered, 120_000)
        .catch(async (error: unknown) => {
          const all = await cluster.list<Remediation>('remediations.tapfix.dev', namespace);
          throw new Error(
            `${String(error)}; there is: ${all.map(({ spec }) => `${spec.incident.class}: ${spec.rationale}`).join(' | ')}`,
          );
        });
      const { name } = fix.metadata;
      console.log(`    ${type}: ${fix.spec.diagnosis}\n      ${fix.spec.rationale.split('\n')[0]}`);
      assert.deepEqual([fix.spec.action?.type, fix.spec.incident.class], [type, failureClass]);
      assert.match(fix.spec.rationale, says);
      const rehearsed = await stage.rehearsed(namespace, name);
      assert.equal(rehearsed.status, 'True', rehearsed.message);
      const confirmed = await stage.condition(namespace, name, 'Confirmed');
      assert.equal(confirmed?.status, 'True', confirmed?.message);
      await stage.approve(namespace, name);
      const ended = await stage.ended(namespace, name, 150_000);
      assert.equal(ended.status?.phase, 'Recovered', JSON.stringify(ended.status?.conditions));
      const writes = await stage.writes(namespace);
      assert.equal(writes.length, write.length, writes.join('\n'));
      for (const [index, pattern] of write.entries()) assert.match(writes[index]!, pattern);
      await cluster.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    });
});

interface ReplicaSet {
  metadata: { uid: string };
  spec: { replicas: number };
}

/** All pods of the old version go before one of the new comes: that it was healthy is in no object of Kubernetes. */
test('both roles restarted after a healthy revision, and in the middle of the incident: the undo is offered and confirmed', async () => {
  const namespace = await cluster.freshNamespace('e2e-prop');
  const recreated = (args: string[]): object => workload({ args, spec: { strategy: { type: 'Recreate' } } });
  const sets = (): Promise<ReplicaSet[]> => cluster.list<ReplicaSet>('replicasets', namespace);
  await stage.apply(namespace, recreated(['run']));
  await stage.counted(namespace, 1);
  await seenHealthy();
  const [healthy] = await sets();
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await Promise.all(running.map((one) => one.stop()));
  const maps = await cluster.list<{ metadata: { name: string }; data?: Record<string, string> }>(
    'configmaps',
    'tapfix',
  );
  const knowing = maps.filter(({ data }) => data?.['revisions']?.includes(healthy!.metadata.uid));
  assert.deepEqual(knowing.map(({ metadata }) => metadata.name.replace(/-\d$/, '')).sort(), [
    'tapfix-controller-history',
    'tapfix-watcher-history',
  ]);
  await start();
  await stage.apply(namespace, recreated(['crash']));
  const isReplaced = async (): Promise<boolean> => {
    const [one, other] = (await sets()).map(({ spec }) => spec.replicas).sort();
    return one === 0 && other === 1;
  };
  await cluster.waitFor('the rollout', isReplaced, 30_000);
  await Promise.all(running.map((one) => one.kill()));
  await start();
  const offered = async (): Promise<Remediation | undefined> =>
    (await cluster.list<Remediation>('remediations.tapfix.dev', namespace))[0];
  const fix = await cluster.waitFor(`a card in ${namespace}`, offered, 60_000);
  assert.equal(fix.spec.action?.type, 'RolloutUndo', fix.spec.rationale);
  await stage.rehearsed(namespace, fix.metadata.name);
  const confirmed = await stage.condition(namespace, fix.metadata.name, 'Confirmed');
  assert.equal(confirmed?.status, 'True', confirmed?.message);
});
