import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { classNames } from '../../../src/config/schema.ts';
import { createHistory } from '../../../src/health/history.ts';
import { viewReplicaSet } from '../../../src/kube/views.ts';
import { cases, derive, type Subject, withUndo } from '../../../src/proposals/derive.ts';
import { aConfig } from '../../support/config.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { recordedReader } from '../../support/recorded.ts';
import { aRollout, killed, offered, type PodState, waiting } from '../../support/rollout.ts';
import { blockedByQuota, crashLoop } from '../../support/street.ts';

/** A quota that blocks two workloads, and a crash loop whose first revision this process saw healthy. */
function aCluster() {
  const clock = fakeClock();
  const server = fakeServer(clock);
  blockedByQuota({ server }, ['api', 'web']);
  crashLoop({ server });
  const history = createHistory();
  const first = viewReplicaSet(server.get('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d')!)!;
  history.observe({ ...first, desired: 1, available: 1 }, clock.now() - 600_000);
  history.observe({ ...first, desired: 0, available: 0 }, clock.now());
  const ask = (subject: Partial<Subject>, config = aConfig()) =>
    derive(
      { namespace: 'shop', class: 'CrashLoop', object: { kind: 'Deployment', name: 'checkout', uid: '' }, ...subject },
      { reader: server.client(), history, config, nowMs: clock.now() },
    );
  return { server, ask };
}
const quota = { class: 'QuotaExceeded', object: { kind: 'ResourceQuota', name: 'tight', uid: '' } };

test('two readings of the same cluster derive the same: the controller can confirm what the watcher proposed', async () => {
  const { ask } = aCluster();
  for (const subject of [{}, quota]) {
    const [one, two] = [await ask(subject), await ask(subject)];
    assert.ok(one?.action);
    assert.deepEqual(one, two);
  }
});

test('nothing is offered in a namespace that is protected, and that is why', async () => {
  const { server, ask } = aCluster();
  server.seed('Namespace', undefined, { metadata: { name: 'shop', labels: { 'tapfix.dev/protected': 'true' } } });
  for (const subject of [{}, quota]) {
    const derived = await ask(subject);
    assert.equal(derived?.action, undefined);
    assert.match(derived!.rationale, /Namespace shop is labelled tapfix\.dev\/protected=true/i);
  }
});

test('deriving reads, and never writes', async () => {
  const { server, ask } = aCluster();
  await ask({});
  await ask(quota);
  assert.deepEqual([...new Set(server.calls.map(({ verb }) => verb))].sort(), ['get', 'list']);
});

const refusals = [
  {
    name: 'a quota that Argo CD tracks',
    subject: quota,
    prepare: (server: ReturnType<typeof fakeServer>) =>
      server.change('ResourceQuota', 'shop', 'tight', {
        metadata: { annotations: { 'argocd.argoproj.io/tracking-id': 'platform:/ResourceQuota:shop/tight' } },
      }),
    say: /belongs to Argo CD \(application platform\)/,
  },
  {
    name: 'a quota that is protected',
    subject: quota,
    prepare: (server: ReturnType<typeof fakeServer>) =>
      server.change('ResourceQuota', 'shop', 'tight', { metadata: { labels: { 'tapfix.dev/protected': 'true' } } }),
    say: /tapfix\.dev\/protected/,
  },
  {
    name: 'a revision whose pods of the one before crash as well',
    subject: {},
    prepare: (server: ReturnType<typeof fakeServer>) => {
      const { uid } = server.get('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d')!.metadata;
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'checkout-7d9f8b6c5d', uid, controller: true };
      const containerStatuses = [{ name: 'app', ready: false, restartCount: 2, state: { waiting: { reason: 'CrashLoopBackOff' } } }]; // prettier-ignore
      server.seed('Pod', 'shop', {
        metadata: { name: 'old', labels: { app: 'checkout' }, ownerReferences: [owner] },
        status: { containerStatuses },
      });
    },
    say: /pods of an older revision crash as well/,
  },
  {
    name: 'a revision whose predecessor is no longer kept',
    subject: {},
    prepare: (server: ReturnType<typeof fakeServer>) => server.remove('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d'),
    say: /first revision/,
  },
];
for (const { name, subject, prepare, say } of refusals)
  test(`nothing is offered for ${name}, and the reason is said`, async () => {
    const { server, ask } = aCluster();
    prepare(server);
    const derived = await ask(subject);
    assert.equal(derived?.action, undefined);

    assert.match(derived?.rationale ?? '', say);
  });

