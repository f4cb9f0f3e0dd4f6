import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, type PodState, type RolloutOptions, waiting, wayOf } from '../../../support/rollout.ts';

/* The undo for troubles that are not a crash: what the newest revision must have changed, and who must not have it. */

const unscheduled: PodState = {
  status: {
    phase: 'Pending',
    conditions: [
      { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/2 nodes are available: 2 x.' },
    ],
    containerStatuses: [],
  },
};
const ready: PodState = { ready: true };
const other = { image: 'shop/web:1.42' };
const selector = { afterSpec: { nodeSelector: { disk: 'ssd' } } };
const late = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message: 'x' };
const isLate = { status: { conditions: [late] } };
const policy =
  "pods \"web-2-x\" is forbidden: ValidatingAdmissionPolicy 'teams' with binding 'teams' denied request: every pod names its team";
const limitRange = 'pods "web-2-x" is forbidden: maximum memory usage per Container is 64Mi, but limit is 256Mi';
const podSecurity =
  'pods "web-2-x" is forbidden: violates PodSecurity "baseline:latest": privileged (container "app" must not set securityContext.privileged=true)';
const noAccount =
  'pods "web-2-x" is forbidden: error looking up service account shop/api: serviceaccount "api" not found';
const webhookDenies = 'admission webhook "guard.example.com" denied the request: no team';
const webhookDown =
  'Internal error occurred: failed calling webhook "guard.example.com": failed to call webhook: Post "https://x": dial tcp 10.0.0.1:443: connect: connection refused';
const rules = 'tapfix does not change policies';

interface Row {
  class: string;
  name: string;
  options: RolloutOptions;
  /** Why the pods of each revision are refused. */
  refused?: { newest?: string; older?: string };
  want: string;
}
const rows: Row[] = [
  { class: 'Unschedulable', name: 'a selector', options: { ...selector, pods: [unscheduled] }, want: 'back to 1' },
  { class: 'Unschedulable', name: 'only another image', options: { after: other, pods: [unscheduled] }, want: 'no recent scale-up' },
  { class: 'Unschedulable', name: 'a selector, and the older ones find no node either', options: { ...selector, pods: [unscheduled], oldPods: [unscheduled] }, want: 'pods of an older revision find no node either, so revision 2 did not bring it; no recent scale-up' },
  { class: 'Unschedulable', name: 'only another image, in a rollout that missed its deadline beside one that serves', options: { after: other, pods: [unscheduled], oldPods: [ready], deployment: isLate }, want: 'back to 1' },
  { class: 'Unschedulable', name: 'only another image, in a rollout that missed its deadline beside nothing', options: { after: other, pods: [unscheduled], deployment: isLate }, want: 'no recent scale-up' },
  { class: 'ProbeFailing', name: 'another probe', options: { after: { readinessProbe: { httpGet: { port: 8081 } } }, pods: [{}] }, want: 'back to 1' },
  { class: 'ProbeFailing', name: 'another selector', options: { ...selector, pods: [{}, ready] }, want: '1 of 2 pods is ready, so it is not all of them' },
  { class: 'SandboxFailed', name: 'another image, whose container cannot be created', options: { after: other, pods: [waiting('CreateContainerError', 'no command specified')] }, want: 'back to 1' },
  { class: 'SandboxFailed', name: 'another selector', options: { ...selector, pods: [waiting('CreateContainerConfigError')] }, want: 'a new pod would ask for the same, and not start either' },
  { class: 'CreateRejected', name: 'a policy, of anything', options: { after: other }, refused: { newest: policy }, want: 'back to 1' },
  { class: 'CreateRejected', name: 'a webhook, of anything', options: { after: other }, refused: { newest: webhookDenies }, want: 'back to 1' },
  { class: 'CreateRejected', name: 'a webhook that is down', options: { after: other }, refused: { newest: webhookDown }, want: rules },
  { class: 'CreateRejected', name: 'a LimitRange, of a higher limit', options: { after: { resources: { limits: { memory: '256Mi' } } } }, refused: { newest: limitRange }, want: 'back to 1' },
  { class: 'CreateRejected', name: 'a LimitRange, of another image', options: { after: other }, refused: { newest: limitRange }, want: rules },
  { class: 'CreateRejected', name: 'Pod Security, of a privileged container', options: { after: { securityContext: { privileged: true } } }, refused: { newest: podSecurity }, want: 'back to 1' },
  { class: 'CreateRejected', name: 'Pod Security, of another image', options: { after: other }, refused: { newest: podSecurity }, want: rules },
  { class: 'CreateRejected', name: 'its ServiceAccount', options: { afterSpec: { serviceAccountName: 'api' } }, refused: { newest: noAccount }, want: 'back to 1' },
  { class: 'CreateRejected', name: 'the ServiceAccount that it had before', options: { after: other }, refused: { newest: noAccount }, want: rules },
  { class: 'CreateRejected', name: 'a policy, of the older ones as well', options: { after: other }, refused: { newest: policy, older: policy }, want: `pods of an older revision are refused as well, so revision 2 did not bring it; ${rules}` },
  { class: 'CreateRejected', name: 'a policy, and nobody saw the older ones healthy', options: { after: other, isOldKnown: false }, refused: { newest: policy }, want: `revision 1 was not seen healthy, so going back may not help; ${rules}` },
  { class: 'CrashLoop', name: 'pods that are refused do not crash', options: { after: other, pods: [waiting('CrashLoopBackOff')] }, refused: { newest: policy }, want: 'pods of revision 2 are refused, which is another trouble than a crash' },
]; // prettier-ignore
for (const { class: failureClass, name, options, refused = {}, want } of rows)
  test(`${failureClass}, ${name}: ${want}`, async () => {
    const { server, ask } = aRollout(options);
    const refuse = (set: string, message: string | undefined): void => {
      if (message === undefined) return;
      const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }];
      server.change('ReplicaSet', 'shop', set, { spec: { replicas: 1 }, status: { conditions } });
    };
    refuse('web-2', refused.newest);
    refuse('web-1', refused.older);
    assert.equal(wayOf(await ask(failureClass)), want);
  });

