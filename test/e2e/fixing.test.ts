import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Remediation } from '../../src/kube/remediation.ts';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { createStage, mode, type Stage, workload, type WorkloadKind, type WorkloadOptions } from './support/acts.ts';
import { createCrowd } from './support/crowd.ts';
import { mintedBindings } from './support/scene.ts';
import { installResources, type Running, startProcess } from './support/tapfix.ts';

/** Two controllers at work at once, all the time: whatever is decided is done once, and what did not help is never called recovered. */
let cluster: Cluster;
let stage: Stage;
let controllers: Running[];

before(async () => {
  cluster = await joinCluster();
  stage = createStage(cluster);
  await installResources(cluster);
  const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-controller');
  const config = { apiRoot: 'http://127.0.0.1:1', include: ['e2e-fix-*'], recoveryTimeout: '20s' };
  controllers = await Promise.all([1, 2].map(() => startProcess({ role: 'controller', kubeconfig, config })));
});
after(() => Promise.all((controllers ?? []).map((controller) => controller.kill())));

type Target = { kind: string; name: string; uid: string };
const params = ({ name, uid }: Target) => ({ name, uid });
const image = (tag: string) => (target: Target) => ({
  type: 'PatchDeploymentImage',
  patchDeploymentImage: { ...params(target), container: 'app', image: `localhost/app:${tag}` },
});
const restart = (target: Target) => ({ type: 'RolloutRestart', rolloutRestart: target });
const undo = (target: Target) => ({ type: 'RolloutUndo', rolloutUndo: { ...target, toRevision: 1 } });
const scale = (replicas: number) => (target: Target) => ({
  type: 'ScaleDeployment',
  scaleDeployment: { ...params(target), replicas },
});

interface Stuck {
  kind?: WorkloadKind | 'ResourceQuota';
  class?: string;
  break(namespace: string): Promise<unknown>;
  action(target: Target, namespace: string): object | Promise<object>;
}

const make = (options: WorkloadOptions) => (namespace: string) =>
  stage.apply(namespace, mode('unready'), workload(options));
const isThere = (namespace: string) =>
  cluster.waitFor(`a pod in ${namespace}`, async () => (await stage.pods(namespace)).length > 0, 60_000);
const restarted = (namespace: string) =>
  cluster.waitFor(
    `a restart in ${namespace}`,
    async () => {
      const pods = await cluster.list<{ status: { containerStatuses?: { restartCount: number }[] } }>(
        'pods',
        namespace,
      );
      return pods.some(({ status }) => status.containerStatuses?.some(({ restartCount }) => restartCount > 0));
    },
    90_000,
  );
/** A revision that serves, then one that does not come up: the old pods go on. */
async function standstill(namespace: string): Promise<void> {
  await make({ args: ['run'], replicas: 2 })(namespace);
  await stage.counted(namespace, 2);
  await make({ args: ['run'], replicas: 2, image: 'localhost/app:typo' })(namespace);
  await stage.counted(namespace, 2, 1);
}

const stuck: Readonly<Record<string, Stuck>> = {
  'an undo to a revision that crashes': {
    class: 'RolloutStuck',
    break: async (namespace) => {
      await make({ args: ['crash'] })(namespace);
      await isThere(namespace);
      await make({ args: ['unready'] })(namespace);
    },
    action: undo,
  },
  'an image that cannot be pulled either': {
    class: 'ImagePull',
    break: make({ args: ['run'], image: 'localhost/app:typo' }),
    action: image('nowhere'),
  },
  'an image that does not come up while the old pods still serve': {
    class: 'RolloutStuck',
    break: standstill,
    action: image('nowhere'),
  },
  'a restart, and it is never ready; others in the namespace are fine': {
    break: async (namespace) => {
      await make({})(namespace);
      await stage.apply(namespace, workload({ name: 'fine', args: ['run'] }));
    },
    action: restart,
  },
  'a restart, and it is ready for 5 s at a time': {
    class: 'CrashLoop',
    break: (namespace) => make({ args: ['run-then-crash', '5'] })(namespace).then(() => restarted(namespace)),
    action: restart,
  },
  'a restart, and it dies after 20 s, as before': {
    class: 'CrashLoop',
    break: (namespace) => make({ args: ['run-then-crash', '20'] })(namespace).then(() => restarted(namespace)),
    action: restart,
  },
  'a restart of a StatefulSet, and others in the namespace are broken': {
    kind: 'StatefulSet',
    break: async (namespace) => {
      await make({ kind: 'StatefulSet' })(namespace);
      await stage.apply(namespace, workload({ name: 'broken', args: ['crash'] }));
    },
    action: restart,
  },
  'a restart of a DaemonSet that crashes': {
    kind: 'DaemonSet',
    class: 'CrashLoop',
    break: (namespace) => make({ kind: 'DaemonSet', args: ['crash'] })(namespace).then(() => restarted(namespace)),
    action: restart,
  },
  'a scaling, and what is left is not ready': {
    class: 'Unschedulable',
    break: make({ replicas: 2 }),
    action: scale(1),
  },
  'the deletion of a pod, and the next one is not ready either': {
    break: async (namespace) => {
      await make({})(namespace);
      await stage.counted(namespace, 0, 1);
    },
    async action(_, namespace) {
      const { name, uid } = (await stage.pods(namespace))[0]!.metadata;
      return { type: 'DeletePod', deletePod: { name, uid } };
    },
  },
};

const reasonOf = ({ status }: Remediation, type: string) =>
  status?.conditions?.find((one) => one.type === type)?.reason;