test('an evicted pod of the older revision, dead beside its replacement, is no sign that it crashes as well', async () => {
  const { server, ask } = aCluster();
  const { uid } = server.get('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d')!.metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'checkout-7d9f8b6c5d', uid, controller: true };
  const containerStatuses = [{ name: 'app', ready: false, restartCount: 1, state: { terminated: { exitCode: 137, finishedAt: '2026-11-16T01:00:00Z' } } }]; // prettier-ignore
  server.seed('Pod', 'shop', {
    metadata: { name: 'old', labels: { app: 'checkout' }, ownerReferences: [owner] },
    status: { phase: 'Failed', containerStatuses },
  });
  assert.equal((await ask({}))?.action?.type, 'RolloutUndo');
});

test('a crash loop of what keeps no revisions is told, and nothing is offered', async () => {
  const { server, ask } = aCluster();
  server.seed('StatefulSet', 'shop', { metadata: { name: 'db' }, spec: { replicas: 1 } });
  const derived = await ask({ object: { kind: 'StatefulSet', name: 'db', uid: '' } });
  assert.equal(derived?.action, undefined);
  assert.match(derived?.rationale ?? '', /no revision to go back to: none is kept/);
});

for (const [name, subject] of Object.entries({ 'a quota': quota, 'a Deployment': {} }))
  test(`${name} that is gone, or another by now, derives nothing at all`, async () => {
    const { ask } = aCluster();
    const object =
      quota.class === (subject as Partial<Subject>).class
        ? quota.object
        : { kind: 'Deployment', name: 'checkout', uid: '' };
    assert.equal(await ask({ ...subject, object: { ...object, name: 'nobody' } }), undefined);
    assert.equal(await ask({ ...subject, object: { ...object, uid: 'another' } }), undefined);
  });

test('only what the config allows is offered', async () => {
  const { ask } = aCluster();
  const none = aConfig({ actions: { allow: [] } });
  assert.equal((await ask(quota, none))?.rationale, 'DeleteResourceQuota is not in actions.allow');
  assert.equal((await ask({}, none))?.rationale, 'RolloutUndo is not in actions.allow');
});

test('a command to put it back is shown whole or not at all', () => {
  assert.equal(withUndo('Safe.', 'kubectl create'), 'Safe. To undo:\nkubectl create');
  const long = withUndo('Safe.', 'x'.repeat(2048));
  assert.equal(long, 'Safe. How to undo it will be in status.execution.undo of this Remediation.');
});