test('an Event that anybody may write does not make a refusal one that an undo would help with', async () => {
  const { server, say, ask } = aRollout({ after: other });
  const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: webhookDown }];
  server.change('ReplicaSet', 'shop', 'web-2', { status: { conditions } });
  say('FailedCreate', `Error creating: ${policy}`, { kind: 'ReplicaSet', name: 'web-2' });
  assert.equal(wayOf(await ask('CreateRejected')), rules);
});

const mount = 'MountVolume.SetUp failed for volume "data" : hostPath type check failed: /srv is not a directory';
const volumes: { name: string; options: RolloutOptions; want: string }[] = [
  { name: 'a volume', options: { afterSpec: { volumes: [{ name: 'data', hostPath: { path: '/srv', type: 'Directory' } }] } }, want: 'back to 1' },
  { name: 'only another image', options: { after: other }, want: 'no one-tap fix' },
]; // prettier-ignore
for (const { name, options, want } of volumes)
  test(`VolumeStuck, the newest revision brought ${name}: ${want}`, async () => {
    const { say, ask } = aRollout({ ...options, pods: [waiting('ContainerCreating')] });
    say('FailedMount', mount);
    assert.equal(wayOf(await ask('VolumeStuck')), want);
  });

const two: PodState[] = [{ ready: true }, { restarts: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } }];
test('one bad pod of a DaemonSet is not deleted: the new one would be on the same node', async () => {
  const { server, ask } = aRollout();
  const labels = { app: 'agent' };
  const { metadata } = server.seed('DaemonSet', 'shop', {
    metadata: { name: 'agent' },
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels } } },
    status: { desiredNumberScheduled: 2 },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: metadata.uid, controller: true };
  for (const [n, { ready: isReady = false, restarts = 0, state = { running: {} } }] of two.entries())
    server.seed('Pod', 'shop', {
      metadata: { name: `agent-${n}`, labels, ownerReferences: [owner] },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }],
        containerStatuses: [{ name: 'app', ready: isReady, restartCount: restarts, state }],
      },
    });
  const why = wayOf(await ask('CrashLoop', {}, { kind: 'DaemonSet', name: 'agent' }));
  assert.equal(
    why,
    'no revision to go back to: none is kept; a new pod of a DaemonSet would be on the same node, which may be the cause',
  );
});
