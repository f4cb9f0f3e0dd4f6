import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Cluster, joinCluster } from '../cluster/cluster.ts';
import { createStage, mode, type Stage, workload, type WorkloadKind } from './support/acts.ts';
import { installResources, type Running, startProcess } from './support/tapfix.ts';

/** What no action is done to, on a real cluster: refused by its name at the rehearsal, or when it comes to it. */
let cluster: Cluster;
let stage: Stage;
let controller: Running;
let shop: string;

const protectedLabel = { labels: { 'tapfix.dev/protected': 'true' } };
const argo = { labels: { 'argocd.argoproj.io/instance': 'shop' } };
const onDelete = { updateStrategy: { type: 'OnDelete' } };
const off = { nodeSelector: { 'no-such': 'node' } };

/** They need not run: what is refused is refused by what they are. */
const things: object[] = [
  mode('run'),
  workload({ name: 'plain', args: ['run'], podSpec: off }),
  workload({ name: 'guarded', args: ['run'], podSpec: off, metadata: protectedLabel }),
  workload({ name: 'git', args: ['run'], podSpec: off, metadata: argo }),
  workload({ name: 'paused', args: ['run'], podSpec: off, spec: { paused: true } }),
  workload({ name: 'scaled', args: ['run'], podSpec: off }),
  {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'auto' },
    spec: {
      minReplicas: 1,
      maxReplicas: 2,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'scaled' },
    },
  },
  workload({ name: 'set', kind: 'StatefulSet', args: ['run'], podSpec: off }),
  workload({ name: 'set-git', kind: 'StatefulSet', args: ['run'], podSpec: off, metadata: argo }),
  workload({ name: 'set-by-hand', kind: 'StatefulSet', args: ['run'], podSpec: off, spec: onDelete }),
  workload({ name: 'daemon-by-hand', kind: 'DaemonSet', args: ['run'], podSpec: off, spec: onDelete }),
  workload({ name: 'daemon-guarded', kind: 'DaemonSet', args: ['run'], podSpec: off, metadata: protectedLabel }),
  workload({ name: 'kept', args: ['run'] }),
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'keep' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'kept' } } },
  },
  ...Object.entries({ roomy: {}, 'roomy-guarded': protectedLabel, 'roomy-git': argo }).map(([name, metadata]) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name, ...metadata },
    spec: { hard: { services: '90' } },
  })),
  {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'alone' },
    spec: { containers: [{ name: 'app', image: 'localhost/app:1.0' }], ...off },
  },
  {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'job' },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'localhost/app:1.0' }], ...off } },
    },
  },
];

before(async () => {
  cluster = await joinCluster();
  stage = createStage(cluster);
  await installResources(cluster);
  controller = await startProcess({
    role: 'controller',
    kubeconfig: await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-controller'),
    config: { apiRoot: 'http://127.0.0.1:1', include: ['e2e-no-*'] },
  });
  shop = await cluster.freshNamespace('e2e-no');
  await stage.apply(shop, ...things);
  await cluster.waitFor(
    'the budget to be counted',
    async () => {
      const budget = await cluster.get<{ status?: { currentHealthy?: number } }>('poddisruptionbudgets', shop, 'keep');
      return budget?.status?.currentHealthy === 1;
    },
    60_000,
  );
});
after(() => controller?.kill());

const podOf = async (name: string) => {
  const found = (await stage.pods(shop)).find(
    ({ metadata }) => metadata.name === name || metadata.name.startsWith(`${name}-`),
  );
  return found!.metadata;
};

type Params = { name: string; uid: string };
type Make = (target: Params) => object;
const image =
  (container = 'app'): Make =>
  (target) => ({
    type: 'PatchDeploymentImage',
    patchDeploymentImage: { ...target, container, image: 'localhost/app:1.1' },
  });
const scale =
  (replicas: number): Make =>
  (target) => ({ type: 'ScaleDeployment', scaleDeployment: { ...target, replicas } });
const restart =
  (kind: WorkloadKind): Make =>
  (target) => ({ type: 'RolloutRestart', rolloutRestart: { kind, ...target } });
const undo =
  (kind: WorkloadKind, toRevision = 7): Make =>
  (target) => ({ type: 'RolloutUndo', rolloutUndo: { kind, ...target, toRevision } });
const deletePod = ({ name, uid }: Params) => ({ type: 'DeletePod', deletePod: { name, uid } });

