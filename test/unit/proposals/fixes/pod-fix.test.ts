import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, offered, type PodState, type RolloutOptions, waiting } from '../../../support/rollout.ts';

interface Row {
  name: string;
  options: RolloutOptions;
  also?: (shop: ReturnType<typeof aRollout>) => void;
  want: string;
}
const table = (failureClass: string, rows: readonly Row[]): void => {
  for (const { name, options, also, want } of rows)
    test(`${failureClass}, ${name}: ${want}`, async () => {
      const shop = aRollout(options);
      also?.(shop);
      assert.equal(offered(await shop.ask(failureClass)), want);
    });
};

const good: PodState = { ready: true };
const ended = { reason: 'Error', exitCode: 1, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const crashing: PodState = { restarts: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: ended } }; // prettier-ignore
/** Between two crashes, without a readiness probe. */
const upAgain: PodState = { ready: true, restarts: 3, lastState: { terminated: ended } };
const lastWeek: PodState = {
  ready: true,
  restarts: 1,
  lastState: { terminated: { ...ended, finishedAt: '2026-11-09T03:11:20Z' } },
};
const notSeen = 'revision 1 was not seen healthy, so going back may not help';
const budget = (minAvailable: number) => ({
  metadata: { name: 'web' },
  spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
});
const argo = {
  annotations: { 'deployment.kubernetes.io/revision': '2', 'argocd.argoproj.io/tracking-id': 'shop:/web' },
};

table('CrashLoop', [
  {
    name: 'one of three that run the same',
    options: { pods: [crashing, good, good], isOldKnown: false },
    want: 'DeletePod {"name":"web-2-0"}',
  },
  {
    name: 'up again just now',
    options: { pods: [good, upAgain, good], isOldKnown: false },
    want: 'DeletePod {"name":"web-2-1"}',
  },
  {
    name: 'the others restarted last week',
    options: { pods: [crashing, lastWeek], isOldKnown: false },
    want: 'DeletePod {"name":"web-2-0"}',
  },
  {
    name: 'Argo CD owns it, and puts no pod back',
    options: { pods: [crashing, good], isOldKnown: false, deployment: { metadata: argo } },
    want: 'DeletePod {"name":"web-2-0"}',
  },
  {
    name: 'the rollout brought it: the undo comes first',
    options: { after: { image: 'shop/web:1.42' }, pods: [crashing, good] },
    want: 'RolloutUndo {"kind":"Deployment","name":"web","toRevision":1}',
  },
  { name: 'the only pod', options: { pods: [crashing], isOldKnown: false }, want: notSeen },
  {
    name: 'two of three',
    options: { pods: [crashing, crashing, good], isOldKnown: false },
    want: `${notSeen}; 2 of 3 pods crash, so it is not one pod alone`,
  },
  {
    name: 'all of them',
    options: { pods: [crashing, crashing], isOldKnown: false },
    want: `${notSeen}; both pods crash, so it is not one pod alone`,
  },
  {
    name: 'another is not ready',
    options: { pods: [crashing, {}, good], isOldKnown: false },
    want: `${notSeen}; 1 other pod is not ready either, so it is not one pod alone`,
  },
  {
    name: 'only the revision before is well',
    options: { pods: [crashing], oldPods: [good, good], isOldKnown: false },
    want: `${notSeen}; no healthy pod runs the same as the one that crashes`,
  },
  {
    name: 'its budget is spent',
    options: { pods: [crashing, good, good], isOldKnown: false },
    also: ({ server }) => void server.seed('PodDisruptionBudget', 'shop', budget(3)),
    want: `${notSeen}; Disruption budget web wants 3 healthy and has 2: pod web-2-0 cannot be evicted now`,
  },
  {
    name: 'its budget allows it',
    options: { pods: [crashing, good, good], isOldKnown: false },
    also: ({ server }) => void server.seed('PodDisruptionBudget', 'shop', budget(1)),
    want: 'DeletePod {"name":"web-2-0"}',
  },
]);

test('a pod without an owner, and those of a Job, are never deleted: it is said why', async () => {
  const { server, ask } = aRollout();
  const status = { phase: 'Running', containerStatuses: [{ name: 'app', ready: false, restartCount: 3, state: crashing.state, lastState: crashing.lastState }] }; // prettier-ignore
  server.seed('Pod', 'shop', { metadata: { name: 'alone' }, status });
  assert.equal(
    offered(await ask('CrashLoop', {}, { kind: 'Pod', name: 'alone' })),
    'no revision to go back to: a Pod keeps none',
  );
  const { uid } = server.seed('Job', 'shop', {
    metadata: { name: 'batch' },
    spec: { selector: { matchLabels: { job: 'b' } } },
  }).metadata;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'batch', uid, controller: true };
  const well = {
    ...status,
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ name: 'app', ready: true, restartCount: 0, state: { running: {} } }],
  };
  for (const [n, one] of [status, well].entries())
    server.seed('Pod', 'shop', {
      metadata: { name: `batch-${n}`, labels: { job: 'b' }, ownerReferences: [owner] },
      status: one,
    });
  assert.equal(
    offered(await ask('CrashLoop', {}, { kind: 'Job', name: 'batch' })),
    'no revision to go back to: a Job keeps none; Pod batch-0 belongs to Job batch, which would count it as failed',
  );
});

const wayOf = async (shop: ReturnType<typeof aRollout>, failureClass: string): Promise<string> => {
  const { action, rationale } = (await shop.ask(failureClass))!;
  return action ? JSON.stringify({ ...action, uid: undefined }).replace(/,"uid":"[^"]*"/, '') : rationale;
};

const creating = waiting('ContainerCreating');
const sandboxes: { name: string; pods: PodState[]; want: string }[] = [
  { name: 'one pod', pods: [creating, good], want: '{"type":"DeletePod","deletePod":{"name":"web-2-0"}}' },
  { name: 'the only pod', pods: [creating], want: '{"type":"DeletePod","deletePod":{"name":"web-2-0"}}' },
  {
    name: 'two of three',
    pods: [creating, creating, good],
    want: '2 of 3 pods cannot start, so it is not one pod alone',
  },
  {
    name: 'one whose template is wrong',
    pods: [waiting('CreateContainerConfigError', 'container has runAsNonRoot and image will run as root'), good],
    want: 'a new pod would ask for the same, and not start either',
  },
  { name: 'none any more', pods: [good, good], want: 'no pod of it is stuck at the moment' },
];
for (const { name, pods, want } of sandboxes)
  test(`SandboxFailed, ${name}: ${want}`, async () => {
    const shop = aRollout({ pods });
    for (const n of pods.keys())
      shop.say('FailedCreatePodSandBox', 'Failed to create pod sandbox: x', { kind: 'Pod', name: `web-2-${n}` });
    assert.equal(await wayOf(shop, 'SandboxFailed'), want);
  });
