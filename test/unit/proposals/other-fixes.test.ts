import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Derived } from '../../../src/proposals/derive.ts';
import { aConfig } from '../../support/config.ts';
import { aRollout, type PodState, type RolloutOptions, waiting } from '../../support/rollout.ts';

/** What is offered, or why nothing is. */
const offered = (derived: Derived | undefined): string => {
  const { type = '', ...blocks } = derived?.action ?? {};
  const { uid: _, ...params } = (Object.values(blocks)[0] ?? {}) as Record<string, unknown>;
  return type ? `${type} ${JSON.stringify(params)}` : (derived?.rationale ?? 'gone');
};

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
const budget = (disruptionsAllowed: number) => ({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { observedGeneration: 9, disruptionsAllowed, currentHealthy: 2, desiredHealthy: 3 },
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
    options: { pods: [crashing, good], isOldKnown: false },
    also: ({ server }) => void server.seed('PodDisruptionBudget', 'shop', budget(0)),
    want: `${notSeen}; Disruption budget web wants 3 healthy and has 2: pod web-2-0 cannot be evicted now`,
  },
  {
    name: 'its budget allows it',
    options: { pods: [crashing, good], isOldKnown: false },
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

test('what the configuration does not allow is not offered, and the next that applies is', async () => {
  const { ask } = aRollout({ after: { image: 'shop/web:1.42' }, pods: [crashing, good] });
  const only = (...allow: never[]) => aConfig({ actions: { allow } });
  assert.equal(offered(await ask('CrashLoop', { config: only('DeletePod' as never) })), 'DeletePod {"name":"web-2-0"}');
  assert.equal(
    offered(await ask('CrashLoop', { config: only() })),
    'RolloutUndo is not in actions.allow; DeletePod is not in actions.allow',
  );
});

const typo = { image: 'shop/web:1.O' };
const pull = waiting(
  'ImagePullBackOff',
  'Back-off pulling image "shop/web:1.O": ErrImagePull: shop/web:1.O: not found',
);
const change = (image: string, container = 'app') =>
  `PatchDeploymentImage ${JSON.stringify({ name: 'web', container, image })}`;
/** Revisions 1 and 2 become 2 and 3: before them came one that ran this image, as this process saw. */
const ranBefore =
  (image: string, spec: object = {}) =>
  ({ server, history, clock }: ReturnType<typeof aRollout>): void => {
    const revision = (n: number) => ({ metadata: { annotations: { 'deployment.kubernetes.io/revision': String(n) } } });
    server.change('ReplicaSet', 'shop', 'web-1', revision(2));
    server.change('ReplicaSet', 'shop', 'web-2', revision(3));
    const { ownerReferences } = server.get('ReplicaSet', 'shop', 'web-1')!.metadata;
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'app', image }], ...spec } };
    const set = server.seed('ReplicaSet', 'shop', {
      metadata: { name: 'web-0', labels: { app: 'web' }, ...revision(1).metadata, ownerReferences: ownerReferences! },
      spec: { replicas: 0, template },
    });
    history.observe({ uid: set.metadata.uid, desired: 3, available: 3 } as never, clock.now() - 600_000);
    history.observe({ uid: set.metadata.uid, desired: 0, available: 0 } as never, clock.now());
  };
const twice: RolloutOptions = { before: { image: 'shop/web:1.l' }, after: typo, pods: [pull], isOldKnown: false };

table('ImagePull', [
  {
    name: 'the second wrong image in a row: the last that ran',
    options: twice,
    also: ranBefore('shop/web:1.40'),
    want: change('shop/web:1.40'),
  },
  {
    name: 'the rollout only changed something else',
    options: { ...twice, before: typo },
    also: ranBefore('shop/web:1.40'),
    want: change('shop/web:1.40'),
  },
  {
    name: 'other pods run it now',
    options: { after: typo, pods: [pull], oldPods: [good, good], isOldKnown: false },
    want: change('shop/web:1.41'),
  },
  {
    name: 'paused',
    options: { ...twice, deployment: { spec: { paused: true } } },
    also: ranBefore('shop/web:1.40'),
    want: 'the rollout is paused, somebody is at work on it',
  },
  {
    name: 'Argo CD owns it',
    options: { ...twice, deployment: { metadata: argo } },
    also: ranBefore('shop/web:1.40'),
    want: 'revision 2 was not seen healthy, so going back may not help; Deployment web belongs to Argo CD (application shop), which would put it back',
  },
  {
    name: 'Helm alone is nobody',
    options: { ...twice, deployment: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' } } } },
    also: ranBefore('shop/web:1.40'),
    want: change('shop/web:1.40'),
  },
  {
    name: 'no image that the API server would take',
    options: twice,
    also: ranBefore('not an image'),
    want: 'revision 2 was not seen healthy, so going back may not help; PatchDeploymentImage does not take what is needed here',
  },
  {
    name: 'a new pod crashes as well',
    options: { ...twice, pods: [pull, crashing] },
    also: ranBefore('shop/web:1.40'),
    want: 'revision 2 was not seen healthy, so going back may not help; its new pods have other trouble as well, so another image alone may not help',
  },
  {
    name: 'two containers wait',
    options: {
      ...twice,
      pods: [
        {
          ...pull,
          status: {
            containerStatuses: ['app', 'proxy'].map((name) => ({
              name,
              ready: false,
              restartCount: 0,
              state: { waiting: { reason: 'ErrImagePull' } },
            })),
          },
        },
      ],
    },
    also: ranBefore('shop/web:1.40'),
    want: 'revision 2 was not seen healthy, so going back may not help; 2 containers wait for their images (app, proxy), and a tap changes one',
  },
]);

test('an image change says by what the image is known, what else stays, and how to put it back', async () => {
  const first = aRollout(twice);
  ranBefore('shop/web:1.40')(first);
  assert.equal(
    (await first.ask('ImagePull'))?.rationale,
    'It is the last image that ran here: revision 1 was seen healthy with it for 10 min. 3 pods are replaced step by step. Put it back with:\nkubectl -n shop set image deploy/web app=shop/web:1.O',
  );
  const second = aRollout(twice);
  ranBefore('shop/web:1.40', { hostNetwork: true })(second);
  assert.match(
    (await second.ask('ImagePull'))?.rationale ?? '',
    /step by step\. What else was changed since then stays\. Put it back/,
  );
});
