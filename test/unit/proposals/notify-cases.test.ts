import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classNames } from '../../../src/config/schema.ts';
import { ApiError } from '../../../src/kube/api.ts';
import { cases } from '../../../src/proposals/derive.ts';
import { aRollout, killed, waiting } from '../../support/rollout.ts';

const shown = ({ diagnosis, evidence, rationale }: { diagnosis: string; evidence: string[]; rationale: string }) => ({
  why: diagnosis,
  seen: evidence,
  fix: rationale,
});

test('every class there is has a case of its own', () =>
  assert.deepEqual(Object.keys(cases).sort(), [...classNames].sort()));

const unplaced = (message: string) => ({
  state: undefined as never,
  spec: { containers: [{ name: 'app', resources: { requests: { cpu: '4' } } }] },
  status: {
    phase: 'Pending',
    containerStatuses: [],
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  },
});
const noCpu = unplaced('0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {gpu: true}.');
const scaledAt = (time: string, manager = 'kubectl') => ({
  metadata: { managedFields: [{ manager, subresource: 'scale', time, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] },
});

const scales: { name: string; deployment?: object; autoscaler?: boolean; want: string }[] = [
  { name: 'nobody scaled it', want: 'no recent scale-up' },
  { name: 'an autoscaler owns it', autoscaler: true, want: 'no recent scale-up, and an autoscaler owns the replicas' },
  {
    name: 'somebody scaled it after it was made',
    deployment: scaledAt('2026-11-16T03:13:00Z'),
    want: 'it was scaled at 2026-11-16T03:13:00.000Z, but nothing tells that this was a scale-up',
  },
  {
    name: 'an autoscaler did',
    deployment: scaledAt('2026-11-16T03:13:00Z'),
    autoscaler: true,
    want: 'it was scaled at 2026-11-16T03:13:00.000Z, and an autoscaler owns the replicas',
  },
];
for (const { name, deployment, autoscaler, want } of scales)
  test(`Unschedulable, ${name}: ${want}`, async () => {
    const { server, ask, clock } = aRollout({
      pods: [noCpu, noCpu, unplaced('odd')],
      ...(deployment && { deployment }),
    });
    if (autoscaler)
      server.seed('HorizontalPodAutoscaler', 'shop', {
        metadata: { name: 'web' },
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
      });
    await clock.advance(120_000);
    assert.deepEqual(shown((await ask('Unschedulable', { nowMs: clock.now() }))!), {
      why: '5 nodes: 3 have too little cpu (needs 4), 2 have taint gpu',
      seen: ['odd', 'all 3 pods wait for a node'],
      fix: want,
    });
  });

test('a scale of yesterday is not recent', async () => {
  const { ask, clock } = aRollout({ pods: [noCpu], deployment: scaledAt('2026-11-16T03:13:00Z') });
  assert.equal((await ask('Unschedulable', { nowMs: clock.now() + 86_400_000 }))?.rationale, 'no recent scale-up');
});

test('a failing probe: what it got, how many run and are not ready, and that they restart', async () => {
  const { say, ask } = aRollout({ pods: [{ restarts: 2 }, {}], oldPods: [{ ready: true }] });
  say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  assert.deepEqual(shown((await ask('ProbeFailing'))!), {
    why: 'readiness probe: HTTP 503',
    seen: ['2 of 3 pods run and are not ready', '2 restarts of them'],
    fix: '1 of 3 pods is ready, so it is not all of them',
  });
});

const ended = { reason: 'Error', exitCode: 137, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const looping = { restarts: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: ended } };
const kubelets: { reason: string; message: string; want: string }[] = [
  { reason: 'Unhealthy', message: 'Liveness probe failed: HTTP probe failed with statuscode: 500', want: '; liveness probe: HTTP 500' },
  { reason: 'Unhealthy', message: 'Readiness probe failed: HTTP probe failed with statuscode: 500', want: '' },
  { reason: 'FailedPostStartHook', message: 'PostStartHook failed', want: '; its post-start hook fails' },
]; // prettier-ignore
for (const { reason, message, want } of kubelets)
  test(`a container that is ended ${want ? 'by its kubelet: why' : 'for another reason than its readiness: not that'}: ${message}`, async () => {
    const { say, ask, clock } = aRollout({ pods: [looping] });
    say(reason, message);
    const why = 'container app exits 137 (SIGKILL) after 20 s';
    assert.equal((await ask('CrashLoop'))?.diagnosis, `${why}${want}`);
    assert.equal(
      (await ask('CrashLoop', { nowMs: clock.now() + 3_600_000 }))?.diagnosis,
      why,
      'an hour later it is history',
    );
  });

test('an autoscaler says what it cannot do: see, or scale; one that is switched off can do both', async () => {
  const { server, ask } = aRollout();
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: '2026-11-16T03:07:00Z',
  });
  const able = condition('AbleToScale', 'True', 'SucceededGetScale', 'x');
  server.seed('HorizontalPodAutoscaler', 'shop', {
    metadata: { name: 'h' },
    spec: { maxReplicas: 4, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
  });
  const why = async (...conditions: object[]) => {
    server.change('HorizontalPodAutoscaler', 'shop', 'h', { status: { conditions } });
    return (await ask('AutoscalerBlind', {}, { kind: 'HorizontalPodAutoscaler', name: 'h' }))?.diagnosis;
  };
  assert.equal(
    await why(
      able,
      condition(
        'ScalingActive',
        'False',
        'FailedGetResourceMetric',
        'failed to get cpu utilization: missing request for cpu',
      ),
    ),
    'it cannot read cpu: its pods make no request for cpu, since 2026-11-16T03:07:00.000Z',
  );
  assert.equal(
    await why(
      condition(
        'AbleToScale',
        'False',
        'FailedGetScale',
        'the HPA controller was unable to get the target\'s current scale: deployments.apps "web" not found',
      ),
    ),
    'deployment web, which it should scale, does not exist, since 2026-11-16T03:07:00.000Z',
  );
  assert.equal(
    await why(able, condition('ScalingActive', 'False', 'ScalingDisabled', 'x')),
    'it cannot read its metrics',
  );
});