const another = '3f9a1c00-0000-4000-8000-000000000001';
const deleteQuota: Make = (target) => ({ type: 'DeleteResourceQuota', deleteResourceQuota: target });
const rehearsals: [string, WorkloadKind | 'ResourceQuota', string, Make, string, string?][] = [
  ['a quota of that name that came later', 'ResourceQuota', 'roomy', deleteQuota, 'TargetGone', another],
  ['a protected quota', 'ResourceQuota', 'roomy-guarded', deleteQuota, 'Protected'],
  ['a quota that Argo CD would put back', 'ResourceQuota', 'roomy-git', deleteQuota, 'GitOpsOwned'],
  ['an image of another Deployment of that name', 'Deployment', 'plain', image(), 'TargetGone', another],
  ['an image of a container that is not there', 'Deployment', 'plain', image('sidecar'), 'UnknownContainer'],
  ['an image of a protected Deployment', 'Deployment', 'guarded', image(), 'Protected'],
  ['an image that Argo CD would put back', 'Deployment', 'git', image(), 'GitOpsOwned'],
  ['an image of a paused Deployment', 'Deployment', 'paused', image(), 'Paused'],
  ['a scaling of another Deployment of that name', 'Deployment', 'plain', scale(3), 'TargetGone', another],
  ['a scaling of a protected Deployment', 'Deployment', 'guarded', scale(3), 'Protected'],
  ['a scaling that Argo CD would put back', 'Deployment', 'git', scale(3), 'GitOpsOwned'],
  ['a scaling that an autoscaler would put back', 'Deployment', 'scaled', scale(2), 'Autoscaled'],
  [
    'a restart of another StatefulSet of that name',
    'StatefulSet',
    'set',
    restart('StatefulSet'),
    'TargetGone',
    another,
  ],
  ['a restart of a paused Deployment', 'Deployment', 'paused', restart('Deployment'), 'Paused'],
  ['a restart of a protected DaemonSet', 'DaemonSet', 'daemon-guarded', restart('DaemonSet'), 'Protected'],
  [
    'a restart of a StatefulSet that is updated by hand',
    'StatefulSet',
    'set-by-hand',
    restart('StatefulSet'),
    'OnDelete',
  ],
  ['a restart of a DaemonSet that is updated by hand', 'DaemonSet', 'daemon-by-hand', restart('DaemonSet'), 'OnDelete'],
  ['a restart of what Argo CD owns', 'Deployment', 'git', restart('Deployment'), 'Accepted'],
  ['an undo of another StatefulSet of that name', 'StatefulSet', 'set', undo('StatefulSet'), 'TargetGone', another],
  ['an undo that Argo CD would put back', 'StatefulSet', 'set-git', undo('StatefulSet'), 'GitOpsOwned'],
  ['an undo of a protected DaemonSet', 'DaemonSet', 'daemon-guarded', undo('DaemonSet'), 'Protected'],
  ['an undo to a revision that is not kept', 'StatefulSet', 'set', undo('StatefulSet'), 'RevisionGone'],
  ['an undo of a paused Deployment', 'Deployment', 'paused', undo('Deployment'), 'Paused'],
];

/** Of a pod, and what the incident is about. */
const evictions: [string, string, [string, string], string, string?][] = [
  ['a pod without an owner', 'alone', ['Pod', 'alone'], 'NoOwner'],
  ["a Job's pod", 'job', ['Job', 'job'], 'JobPod'],
  ['a pod that a disruption budget keeps', 'kept', ['Deployment', 'kept'], 'BudgetExhausted'],
  ['a pod of a protected Deployment', 'guarded', ['Deployment', 'guarded'], 'Protected'],
  ['another pod of that name', 'plain', ['Deployment', 'plain'], 'TargetGone', another],
  ["another workload's pod", 'kept', ['Deployment', 'plain'], 'WrongTarget'],
  ['a pod of what Argo CD owns', 'git', ['Deployment', 'git'], 'Accepted'],
];

async function rehearse(name: string, object: object, action: object): Promise<string> {
  await stage.propose(shop, name, { class: 'ProbeFailing', object }, action);
  const { reason, message } = await stage.rehearsed(shop, name);
  assert.ok(message.length > 10);
  return reason;
}

describe('refused at the rehearsal', { concurrency: 4 }, () => {
  for (const [n, [what, kind, name, make, want, uid]] of rehearsals.entries())
    test(`${what}: ${want}`, async () => {
      const target = { name, uid: uid ?? (await stage.uidOf(shop, kind, name)) };
      assert.equal(await rehearse(`workload-${n}`, { kind, ...target }, make(target)), want);
    });
  for (const [n, [what, pod, [kind, name], want, uid]] of evictions.entries())
    test(`${what}: ${want}`, async () => {
      const { name: podName, uid: podUid } = await podOf(pod);
      const object = { kind, name: name === 'alone' ? podName : name, uid: await stage.uidOf(shop, kind, name) };
      assert.equal(await rehearse(`pod-${n}`, object, deletePod({ name: podName, uid: uid ?? podUid })), want);
    });

  test('more replicas than fifty, or a kind that is not rolled out, cannot even be proposed', async () => {
    const target = { name: 'plain', uid: await stage.uidOf(shop, 'Deployment', 'plain') };
    const refused = async (action: object) => {
      const body = stage.proposal(shop, 'never', { object: { kind: 'Deployment', ...target } }, action);
      return cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(body), expectFailure: true });
    };
    assert.match(await refused(scale(51)(target)), /scaleDeployment\.replicas.*less than or equal to 50/);
    assert.match(await refused(scale(-1)(target)), /greater than or equal to 0/);
    assert.match(await refused(restart('Job' as never)(target)), /Unsupported value: "Job"/);
    assert.match(
      await refused({ ...deletePod(target), ...image()(target) }),
      /deletePod is required by type DeletePod/,
    );
    const spaced = {
      type: 'PatchDeploymentImage',
      patchDeploymentImage: { ...target, container: 'app', image: 'a b' },
    };
    assert.match(await refused(spaced), /patchDeploymentImage\.image/);
  });
});

