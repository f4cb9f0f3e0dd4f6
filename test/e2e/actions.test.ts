import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { createStage, type Live, mode, type Stage, workload, type WorkloadKind } from './support/acts.ts';
import { mintedBindings } from './support/scene.ts';
import { installResources, type Running, startProcess } from './support/tapfix.ts';

/**
 * Every action on a real cluster: something is really broken, a person proposes and approves with kubectl, the action
 * heals it. The audit log tells who changed what. The controller is the built program with its own account's rights.
 */
let cluster: Cluster;
let stage: Stage;
let controller: Running;

before(async () => {
  cluster = await joinCluster();
  stage = createStage(cluster);
  await installResources(cluster);
  controller = await startProcess({
    role: 'controller',
    kubeconfig: await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-controller'),
    config: { apiRoot: 'http://127.0.0.1:1', include: ['e2e-act-*'] },
  });
});
after(() => controller?.kill());

interface Act {
  class: string;
  kind: WorkloadKind | 'ResourceQuota';
  /** Until it is really broken. */
  break(namespace: string): Promise<unknown>;
  action(namespace: string, object: { kind: string; name: string; uid: string }): Promise<object> | object;
  /** In the audit log, by tapfix-writer. */
  writes(namespace: string): RegExp[];
}

const patched = (resource: string) => (): RegExp[] => [new RegExp(`^tapfix-writer patch ${resource} checkout$`)];
const evicted = /^tapfix-writer create pods\/eviction checkout-\S+$/;

/** Foreign hands at work on the same object: an injector, a GitOps tool that does not own it, kubectl, Helm. */
const foreign = {
  labels: { 'app.kubernetes.io/managed-by': 'Helm', 'istio.io/rev': '1-22' },
  annotations: {
    'argocd.argoproj.io/sync-wave': '5',
    'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
    'example.com/odd': ' two  spaces\tand a tab ',
  },
};
const injected = {
  'sidecar.istio.io/inject': 'true',
  'sidecar.istio.io/status': '{"initContainers":["istio-init"],"revision":"default"}',
  'kubectl.kubernetes.io/restartedAt': '2026-11-01T09:00:00+01:00',
};

async function badImage(namespace: string, init: boolean): Promise<void> {
  const initContainers = [{ name: 'migrate', image: 'localhost/app:typo', command: ['/bin/sleep', '0'] }];
  const bad = init ? { podSpec: { initContainers } } : { image: 'localhost/app:typo' };
  await stage.apply(namespace, workload({ args: ['run'], metadata: foreign, annotations: injected, ...bad }));
  await stage.counted(namespace, 0, 1);
}
const image =
  (container: string) =>
  (_: string, { name, uid }: { name: string; uid: string }) => ({
    type: 'PatchDeploymentImage',
    patchDeploymentImage: { name, uid, container, image: 'localhost/app:1.0' },
  });

/** Ready pods that went wrong with a ConfigMap, which is right again by now: they only have to be started anew. */
async function leftUnready(namespace: string, kind: WorkloadKind, replicas: number, which = '--all'): Promise<void> {
  await stage.apply(namespace, mode('run'), workload({ kind, replicas, metadata: foreign, annotations: injected }));
  const [first] = await stage.counted(namespace, kind === 'DaemonSet' ? 1 : replicas);
  await stage.apply(namespace, mode('unready'));
  const names = which === 'one' ? [first!.metadata.name] : ['--all'];
  await cluster.kubectl(['-n', namespace, 'delete', 'pod', ...names]);
  const count = kind === 'DaemonSet' ? 1 : replicas;
  const unready = which === 'one' ? 1 : count;
  // A StatefulSet waits for the first before it makes the second.
  await (kind === 'StatefulSet' && which !== 'one'
    ? stage.counted(namespace, 0, 1)
    : stage.counted(namespace, count - unready, unready));
  await stage.started(namespace);
  await stage.apply(namespace, mode('run'));
}
const restart = (kind: WorkloadKind, replicas: number, writes: Act['writes']): Act => ({
  class: 'ProbeFailing',
  kind,
  break: (namespace) => leftUnready(namespace, kind, replicas),
  action: (_, object) => ({ type: 'RolloutRestart', rolloutRestart: object }),
  writes,
});
const deletion = (kind: WorkloadKind, replicas: number): Act => ({
  class: 'ProbeFailing',
  kind,
  break: (namespace) => leftUnready(namespace, kind, replicas, 'one'),
  async action(namespace) {
    const { metadata } = (await stage.pods(namespace)).find((pod) => !stage.isReady(pod))!;
    return { type: 'DeletePod', deletePod: { name: metadata.name, uid: metadata.uid } };
  },
  writes: () => [evicted],
});

