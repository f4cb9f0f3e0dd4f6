import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, killed, type RolloutOptions, waiting, wayOf } from '../../../support/rollout.ts';

const typo = { image: 'shop/web:1.O' };
const pull = waiting(
  'ImagePullBackOff',
  'Back-off pulling image "shop/web:1.O": ErrImagePull: shop/web:1.O: not found',
);
const limit = (memory?: string) => ({ resources: memory ? { limits: { memory } } : {} });
const config = (name: string) => ({ envFrom: [{ configMapRef: { name } }] });
const missing = waiting('CreateContainerConfigError', 'configmap "web-v2" not found');
const key = (name: string) => ({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'db', key: name } } }] });
const noKey = waiting('CreateContainerConfigError', "couldn't find key new in Secret shop/db");
const unready = { ready: false };
const good = { ready: true };

const cases: { class: string; name: string; options: RolloutOptions; want: string }[] = [
  {
    class: 'ImagePull',
    name: 'the rollout brought the image',
    options: { after: typo, pods: [pull] },
    want: 'back to 1',
  },
  {
    class: 'ImagePull',
    name: 'the image was there before',
    options: { before: typo, after: typo, pods: [pull] },
    want: 'revision 2 did not change the image of app',
  },
  {
    class: 'ImagePull',
    name: 'nobody saw the revision before',
    options: { after: typo, pods: [pull], isOldKnown: false },
    want: 'revision 1 was not seen healthy, so going back may not help; no image of app is known to have run in it',
  },
  {
    class: 'ImagePull',
    name: 'pods of the revision before cannot pull either',
    options: { after: typo, pods: [pull], oldPods: [pull] },
    want: 'pods of an older revision cannot pull their image either, so revision 2 did not bring it; the last image of app that ran in it cannot be pulled either',
  },
  {
    class: 'ImagePull',
    name: 'none waits any more',
    options: { after: typo, pods: [good] },
    want: 'no pod of it waits for its image at the moment',
  },
  {
    class: 'ImagePull',
    name: 'the rollout is paused',
    options: { after: typo, pods: [pull], deployment: { spec: { paused: true } } },
    want: 'the rollout is paused, somebody is at work on it',
  },
  {
    class: 'ImagePull',
    name: 'Argo CD owns it',
    options: {
      after: typo,
      pods: [pull],
      deployment: {
        metadata: {
          annotations: { 'deployment.kubernetes.io/revision': '2', 'argocd.argoproj.io/tracking-id': 'shop:/web' },
        },
      },
    },
    want: 'Deployment web belongs to Argo CD (application shop), which would put it back.',
  },
  {
    class: 'ConfigMissing',
    name: 'the reference is new',
    options: { before: config('web-v1'), after: config('web-v2'), pods: [missing] },
    want: 'back to 1',
  },
  {
    class: 'ConfigMissing',
    name: 'the reference was there before',
    options: { before: config('web-v2'), after: { ...config('web-v2'), image: 'shop/web:2' }, pods: [missing] },
    want: 'revision 1 needs it as well, so going back would not help',
  },
  {
    class: 'ConfigMissing',
    name: 'the key is new',
    options: { before: key('old'), after: key('new'), pods: [noKey] },
    want: 'back to 1',
  },
  {
    class: 'ConfigMissing',
    name: 'the key was there before',
    options: { before: key('new'), after: { ...key('new'), image: 'shop/web:2' }, pods: [noKey] },
    want: 'revision 1 needs it as well, so going back would not help',
  },
  {
    class: 'ConfigMissing',
    name: 'neither revision refers to it',
    options: { after: typo, pods: [missing] },
    want: 'revision 2 does not refer to it by name, so it is not known what brought it',
  },
  {
    class: 'ConfigMissing',
    name: 'nobody says what is missing',
    options: { after: typo, pods: [waiting('CreateContainerConfigError', 'odd')] },
    want: 'what is missing has no name, so it is not known what brought it',
  },
  {
    class: 'OOMKilled',
    name: 'the limit was lowered',
    options: { before: limit('256Mi'), after: limit('64Mi'), pods: [killed()] },
    want: 'back to 1',
  },
  {
    class: 'OOMKilled',
    name: 'the limit is new',
    options: { after: limit('64Mi'), pods: [killed()] },
    want: 'back to 1',
  },
  {
    class: 'OOMKilled',
    name: 'the image is new',
    options: { before: limit('64Mi'), after: { ...limit('64Mi'), image: 'shop/web:1.42' }, pods: [killed()] },
    want: 'back to 1',
  },
  {
    class: 'OOMKilled',
    name: 'the limit was raised',
    options: { before: limit('32Mi'), after: limit('64Mi'), pods: [killed()] },
    want: 'revision 2 neither changed what app runs nor lowered its memory limit',
  },
  {
    class: 'OOMKilled',
    name: 'only a variable changed, which may ask for more',
    options: { before: limit('64Mi'), after: { ...limit('64Mi'), env: [{ name: 'A', value: '1' }] }, pods: [killed()] },
    want: 'back to 1',
  },
  {
    class: 'OOMKilled',
    name: 'only another container changed',
    options: {
      before: limit('64Mi'),
      after: limit('64Mi'),
      afterSpec: { initContainers: [{ name: 'init', image: 'shop/init:2' }] },
      pods: [killed()],
    },
    want: 'revision 2 neither changed what app runs nor lowered its memory limit',
  },
  {
    class: 'OOMKilled',
    name: 'pods of the revision before are killed as well',
    options: { after: limit('64Mi'), pods: [killed()], oldPods: [killed()] },
    want: 'pods of an older revision are killed for memory as well, so revision 2 did not bring it',
  },
  {
    class: 'RolloutStuck',
    name: 'the new pods do not become ready',
    options: { after: typo, pods: [unready] },
    want: 'back to 1',
  },
  {
    class: 'RolloutStuck',
    name: 'the old pods are not ready either',
    options: { after: typo, pods: [unready], oldPods: [unready] },
    want: 'pods of an older revision are not ready either, so revision 2 did not bring it',
  },
  {
    class: 'RolloutStuck',
    name: 'the old ones are',
    options: { after: typo, pods: [unready], oldPods: [good] },
    want: 'back to 1',
  },
  {
    class: 'RolloutStuck',
    name: 'nothing is unready',
    options: { after: typo, pods: [good] },
    want: 'no pod of it is unready at the moment',
  },
];
for (const { class: failureClass, name, options, want } of cases)
  test(`${failureClass}: ${name}: ${want}`, async () =>
    assert.equal(wayOf(await aRollout(options).ask(failureClass)), want));

test('the newest revision that ran well for days is not to blame, whatever is wrong now', async () => {
  for (const [failureClass, options] of [
    ['ImagePull', { after: typo, pods: [pull] }],
    ['OOMKilled', { after: limit('64Mi'), pods: [killed()] }],
    ['RolloutStuck', { after: typo, pods: [unready] }],
  ] as const) {
    const { server, history, clock, ask } = aRollout({ ...options, pods: [...options.pods] });
    const { uid } = server.get('ReplicaSet', 'shop', 'web-2')!.metadata;
    history.observe({ uid, desired: 1, available: 1 } as never, clock.now() - 3 * 86_400_000);
    history.observe({ uid, desired: 1, available: 0 } as never, clock.now());
    assert.equal(
      wayOf(await ask(failureClass)),
      'revision 2 itself ran healthy before, so the rollout did not bring it',
    );
  }
});