const claims: { name: string; claim: object; events?: [string, string][]; want: string }[] = [
  { name: 'its provisioner', claim: { spec: { storageClassName: 'gp3' }, status: { phase: 'Pending' } }, events: [['ProvisioningFailed', 'failed to provision volume with StorageClass "gp3": rpc error: code = X desc = full']], want: 'StorageClass gp3 makes no volume: full' },
  { name: 'its phase', claim: { status: { phase: 'Lost' } }, want: 'the volume it was bound to is gone' },
  { name: 'what it does not name', claim: { status: { phase: 'Pending' } }, want: 'it names no StorageClass, and no volume fits it' },
  { name: 'nobody', claim: { spec: { storageClassName: 'gp3' }, status: { phase: 'Pending' } }, want: 'the claim has no volume, and nobody says why' },
]; // prettier-ignore
for (const { name, claim, events = [], want } of claims)
  test(`a claim without a volume, by ${name}: ${want}`, async () => {
    const { server, ask } = aRollout();
    const { uid } = server.seed('PersistentVolumeClaim', 'shop', { metadata: { name: 'data' }, ...claim }).metadata;
    for (const [reason, message] of events)
      server.seed('Event', 'shop', {
        metadata: { name: 'e' },
        reason,
        message,
        involvedObject: { kind: 'PersistentVolumeClaim', name: 'data', uid },
      });
    assert.equal((await ask('StorageFailed', {}, { kind: 'PersistentVolumeClaim', name: 'data' }))?.diagnosis, want);
  });

test('no sandbox: why, and on which node', async () => {
  const creating = { ...waiting('ContainerCreating'), spec: { nodeName: 'worker-3' } };
  const { say, ask } = aRollout({ pods: [creating], oldPods: [{ ready: true }] });
  say(
    'FailedCreatePodSandBox',
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a": plugin type="calico" failed (add): no',
  );
  assert.deepEqual(shown((await ask('SandboxFailed'))!), {
    why: 'the network plugin calico fails: no',
    seen: ['1 of 2 pods cannot start', 'on node worker-3'],
    fix: 'Nothing of it runs; it is evicted and made anew, maybe on another node. Nothing to put back: ReplicaSet web-2 makes a new pod.',
  });
  const root = aRollout({
    pods: [waiting('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root')],
  });
  assert.equal((await root.ask('SandboxFailed'))?.diagnosis, 'container app may not run as root, and its image does');
});

test('evictions: why, how many, from where; a pod that is well is none', async () => {
  const evicted = (nodeName: string) => ({
    spec: { nodeName },
    status: {
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. ',
      containerStatuses: [],
    },
  });
  const { ask } = aRollout({ pods: [evicted('a'), evicted('b'), { ready: true }] });
  assert.deepEqual(shown((await ask('Evicted'))!), {
    why: 'the node was low on memory (20Mi left, it keeps 100Mi free)',
    seen: ['2 pods were evicted', 'on 2 nodes: a, b'],
    fix: 'nothing safe to do by a tap',
  });
});