/** A second revision that crashes. */
const undo = (kind: WorkloadKind, spec: object, writes: Act['writes']): Act => ({
  class: 'RolloutStuck',
  kind,
  async break(namespace) {
    await stage.apply(namespace, workload({ kind, args: ['run'], metadata: foreign, annotations: injected, spec }));
    await stage.counted(namespace, 1);
    await stage.apply(namespace, workload({ kind, args: ['crash'], metadata: foreign, annotations: injected, spec }));
    await cluster.waitFor(
      'a pod that crashes',
      async () => (await stage.pods(namespace)).some((pod) => !stage.isReady(pod)),
      30_000,
    );
  },
  action: (_, object) => ({ type: 'RolloutUndo', rolloutUndo: { ...object, toRevision: 1 } }),
  writes,
});

const alone = { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector: { matchLabels: { app: 'checkout' } }, topologyKey: 'kubernetes.io/hostname' }] } }; // prettier-ignore

const acts: Readonly<Record<string, Act>> = {
  'an image that cannot be pulled': {
    class: 'ImagePull',
    kind: 'Deployment',
    break: (namespace) => badImage(namespace, false),
    action: image('app'),
    writes: patched('deployments'),
  },
  'an image of an init container': {
    class: 'ImagePull',
    kind: 'Deployment',
    break: (namespace) => badImage(namespace, true),
    action: image('migrate'),
    writes: patched('deployments'),
  },
  'a scale-up that one node cannot hold': {
    class: 'Unschedulable',
    kind: 'Deployment',
    break: async (namespace) => {
      const spec = { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } };
      await stage.apply(
        namespace,
        workload({ args: ['run'], replicas: 2, metadata: foreign, spec, podSpec: { affinity: alone } }),
      );
      await stage.counted(namespace, 1, 1);
    },
    action: (_, { name, uid }) => ({ type: 'ScaleDeployment', scaleDeployment: { name, uid, replicas: 1 } }),
    writes: patched('deployments'),
  },
  'a restart of a Deployment': restart('Deployment', 2, patched('deployments')),
  'a restart of a StatefulSet that waits for its pod': restart('StatefulSet', 1, () => [
    ...patched('statefulsets')(),
    evicted,
  ]),
  'a restart of a DaemonSet': restart('DaemonSet', 1, patched('daemonsets')),
  'one bad pod of a Deployment': deletion('Deployment', 2),
  'one bad pod of a StatefulSet': deletion('StatefulSet', 2),
  'the pod of a DaemonSet': deletion('DaemonSet', 1),
  'an undo of a Deployment': undo('Deployment', {}, patched('deployments')),
  'an undo of a StatefulSet': undo('StatefulSet', { podManagementPolicy: 'Parallel' }, patched('statefulsets')),
  'an undo of a StatefulSet that waits for its pod': undo('StatefulSet', {}, () => [
    ...patched('statefulsets')(),
    evicted,
  ]),
  'an undo of a DaemonSet': undo('DaemonSet', {}, patched('daemonsets')),
  'a quota': {
    class: 'QuotaExceeded',
    kind: 'ResourceQuota',
    break: async (namespace) => {
      const quota = {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'checkout' },
        spec: { hard: { pods: '0' } },
      };
      await stage.apply(namespace, quota);
      await cluster.waitFor(
        'the quota to count',
        async () =>
          (await cluster.get<{ status?: { hard?: object } }>('resourcequotas', namespace, 'checkout'))?.status?.hard,
        20_000,
      );
      await stage.apply(namespace, workload({ args: ['run'] }));
      await cluster.waitFor(
        'a refusal',
        async () =>
          (await cluster.list<{ reason: string }>('events', namespace)).some(({ reason }) => reason === 'FailedCreate'),
        20_000,
      );
    },
    action: (_, { name, uid }) => ({ type: 'DeleteResourceQuota', deleteResourceQuota: { name, uid } }),
    writes: () => [/^tapfix-writer delete resourcequotas checkout$/, /^tapfix-writer patch replicasets checkout-\w+$/],
  },
};

/** Proposed, rehearsed, approved, recovered; the record of it. */
async function mend(namespace: string, name: string, act: Pick<Act, 'class' | 'kind' | 'action'>) {
  const object = { kind: act.kind, name: 'checkout', uid: await stage.uidOf(namespace, act.kind) };
  await stage.propose(namespace, name, { class: act.class, object }, await act.action(namespace, object));
  const { status, reason, message } = await stage.rehearsed(namespace, name);
  assert.deepEqual([status, reason], ['True', 'Accepted'], message);
  await stage.approve(namespace, name);
  const fix = await stage.ended(namespace, name, 90_000);
  const { phase, conditions } = fix.status!;
  assert.equal(
    phase,
    'Recovered',
    `${conditions?.find(({ type }) => type === phase)?.message}\n${controller.log().slice(-1500)}`,
  );
  return fix;
}

/** What is nobody's but theirs who put it there; when it was restarted is a restart's to say. */
const theirs = ({ metadata, spec }: Live, isRestart = false) => {
  const {
    'tapfix.dev/fix': _mark,
    'deployment.kubernetes.io/revision': _revision,
    'deprecated.daemonset.template.generation': _generation,
    ...annotations
  } = metadata.annotations ?? {};
  const { 'kubectl.kubernetes.io/restartedAt': restartedAt, ...inTemplate } = spec.template.metadata.annotations ?? {};
  return { labels: metadata.labels, annotations, inTemplate, ...(!isRestart && { restartedAt }) };
};