const crashing = { args: ['crash'] };
const meddlings: [string, WorkloadKind, Make, object, string][] = [
  [
    'an image',
    'Deployment',
    image(),
    { template: { spec: { containers: [{ name: 'app', image: 'localhost/app:2.0' }] } } },
    'TargetChanged',
  ],
  ['a scaling', 'Deployment', scale(3), { replicas: 2 }, 'TargetChanged'],
  [
    'a restart',
    'Deployment',
    restart('Deployment'),
    { template: { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } } } },
    'TargetChanged',
  ],
  [
    'an undo',
    'StatefulSet',
    undo('StatefulSet', 1),
    { template: { spec: { containers: [{ name: 'app', args: ['oom'] }] } } },
    'TargetChanged',
  ],
  ['a pause', 'Deployment', image(), { paused: true }, 'Paused'],
];

/** Shown, then changed by somebody, and only then approved: why it came to nothing. */
async function approvedLate(
  namespace: string,
  failureClass: string,
  object: object,
  action: object,
  meddle: () => Promise<unknown>,
): Promise<string | undefined> {
  await stage.propose(namespace, 'mend', { class: failureClass, object }, action);
  const { reason, message } = await stage.rehearsed(namespace, 'mend');
  assert.equal(reason, 'Accepted', message);
  await meddle();
  await stage.approve(namespace, 'mend');
  const { status } = await stage.ended(namespace, 'mend');
  assert.equal(status?.phase, 'Failed', JSON.stringify(status?.conditions));
  assert.deepEqual(await stage.writes(namespace), []);
  return status.conditions?.find(({ type }) => type === 'Failed')?.reason;
}

/** A pod of a StatefulSet: the next one has its name. */
async function podOfSet(namespace: string) {
  await stage.apply(namespace, workload({ kind: 'StatefulSet', args: ['unready'] }));
  await stage.counted(namespace, 0, 1);
  await stage.started(namespace);
  const { name, uid } = (await stage.pods(namespace))[0]!.metadata;
  const object = { kind: 'StatefulSet', name: 'checkout', uid: await stage.uidOf(namespace, 'StatefulSet') };
  return { object, pod: { name, uid } };
}

const isQuotaRefusing = async (namespace: string): Promise<boolean> =>
  (await cluster.list<{ reason: string }>('events', namespace)).some(({ reason }) => reason === 'FailedCreate');