describe('recorded clusters', () => {
  const nowMs = Date.parse('2026-11-16T08:30:30Z');
  const first = 'this is its first revision, there is none to go back to';
  const nothing = 'no one-tap fix';

  /** What a real control plane and a real kubelet left behind, and what is said of it. */
  const cases: { of: string; why: string; seen: string[]; fix: string }[] = [
  { of: 'ImagePull shop/Deployment/typo', why: 'image localhost/app:1.O: localhost refuses the connection', seen: ['its only pod waits for it'], fix: first },
  { of: 'ConfigMissing shop/Deployment/cfg', why: 'ConfigMap missing does not exist', seen: ['its only pod cannot start without it'], fix: first },
  { of: 'ConfigMissing free/Deployment/mount', why: 'Secret nope does not exist', seen: ['its only pod cannot start without it'], fix: first },
  { of: 'OOMKilled shop/Deployment/oom', why: 'container app is killed for memory within a second; its limit is 32Mi', seen: ['5 restarts of 1 pod'], fix: first },
  { of: 'CrashLoop shop/Deployment/crash', why: 'container app exits 1 within a second', seen: ['5 restarts of 1 pod'], fix: first },
  { of: 'CrashLoop shop/Deployment/live', why: 'container app exits 0 after 3 s; liveness probe: HTTP 500', seen: ['6 restarts of 1 pod'], fix: first },
  { of: 'CrashLoop free/DaemonSet/node-exporter', why: 'container app exits 1 within a second', seen: ['4 restarts of 1 pod'], fix: 'no revision to go back to: none is kept' },
  { of: 'ProbeFailing shop/Deployment/unready', why: 'readiness probe: HTTP 500', seen: ['its only pod runs and is not ready'], fix: '1 pod of 2 runs, not all' },
  { of: 'RolloutStuck free/Deployment/slow', why: 'rollout 1 missed its deadline of 20 s: 0 of 1 new pods available', seen: ['readiness probe: HTTP 500'], fix: first },
  { of: 'Unschedulable free/Deployment/pvc', why: 'its volume claim is not bound yet', seen: ['its only pod waits for a node'], fix: 'no recent scale-up' },
  { of: 'StorageFailed free/PersistentVolumeClaim/data', why: 'StorageClass fast does not exist', seen: ['it asks for 1Gi of StorageClass fast', '1 pod waits for it: pvc-7895dcdc96-49cfz'], fix: nothing },
  { of: 'StorageFailed tapfix/StorageClass/fast', why: 'StorageClass fast does not exist', seen: ['1 claim waits for it: free/data'], fix: nothing },
  { of: 'VolumeStuck free/Deployment/mount', why: 'Secret nope does not exist', seen: ['its only pod cannot start', 'on node real-1'], fix: nothing },
  { of: 'JobFailed free/CronJob/nightly', why: 'its run nightly-29913629 gave up after 2 tries: container app exits 1 within a second', seen: ['it allows 1 retry'], fix: 'what it did before it failed is not known, so running it again is left to a person' },
  { of: 'JobFailed free/Job/nightly-29913629', why: 'it gave up after 2 tries: container app exits 1 within a second', seen: ['it allows 1 retry'], fix: 'what it did before it failed is not known, so running it again is left to a person' },
  { of: 'AutoscalerBlind free/HorizontalPodAutoscaler/slow', why: 'it cannot read cpu: the API metrics.k8s.io (metrics-server) is not installed', seen: ['Deployment slow stays at 1 (it may have 1 to 3)'], fix: nothing },
  { of: 'CreateRejected locked/StatefulSet/db', why: 'Pod Security level restricted refuses its pods: host namespaces (hostNetwork=true), allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile', seen: [], fix: 'tapfix does not change policies' },
]; // prettier-ignore
  for (const { of, why, seen, fix } of cases)
    test(`recorded: ${of}: ${why}`, async () => {
      const [, failureClass = '', namespace = '', kind = '', name = ''] = /^(\w+) ([^/]+)\/(\w+)\/(.+)$/.exec(of) ?? [];
      const deps = { reader: recordedReader(), history: createHistory(), config: aConfig(), nowMs };
      const derived = await derive({ namespace, class: failureClass, object: { kind, name, uid: '' } }, deps);
      assert.deepEqual([derived?.diagnosis, derived?.evidence, derived?.rationale], [why, seen, fix]);
    });
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

const good: PodState = { ready: true };
const ended = { reason: 'Error', exitCode: 1, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const crashing: PodState = { restarts: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: ended } }; // prettier-ignore

test('what the configuration does not allow is not offered, and the next that applies is', async () => {
  const { ask } = aRollout({ after: { image: 'shop/web:1.42' }, pods: [crashing, good] });
  const only = (...allow: never[]) => aConfig({ actions: { allow } });
  assert.equal(offered(await ask('CrashLoop', { config: only('DeletePod' as never) })), 'DeletePod {"name":"web-2-0"}');
  assert.equal(
    offered(await ask('CrashLoop', { config: only() })),
    'RolloutUndo is not in actions.allow; DeletePod is not in actions.allow',
  );
});

test('the runbook of the workload is evidence, in one line; there is none where there is no annotation', async () => {
  const { server, ask } = aRollout({ pods: [crashing] });
  const runbook = async () => (await ask('CrashLoop'))?.evidence.filter((text) => text.startsWith('runbook: '));
  assert.deepEqual(await runbook(), []);
  const annotations = { 'tapfix.dev/runbook': `https://wiki.example.com/web\n${'x'.repeat(400)}` };
  server.change('Deployment', 'shop', 'web', { metadata: { annotations } });
  const [text, ...others] = (await runbook()) ?? [];
  assert.match(text!, /^runbook: https:\/\/wiki\.example\.com\/web x+…$/);
  assert.deepEqual([others, text!.length <= 320], [[], true]);
});

test('whatever the cluster says, a secret in it does not reach a card', async () => {
  const secret = 'AKIAIOSFODNN7EXAMPLE';
  const { say, ask } = aRollout({
    after: { image: `shop/${secret}:1` },
    pods: [{ restarts: 1, state: { waiting: { reason: 'ImagePullBackOff', message: `password=${secret}` } } }],
  });
  for (const reason of ['Unhealthy', 'FailedMount', 'FailedCreatePodSandBox', 'FailedCreate'])
    say(reason, `Readiness probe failed: ${secret}`);
  for (const failureClass of ['ImagePull', 'ProbeFailing', 'VolumeStuck', 'SandboxFailed', 'RolloutStuck', 'CrashLoop'])
    assert.ok(!JSON.stringify(await ask(failureClass)).includes(secret), failureClass);
});