describe('what is broken is mended', { concurrency: 4 }, () => {
  for (const [name, act] of Object.entries(acts))
    test(`${name}: rehearsed, approved, written once by the writer, recovered`, async () => {
      const namespace = await cluster.freshNamespace('e2e-act');
      await act.break(namespace);
      const before = await stage.read(namespace, act.kind);
      const fix = await mend(namespace, 'mend', act);
      const rehearsed = await stage.writes(namespace, true);
      // A nudge may be repeated until pods appear; nothing else is ever done twice.
      const real = (await stage.writes(namespace)).filter(
        (line, n, all) => !line.includes(' replicasets ') || all.indexOf(line) === n,
      );
      const wanted = act.writes(namespace);
      assert.equal(real.length, wanted.length, real.join(', '));
      for (const [n, words] of wanted.entries()) assert.match(real[n]!, words);
      assert.deepEqual(new Set(rehearsed), new Set(real));
      assert.deepEqual(await mintedBindings(cluster, namespace), []);
      const { undo = '' } = fix.status!.execution!;
      if (act.kind === 'ResourceQuota') {
        await cluster.kubectl(['-n', namespace, 'create', '-f', '-'], { input: undo.split('\n')[1]! });
        const quota = await cluster.get<{ spec: object }>('resourcequotas', namespace, 'checkout');
        return assert.deepEqual(quota?.spec, { hard: { pods: '0' } });
      }
      const mended = (await stage.read(namespace, act.kind))!;
      const isRestart = fix.spec.action?.type === 'RolloutRestart';
      assert.deepEqual(theirs(mended, isRestart), theirs(before!, isRestart));
      if (!real[0]!.includes('pods/eviction'))
        assert.equal(mended.metadata.annotations?.['tapfix.dev/fix'], fix.metadata.uid);
      if (!undo.startsWith('kubectl ')) return assert.match(undo, /^# nothing to undo/);
      await cluster.kubectl(undo.split(' ').slice(1));
      const { spec } = (await stage.read(namespace, act.kind))!;
      assert.deepEqual([spec.replicas, spec.template], [before!.spec.replicas, before!.spec.template], 'put back');
    });

  test('two after another on one Deployment, among foreign hands: both changes stand, and what is theirs is theirs', async () => {
    const namespace = await cluster.freshNamespace('e2e-act');
    await stage.apply(
      namespace,
      mode('run'),
      workload({
        image: 'localhost/app:typo',
        metadata: foreign,
        annotations: injected,
        spec: { strategy: { type: 'Recreate' } },
      }),
    );
    const theirShare = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'checkout' }, spec: { template: { metadata: { annotations: { 'vault.hashicorp.com/agent-inject': 'true' } } } } }; // prettier-ignore
    await cluster.kubectl(['-n', namespace, 'apply', '--server-side', '--field-manager=injector', '-f', '-'], {
      input: JSON.stringify(theirShare),
    });
    await stage.counted(namespace, 0, 1);
    const before = (await stage.read(namespace, 'Deployment'))!;
    await mend(namespace, 'first', { class: 'ImagePull', kind: 'Deployment', action: image('app') });
    await stage.apply(namespace, mode('unready'));
    await cluster.kubectl(['-n', namespace, 'delete', 'pod', '--all']);
    await stage.counted(namespace, 0, 1);
    await stage.started(namespace);
    await stage.apply(namespace, mode('run'));
    const second = await mend(
      namespace,
      'second',
      restart('Deployment', 1, () => []),
    );
    const after = (await stage.read(namespace, 'Deployment'))!;
    assert.deepEqual(theirs(after, true), theirs(before, true));
    assert.equal((after.spec.template.spec['containers'] as { image: string }[])[0]?.image, 'localhost/app:1.0');
    assert.notEqual(
      after.spec.template.metadata.annotations?.['kubectl.kubernetes.io/restartedAt'],
      injected['kubectl.kubernetes.io/restartedAt'],
    );
    assert.equal(after.metadata.annotations?.['tapfix.dev/fix'], second.metadata.uid);
    const shareOf = ({ metadata }: Live) =>
      metadata.managedFields?.find(({ manager }) => manager === 'injector')?.fieldsV1;
    const taken = ['"f:kubectl.kubernetes.io/restartedAt":{},', '"f:image":{},'];
    const rest = taken.reduce((text, field) => text.replace(field, ''), JSON.stringify(shareOf(before)));
    assert.equal(JSON.stringify(shareOf(after)), rest, 'of what the injector manages, tapfix took its own two fields');
    assert.ok(after.metadata.managedFields?.some(({ manager }) => manager === 'tapfix'));
    assert.deepEqual(await stage.writes(namespace), Array(2).fill('tapfix-writer patch deployments checkout'));
  });
});