describe('changed since it was shown', { concurrency: 3 }, () => {
  for (const [what, kind, make, patch, want] of meddlings)
    test(`${what}: ${want}, and nothing is written`, async () => {
      const namespace = await cluster.freshNamespace('e2e-no');
      if (what === 'an undo') await stage.apply(namespace, workload({ kind, args: ['unready'] }));
      if (what === 'an undo') await stage.counted(namespace, 0, 1);
      await stage.apply(namespace, workload({ kind, ...crashing }));
      const target = { name: 'checkout', uid: await stage.uidOf(namespace, kind) };
      const meddle = () =>
        cluster.kubectl(['-n', namespace, 'patch', kind, 'checkout', '-p', JSON.stringify({ spec: patch })]);
      assert.equal(await approvedLate(namespace, 'RolloutStuck', { kind, ...target }, make(target), meddle), want);
    });

  test('a quota with other limits: TargetChanged, and it is still there', async () => {
    const namespace = await cluster.freshNamespace('e2e-no');
    const quota = (hard: object) => ({
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'tight' },
      spec: { hard },
    });
    const read = () =>
      cluster.get<{ metadata: { uid: string }; status?: { hard?: object } }>('resourcequotas', namespace, 'tight');
    await stage.apply(namespace, quota({ pods: '0' }));
    await cluster.waitFor('the quota to count', async () => (await read())?.status?.hard, 20_000);
    await stage.apply(namespace, workload({ args: ['run'] }));
    await cluster.waitFor('a refusal', () => isQuotaRefusing(namespace), 20_000);
    const target = { name: 'tight', uid: (await read())!.metadata.uid };
    const object = { kind: 'ResourceQuota', ...target };
    const meddle = () => stage.apply(namespace, quota({ pods: '0', services: '5' }));
    assert.equal(await approvedLate(namespace, 'QuotaExceeded', object, deleteQuota(target), meddle), 'TargetChanged');
    assert.equal((await read())?.metadata.uid, target.uid);
  });

  test('a pod with another image: TargetChanged, and it lives', async () => {
    const namespace = await cluster.freshNamespace('e2e-no');
    const { object, pod } = await podOfSet(namespace);
    const spec = { containers: [{ name: 'app', image: 'localhost/app:2.0' }] };
    const meddle = () => cluster.kubectl(['-n', namespace, 'patch', 'pod', pod.name, '-p', JSON.stringify({ spec })]);
    assert.equal(await approvedLate(namespace, 'ProbeFailing', object, deletePod(pod), meddle), 'TargetChanged');
    assert.deepEqual(
      (await stage.pods(namespace)).map(({ metadata }) => metadata.uid),
      [pod.uid],
    );
  });

  test('a pod that came in its place, with its name: TargetGone, and it lives', async () => {
    const namespace = await cluster.freshNamespace('e2e-no');
    const { object, pod } = await podOfSet(namespace);
    const next = async () => (await stage.pods(namespace)).find(({ metadata }) => metadata.uid !== pod.uid)?.metadata;
    const meddle = async () => {
      await cluster.kubectl(['-n', namespace, 'delete', 'pod', pod.name]);
      return cluster.waitFor('the next pod', next, 30_000);
    };
    assert.equal(await approvedLate(namespace, 'ProbeFailing', object, deletePod(pod), meddle), 'TargetGone');
    assert.equal((await next())?.name, pod.name);
  });
});

test('nothing was written for any of them', async () => assert.deepEqual(await stage.writes(shop), []));

test('the API server holds the writer to it: one action at a time, fifty replicas, evictions by uid, no deletion', async () => {
  const subject = '--serviceaccount=tapfix:tapfix-writer';
  for (const role of ['workloads', 'pods'])
    await cluster.kubectl(['-n', shop, 'create', 'rolebinding', role, `--clusterrole=tapfix-writer-${role}`, subject]);
  const kubeconfig = await cluster.serviceAccountKubeconfig('tapfix', 'tapfix-writer');
  const pod = await podOf('git');
  const evict = (preconditions: object): [string[], object] => [
    ['create', '--raw', `/api/v1/namespaces/${shop}/pods/${pod.name}/eviction?dryRun=All`, '-f', '-'],
    {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: pod.name, namespace: shop },
      deleteOptions: { preconditions },
    },
  ];
  const run = ([args, input]: [string[], object], expectFailure = false) =>
    cluster.kubectl(args, { kubeconfig, input: JSON.stringify(input), expectFailure });
  // kubectl reads before it patches, which the writer may not: its rights are the writes alone.
  const patch = (kind: string, name: string, spec: object): [string[], object] => [
    ['-n', shop, 'patch', kind, name, '--dry-run=server', '-p', JSON.stringify({ spec })],
    {},
  ];
  await cluster.kubectl(['-n', shop, 'create', 'rolebinding', 'look', '--clusterrole=tapfix-reader', subject]);
  await cluster.waitFor('the rights to be known', () => run(patch('deployment', 'plain', { replicas: 2 })), 20_000);
  const template = { metadata: { annotations: { a: 'b' } } };
  await run(patch('deployment', 'plain', { template }));
  await run(patch('statefulset', 'set', { template }));
  await run(evict({ uid: pod.uid }));
  assert.match(await run(patch('deployment', 'plain', { replicas: 51 }), true), /scales to 50 replicas at most/);
  assert.match(
    await run(patch('deployment', 'plain', { replicas: 2, template }), true),
    /only annotations and spec\.template or spec\.replicas/,
  );
  assert.match(await run(patch('statefulset', 'set', { replicas: 2 }), true), /only annotations and spec\.template/);
  assert.match(
    await run(patch('daemonset', 'daemon-by-hand', { updateStrategy: { type: 'RollingUpdate' } }), true),
    /only annotations and spec\.template/,
  );
  assert.match(await run(patch('daemonset', 'daemon-guarded', { template }), true), /protected by its label/);
  assert.match(await run(evict({}), true), /evicts only the pod that it names by its uid/);
  assert.match(await run([['-n', shop, 'delete', 'pod', pod.name, '--dry-run=server'], {}], true), /cannot delete/);
  await cluster.kubectl(['label', 'namespace', shop, 'tapfix.dev/protected=true']);
  await cluster.waitFor(
    'the namespace to be protected',
    async () => /is protected/.test(await run(evict({ uid: pod.uid }), true)),
    20_000,
  );
});