describe('what does not help is never called recovered', { concurrency: 10 }, () => {
  test('there are ten of them', () => assert.equal(Object.keys(stuck).length, 10));

  for (const [name, { kind = 'Deployment', class: failureClass = 'ProbeFailing', ...it }] of Object.entries(stuck))
    test(name, async () => {
      const namespace = await cluster.freshNamespace('e2e-fix');
      await it.break(namespace);
      const target = { kind, name: 'checkout', uid: await stage.uidOf(namespace, kind) };
      const action = await it.action(target, namespace);
      await stage.propose(namespace, 'mend', { class: failureClass, object: target }, action);
      const { status, message } = await stage.rehearsed(namespace, 'mend');
      assert.equal(status, 'True', message);
      await stage.approve(namespace, 'mend');
      const ended = await stage.ended(namespace, 'mend', 240_000);
      assert.deepEqual(
        [ended.status?.phase, reasonOf(ended, 'Failed')],
        ['Failed', 'NotRecovered'],
        JSON.stringify(ended.status?.conditions),
      );
      await sleep(15_000);
      assert.equal((await stage.fix(namespace, 'mend')).status?.phase, 'Failed');
      assert.deepEqual(await mintedBindings(cluster, namespace), []);
    });
});

/** Two people who may decide, each with rights of their own. */
async function people(namespace: string): Promise<string[]> {
  const names = ['ada', 'ben'];
  for (const name of names)
    await cluster.kubectl([
      '-n',
      namespace,
      'create',
      'rolebinding',
      `approver-${name}`,
      '--clusterrole=tapfix-approver',
      `--user=${name}`,
    ]);
  return Promise.all(names.map((name) => cluster.userKubeconfig(name)));
}

/** A Deployment that only its image keeps from running. */
async function mistyped(namespace: string): Promise<Target> {
  await make({ args: ['run'], image: 'localhost/app:typo' })(namespace);
  await stage.counted(namespace, 0, 1);
  return { kind: 'Deployment', name: 'checkout', uid: await stage.uidOf(namespace, 'Deployment') };
}

test('a thousand approvals of one proposal, by two people over fifty connections, two controllers: one decision, one execution', async () => {
  const namespace = await cluster.freshNamespace('e2e-fix');
  const object = await mistyped(namespace);
  const kubeconfigs = await people(namespace);
  await stage.propose(namespace, 'mend', { class: 'ImagePull', object }, image('1.0')(object));
  assert.equal((await stage.rehearsed(namespace, 'mend')).status, 'True');
  const path = `/apis/tapfix.dev/v1alpha1/namespaces/${namespace}/remediations/mend`;
  const crowds = await Promise.all(kubeconfigs.map((kubeconfig) => createCrowd(kubeconfig, 25)));
  const approvals = Array.from({ length: 1000 }, (_, n) =>
    crowds[n % 2]!.patch(path, {
      spec: { approval: { state: 'Approved', by: ['ada', 'ben'][n % 2], note: `tap ${n}` } },
    }),
  );
  const codes = await Promise.all(approvals);
  for (const crowd of crowds) crowd.close();
  const taken = codes.flatMap((code, n) => (code === 200 ? [n] : []));
  assert.equal(
    taken.length,
    1,
    JSON.stringify(
      Object.groupBy(codes.map(String), (code) => code),
      (_, value: unknown) => (Array.isArray(value) ? value.length : value),
    ),
  );
  const ended = await stage.ended(namespace, 'mend', 120_000);
  assert.equal(ended.spec.approval.note, `tap ${taken[0]}`);
  assert.equal(ended.status?.phase, 'Recovered', JSON.stringify(ended.status?.conditions));
  assert.deepEqual(await stage.writes(namespace), ['tapfix-writer patch deployments checkout']);
  assert.deepEqual(await mintedBindings(cluster, namespace), []);
});

/** Either of two fixes puts it right: what is left for the other to do is nothing. */
async function spoiled(namespace: string): Promise<Target> {
  await make({ args: ['run'] })(namespace);
  await stage.counted(namespace, 1);
  await make({ args: ['run'], image: 'localhost/app:typo' })(namespace);
  await stage.counted(namespace, 1, 1);
  return { kind: 'Deployment', name: 'checkout', uid: await stage.uidOf(namespace, 'Deployment') };
}

test('two proposals for one target, approved at once by two people, two controllers: one execution', async () => {
  const namespace = await cluster.freshNamespace('e2e-fix');
  const object = await spoiled(namespace);
  const kubeconfigs = await people(namespace);
  const proposals = { first: image('1.0')(object), second: undo(object) };
  const names = Object.keys(proposals);
  for (const [name, action] of Object.entries(proposals))
    await stage.propose(namespace, name, { class: 'ImagePull', object }, action);
  for (const name of names) assert.equal((await stage.rehearsed(namespace, name)).status, 'True');
  const crowds = await Promise.all(kubeconfigs.map((kubeconfig) => createCrowd(kubeconfig, 1)));
  const codes = await Promise.all(
    names.map((name, n) =>
      crowds[n]!.patch(`/apis/tapfix.dev/v1alpha1/namespaces/${namespace}/remediations/${name}`, {
        spec: { approval: { state: 'Approved', by: ['ada', 'ben'][n] } },
      }),
    ),
  );
  for (const crowd of crowds) crowd.close();
  assert.deepEqual(codes, [200, 200]);
  const ended = await Promise.all(names.map((name) => stage.ended(namespace, name, 120_000)));
  const phases = ended.map(({ status }) => status?.phase);
  const why = JSON.stringify(ended.map(({ status }) => status?.conditions));
  assert.equal(phases.filter((phase) => phase === 'Recovered').length, 1, why);
  assert.deepEqual(await stage.writes(namespace), ['tapfix-writer patch deployments checkout'], why);
  assert.deepEqual(await mintedBindings(cluster, namespace), []);
});