test('a refusal is that of the ReplicaSet there is now, not of one that was replaced', async () => {
  const { server, say, ask } = aRollout();
  say('FailedCreate', 'Error creating: pods "web-1-x" is forbidden: violates PodSecurity "baseline:latest": x', {
    kind: 'ReplicaSet',
    name: 'web-1',
  });
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: "pods \"web-2-x\" is forbidden: ValidatingAdmissionPolicy 'labels' denied request: needs an owner" }]; // prettier-ignore
  server.change('ReplicaSet', 'shop', 'web-2', { status: { conditions } });
  assert.deepEqual(shown((await ask('CreateRejected'))!), {
    why: 'policy labels refuses its pods: needs an owner',
    seen: [],
    fix: 'a rule is changed by those who set it, not by a tap',
  });
});

const nodeWith = (status: string, message: string, over: object = {}) => ({
  metadata: { name: 'worker-3' },
  status: {
    conditions: [
      { type: 'Ready', status, message, lastTransitionTime: '2026-11-16T03:11:20Z' },
      ...((over as { also?: object[] }).also ?? []),
    ],
  },
});
const nodes: { name: string; node: object; want: string }[] = [
  {
    name: 'silence',
    node: nodeWith('Unknown', 'Kubelet stopped posting node status.'),
    want: 'kubelet has not posted its status since 2026-11-16T03:11:20.000Z',
  },
  {
    name: 'its own word',
    node: nodeWith('False', 'container runtime is down'),
    want: 'kubelet says that it is not ready since 2026-11-16T03:11:20.000Z: container runtime is down',
  },
  {
    name: 'pressure',
    node: nodeWith('False', 'x', {
      also: [
        { type: 'DiskPressure', status: 'True' },
        { type: 'MemoryPressure', status: 'False' },
      ],
    }),
    want: 'kubelet says that it is not ready since 2026-11-16T03:11:20.000Z: x; the node is short of disk',
  },
];
for (const { name, node, want } of nodes)
  test(`a node, by ${name}: ${want}`, async () => {
    const { server, ask } = aRollout({ pods: [{ spec: { nodeName: 'worker-3' } }, { spec: { nodeName: 'other' } }] });
    server.seed('Node', undefined, node);
    server.seed('Pod', 'kube-system', { metadata: { name: 'proxy' }, spec: { nodeName: 'worker-3' } });
    const found = await ask('NodeDown', {}, { kind: 'Node', name: 'worker-3' }, 'tapfix');
    assert.deepEqual(shown(found!), {
      why: want,
      seen: ['1 pod of 1 workload: shop/web 1'],
      fix: 'nothing is done to nodes by a tap',
    });
  });

test('a node whose pods may not be listed is told without them; one that is gone is gone', async () => {
  const { server, ask } = aRollout();
  server.seed('Node', undefined, nodeWith('Unknown', ''));
  server.hooks.before = ({ kind, verb }) => {
    if (kind === 'Pod' && verb === 'list') throw new ApiError('no', 403, 'Forbidden');
  };
  assert.deepEqual((await ask('NodeDown', {}, { kind: 'Node', name: 'worker-3' }, 'tapfix'))?.evidence, []);
  assert.equal(await ask('NodeDown', {}, { kind: 'Node', name: 'nobody' }, 'tapfix'), undefined);
});

test('of a class that nobody knows nothing is derived', async () =>
  assert.equal(await aRollout({ pods: [{}] }).ask('BackupFailed'), undefined));

for (const failureClass of classNames)
  test(`${failureClass}: two readings say the same, nothing is written, and what is gone is gone`, async () => {
    const { server, ask } = aRollout({
      after: { image: 'shop/web:2' },
      pods: [killed(), waiting('ImagePullBackOff'), noCpu],
    });
    const [one, two] = [await ask(failureClass), await ask(failureClass)];
    assert.deepEqual(one, two);
    assert.deepEqual(
      [...new Set(server.calls.map(({ verb }) => verb))].filter((verb) => !['get', 'list'].includes(verb)),
      [],
    );
    assert.equal(await ask(failureClass, {}, { kind: 'Deployment', name: 'nobody' }), undefined);
  });
