import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  leaderOf,
  mustBeInstalled,
  readyPod,
  renewalOf,
  type RoleFacts,
  whyNone,
} from '../../../../src/cli/running/role-pods.ts';
import type { KubeObject } from '../../../../src/kube/api.ts';

const nowMs = Date.parse('2026-11-18T10:00:30Z');
const object = (over: object): KubeObject => over as unknown as KubeObject;
const facts = (over: Partial<RoleFacts> = {}): RoleFacts => ({
  role: 'watcher',
  deployment: object({ metadata: {}, spec: { replicas: 2 } }),
  pods: [],
  lease: undefined,
  ...over,
});
const pod = (name: string, status: object, metadata: object = {}): KubeObject =>
  object({ metadata: { name, ...metadata }, status });
const container = (reason: string, message = ''): object => ({
  phase: 'Pending',
  containerStatuses: [{ state: { waiting: { reason, message } } }],
});
const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
const unscheduled = (since: string): object => ({
  phase: 'Pending',
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/3 nodes are available',
      lastTransitionTime: since,
    },
  ],
});

const cases: { name: string; given: Partial<RoleFacts>; why: RegExp; isStuck: boolean }[] = [
  { name: 'no pod yet', given: {}, why: /^there is no pod of tapfix-watcher yet$/, isStuck: false },
  {
    name: 'pods that are refused',
    given: {
      deployment: object({
        spec: {},
        status: { conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota: q' }] },
      }),
    },
    why: /^no pod of tapfix-watcher can be created: exceeded quota: q$/,
    isStuck: true,
  },
  {
    name: 'an image that is not there',
    given: { pods: [pod('a', container('ImagePullBackOff', 'no such image'))] },
    why: /^pod a: ImagePullBackOff: no such image$/,
    isStuck: true,
  },
  {
    name: 'a Secret that is not there',
    given: { pods: [pod('a', container('CreateContainerConfigError', 'secret "x" not found'))] },
    why: /secret "x" not found$/,
    isStuck: true,
  },
  {
    name: 'a container that is being created',
    given: { pods: [pod('a', container('ContainerCreating'))] },
    why: /^pod a is Pending$/,
    isStuck: false,
  },
  {
    name: 'a node that is looked for',
    given: { pods: [pod('a', unscheduled('2026-11-18T10:00:28Z'))] },
    why: /^pod a is Pending: 0\/3 nodes are available$/,
    isStuck: false,
  },
  {
    name: 'no node for a while',
    given: { pods: [pod('a', unscheduled('2026-11-18T10:00:10Z'))] },
    why: /^pod a is Pending: 0\/3 nodes are available$/,
    isStuck: true,
  },
  {
    name: 'one that cannot and one that still may',
    given: { pods: [pod('a', container('ErrImagePull')), pod('b', { phase: 'Running' })] },
    why: /^pod b is running and not ready yet$/,
    isStuck: false,
  },
  {
    name: 'one that ends again and again, between two tries',
    given: {
      pods: [
        pod('a', {
          phase: 'Running',
          containerStatuses: [{ restartCount: 3, lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } } }],
        }),
      ],
    },
    why: /^pod a keeps ending: it ran out of memory$/,
    isStuck: true,
  },
  {
    name: 'one that is leaving',
    given: { pods: [pod('a', ready, { deletionTimestamp: 'x' })] },
    why: /^there is no pod of tapfix-watcher yet$/,
    isStuck: false,
  },
];

describe('why no pod of a role is ready', () => {
  for (const { name, given, why, isStuck } of cases)
    test(name, () => {
      const answer = whyNone(facts(given), nowMs);
      assert.match(answer.why, why);
      assert.equal(answer.isStuck, isStuck);
      assert.equal(readyPod(facts(given)), undefined);
    });
});

const lease = (holderIdentity: string, renewTime = '2026-11-18T10:00:25.000000Z'): KubeObject =>
  object({ spec: { holderIdentity, leaseDurationSeconds: 15, renewTime } });

test('the pod that leads is preferred, if it is ready', () => {
  const pods = [pod('a', ready), pod('b', ready)];
  assert.equal(readyPod({ pods, lease: lease('b_0a1b2c') })?.metadata.name, 'b');
  assert.equal(readyPod({ pods, lease: lease('gone_0a1b2c') })?.metadata.name, 'a');
  assert.equal(leaderOf({ lease: lease('') }), undefined);
});

test('a Lease that was not renewed for its whole duration leads nobody', () => {
  assert.deepEqual(renewalOf({ lease: lease('a') }, nowMs), { agoMs: 5_000, isLate: false });
  assert.deepEqual(renewalOf({ lease: lease('a', '2026-11-18T10:00:00Z') }, nowMs), { agoMs: 30_000, isLate: true });
  assert.equal(renewalOf({ lease: undefined }, nowMs), undefined);
});

test('nothing to connect to: not installed, or scaled to 0', () => {
  assert.throws(
    () => mustBeInstalled(facts({ deployment: undefined }), 'ops'),
    /^UserError: there is no Deployment tapfix-watcher in namespace ops/,
  );
  assert.throws(() => mustBeInstalled(facts({ deployment: object({ spec: { replicas: 0 } }) }), 'ops'), /scaled to 0/);
  mustBeInstalled(facts(), 'ops');
});
