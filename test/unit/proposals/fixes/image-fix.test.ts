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
const argo = {
  annotations: { 'deployment.kubernetes.io/revision': '2', 'argocd.argoproj.io/tracking-id': 'shop:/web' },
};

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
    want: 'revision 2 was not seen healthy, so going back may not help; 2 containers wait for their images (app, proxy), and a fix changes one',
  },
]);

test('an image change says by what the image is known, what else stays, and how to put it back', async () => {
  const first = aRollout(twice);
  ranBefore('shop/web:1.40')(first);
  assert.equal(
    (await first.ask('ImagePull'))?.rationale,
    'It is the last image that ran here: revision 1 was seen healthy with it for 10 min. 3 pods are replaced step by step. To undo:\nkubectl -n shop set image deploy/web app=shop/web:1.O',
  );
  const second = aRollout(twice);
  ranBefore('shop/web:1.40', { hostNetwork: true })(second);
  assert.match(
    (await second.ask('ImagePull'))?.rationale ?? '',
    /step by step\. What else was changed since then stays\. To undo/,
  );
});
