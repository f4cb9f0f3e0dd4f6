import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { setupTroubles } from '../../../src/health/event-words.ts';
import { rolloutTroubles } from '../../../src/health/refusals.ts';
import { workloadHealth } from '../../../src/health/workload-health.ts';
import type { KubeObject } from '../../../src/kube/api.ts';
import {
  viewAutoscaler,
  viewClaim,
  viewDeployment,
  viewEvent,
  viewJob,
  viewNode,
  viewPod,
  viewReplicaSet,
  viewSet,
  viewStorageClass,
} from '../../../src/kube/views.ts';
import {
  detectAutoscaler,
  detectClaim,
  detectDeployment,
  detectEvent,
  detectJob,
  detectNode,
  detectPod,
  detectSet,
} from '../../../src/signals/detect.ts';
import type { Signal } from '../../../src/signals/signal.ts';

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const words = ['Ready', 'True', 'False', 'Unknown', 'Pending', 'Running', 'Failed', 'CrashLoopBackOff', 'OOMKilled', 'ImagePullBackOff', 'CreateContainerConfigError', 'Unschedulable', 'PodScheduled', 'Progressing', 'ProgressDeadlineExceeded', 'ReplicaFailure', 'ScalingActive', 'Evicted', 'Warning', 'FailedCreate', 'BackOff', 'Unhealthy', 'FailedMount', 'Lost', '2026-11-16T03:11:00Z', '9999-99-99', '+275760-09-13T00:00:00Z', '\u0000\u202e', 'Error: configmap "x" not found', 'exceeded quota: q, requested']; // prettier-ignore
const keys = ['metadata', 'spec', 'status', 'name', 'uid', 'namespace', 'deletionTimestamp', 'ownerReferences', 'controller', 'kind', 'apiVersion', 'conditions', 'type', 'reason', 'message', 'lastTransitionTime', 'phase', 'containerStatuses', 'initContainerStatuses', 'state', 'lastState', 'waiting', 'terminated', 'running', 'finishedAt', 'startedAt', 'restartCount', 'ready', 'replicas', 'involvedObject', 'series', 'count', 'volumes', 'persistentVolumeClaim', 'claimName', 'storageClassName', 'taints', 'key', 'annotations', 'labels', 'generation', 'nodeName', '__proto__', 'constructor']; // prettier-ignore

const leaf = fc.oneof(
  fc.constantFrom(...words),
  fc.string(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.constant(undefined),
);
const { anything } = fc.letrec<{ anything: unknown }>((tie) => ({
  anything: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf,
    fc.array(tie('anything'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...keys), tie('anything'), { maxKeys: 6 }),
  ),
}));
/** Something like an object of the cluster, with anything wherever anything may be. */
const condition = fc.record({
  type: fc.constantFrom(...words),
  status: fc.constantFrom('True', 'False', 'Unknown'),
  reason: leaf,
  message: leaf,
  lastTransitionTime: leaf,
});
const container = fc.record(
  {
    name: leaf,
    ready: leaf,
    restartCount: leaf,
    started: leaf,
    state: fc.record({ waiting: anything, terminated: anything, running: anything }, { requiredKeys: [] }),
    lastState: anything,
  },
  { requiredKeys: [] },
);
const likely = fc.record(
  {
    metadata: fc.oneof(
      anything,
      fc.record({
        name: leaf,
        uid: leaf,
        namespace: leaf,
        ownerReferences: anything,
        deletionTimestamp: leaf,
        generation: leaf,
      }),
    ),
    spec: anything,
    status: fc.oneof(
      anything,
      fc.record(
        {
          phase: leaf,
          reason: leaf,
          conditions: fc.array(fc.oneof(condition, anything), { maxLength: 4 }),
          containerStatuses: fc.array(fc.oneof(container, anything), { maxLength: 3 }),
        },
        { requiredKeys: [] },
      ),
    ),
    involvedObject: fc.oneof(
      anything,
      fc.record({ kind: fc.constantFrom('Pod', 'ReplicaSet', 'Job', ''), name: leaf, uid: leaf }),
    ),
    type: leaf,
    reason: leaf,
    message: leaf,
    series: anything,
  },
  { requiredKeys: [] },
);

const seen =
  <V>(view: (object: KubeObject) => V | undefined, detect: (view: V) => Signal[]) =>
  (object: unknown) => {
    const found = view(object as KubeObject);
    return found === undefined ? [] : detect(found);
  };
const streets: Record<string, (object: unknown) => Signal[]> = {
  Event: seen(viewEvent, (event) => [detectEvent(event)].filter((one) => one !== undefined)),
  Pod: seen(viewPod, (pod) => {
    setupTroubles(pod, [], nowMs);
    workloadHealth({ desired: 1, ready: 0, settled: true }, [pod], nowMs);
    return detectPod(pod, nowMs);
  }),
  Deployment: seen(viewDeployment, (deployment) => (rolloutTroubles(deployment), detectDeployment(deployment))),
  ReplicaSet: seen(viewReplicaSet, () => []),
  StatefulSet: seen(viewSet('StatefulSet'), detectSet),
  DaemonSet: seen(viewSet('DaemonSet'), detectSet),
  Job: seen(viewJob, (job) => detectJob(job, nowMs)),
  PersistentVolumeClaim: seen(viewClaim, (claim) => detectClaim(claim, 'missing')),
  HorizontalPodAutoscaler: seen(viewAutoscaler, detectAutoscaler),
  Node: seen(viewNode, detectNode),
  StorageClass: seen(viewStorageClass, () => []),
};

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
for (const [kind, street] of Object.entries(streets))
  test(`anything at all as a ${kind}: no throw, and no signal of what has no name`, () => {
    fc.assert(
      fc.property(fc.oneof(likely, anything), (object) => {
        for (const signal of street(object)) {
          const { metadata } = object as { metadata: { uid: unknown; name: unknown } };
          assert.ok(isText(metadata.uid) && isText(metadata.name));
          assert.ok([signal.object.kind, signal.object.name, signal.class, signal.reason].every(isText));
          assert.ok(kind === 'Event' || isText(signal.object.uid));
          assert.ok(signal.message.length <= 4096);
        }
      }),
      { numRuns: 2_000 },
    );
  });

test('the property above meets signals, and not only silence', () => {
  let signals = 0;
  const samples = fc.sample(likely, { numRuns: 5_000, seed: 42 });
  for (const street of Object.values(streets)) for (const object of samples) signals += street(object).length;
  assert.ok(signals > 50, `${signals}`);
});
