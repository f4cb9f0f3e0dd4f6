import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import { derive } from '../../../src/proposals/derive.ts';
import { aConfig } from '../../support/config.ts';
import { recordedReader } from '../../support/recorded.ts';

const nowMs = Date.parse('2026-11-16T08:30:30Z');
const first = 'this is its first revision, there is none to go back to';
const nothing = 'nothing safe to do by a tap';

/** What a real control plane and a real kubelet left behind, and what is said of it. */
const cases: { of: string; why: string; seen: string[]; fix: string }[] = [
  { of: 'ImagePull shop/Deployment/typo', why: 'image localhost/app:1.O: registry localhost does not answer (connection refused)', seen: ['its only pod waits for it'], fix: first },
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
  { of: 'AutoscalerBlind free/HorizontalPodAutoscaler/slow', why: 'it cannot read cpu: the API metrics.k8s.io (metrics-server) is not installed, since 2026-11-16T08:28:51.000Z', seen: ['Deployment slow stays at 1 (it may have 1 to 3)'], fix: nothing },
  { of: 'CreateRejected locked/StatefulSet/db', why: 'Pod Security level restricted refuses its pods: host namespaces (hostNetwork=true), allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile', seen: [], fix: 'a rule is changed by those who set it, not by a tap' },
]; // prettier-ignore
for (const { of, why, seen, fix } of cases)
  test(`recorded: ${of}: ${why}`, async () => {
    const [, failureClass = '', namespace = '', kind = '', name = ''] = /^(\w+) ([^/]+)\/(\w+)\/(.+)$/.exec(of) ?? [];
    const deps = { reader: recordedReader(), history: createHistory(), config: aConfig(), nowMs };
    const derived = await derive({ namespace, class: failureClass, object: { kind, name, uid: '' } }, deps);
    assert.deepEqual([derived?.diagnosis, derived?.evidence, derived?.rationale], [why, seen, fix]);
  });
