import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, type PodState, type RolloutOptions, waiting } from '../../../support/rollout.ts';

const good: PodState = { ready: true };
const ended = { reason: 'Error', exitCode: 1, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const wayOf = async (shop: ReturnType<typeof aRollout>, failureClass: string): Promise<string> => {
  const { action, rationale } = (await shop.ask(failureClass))!;
  return action ? JSON.stringify({ ...action, uid: undefined }).replace(/,"uid":"[^"]*"/, '') : rationale;
};

const restart = '{"type":"RolloutRestart","rolloutRestart":{"kind":"Deployment","name":"web"}}';
const probes: { name: string; options: RolloutOptions; want: string }[] = [
  { name: 'all run and none is ready', options: { pods: [{}, {}, {}] }, want: restart },
  {
    name: 'one restarted last week',
    options: {
      pods: [{}, {}, { restarts: 1, lastState: { terminated: { ...ended, finishedAt: '2026-11-09T03:00:00Z' } } }],
    },
    want: restart,
  },
  {
    name: 'Argo CD owns it: the annotation is in nobody’s manifests',
    options: {
      pods: [{}, {}, {}],
      deployment: { metadata: { annotations: { 'argocd.argoproj.io/tracking-id': 'x' } } },
    },
    want: restart,
  },
  { name: 'one is ready', options: { pods: [{}, {}, good] }, want: '1 of 3 pods is ready, so it is not all of them' },
  {
    name: 'one restarts',
    options: { pods: [{}, {}, { restarts: 1, lastState: { terminated: ended } }] },
    want: '1 of 3 pods restarts already',
  },
  { name: 'one is missing', options: { pods: [{}, {}] }, want: '2 pods of 3 run, not all' },
  {
    name: 'one does not run',
    options: { pods: [{}, {}, waiting('ContainerCreating')] },
    want: '2 pods of 3 run, not all',
  },
  {
    name: 'one is still starting',
    options: {
      pods: [
        {},
        {},
        {
          status: {
            containerStatuses: [{ name: 'app', ready: false, started: false, restartCount: 0, state: { running: {} } }],
          },
        },
      ],
    },
    want: '1 of 3 pods is still starting',
  },
  {
    name: 'paused',
    options: { pods: [{}, {}, {}], deployment: { spec: { paused: true } } },
    want: 'Deployment web is paused: a restart would not roll out.',
  },
];
for (const { name, options, want } of probes)
  test(`ProbeFailing, ${name}: ${want}`, async () =>
    assert.equal(await wayOf(aRollout(options), 'ProbeFailing'), want));

test('a restart says whom it helps, and how many pods it replaces how', async () => {
  const said = async (strategy: object | undefined, replicas = 3): Promise<string> => {
    const pods = Array.from({ length: replicas }, (): PodState => ({}));
    const shop = aRollout({ pods, deployment: { spec: { replicas, ...(strategy && { strategy }) } } });
    return (await shop.ask('ProbeFailing'))!.rationale;
  };
  const begins = 'Helps if pods hang, not if a dependency is down.';
  const ends = 'Nothing to undo: the new pods run what the old ones ran.';
  const rolling = (maxUnavailable: number | string) => ({ type: 'RollingUpdate', rollingUpdate: { maxUnavailable } });
  assert.equal(await said(undefined), `${begins} 3 pods are replaced step by step. ${ends}`);
  assert.equal(
    await said({ type: 'Recreate' }),
    `${begins} 3 pods are replaced all at once: none runs until the new ones do. ${ends}`,
  );
  assert.equal(await said(rolling('100%')), `${begins} 3 pods are replaced, maybe all at once. ${ends}`);
  assert.equal(await said(rolling(3)), `${begins} 3 pods are replaced, maybe all at once. ${ends}`);
  assert.equal(await said(rolling('99%')), `${begins} 3 pods are replaced step by step. ${ends}`);
  assert.equal(
    await said({ type: 'Recreate' }, 1),
    `${begins} 1 pod is replaced: none runs until the new one does. ${ends}`,
  );
  assert.equal(await said(undefined, 1), `${begins} 1 pod is replaced. ${ends}`);
});
