import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Revision, Workload } from '../../../src/diagnosis/workload.ts';
import { createHistory } from '../../../src/health/history.ts';
import { viewDeployment } from '../../../src/kube/views.ts';
import { proposeUndo } from '../../../src/proposals/fixes/undo-fix.ts';
import { aContainer, aPod, aReplicaSet, crashing } from '../../support/views.ts';

const nowMs = 1_000_000;
const stableForMs = 30_000;
const newest: Revision = { view: aReplicaSet({ uid: 'rs-2', revision: 2, desired: 1, available: 0 }), template: {} };
const previous: Revision = { view: aReplicaSet({ uid: 'rs-1', revision: 1, desired: 1, available: 1 }), template: {} };
const previousOf = (desired: number): Revision => ({
  ...previous,
  view: { ...previous.view, desired, available: desired },
});
const owner = (uid: string) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: uid, uid, controller: true });
const badPod = aPod({ owner: owner('rs-2'), ready: false, containers: [crashing] });
const ended = (uptimeMs: number) => ({ reason: 'Error', exitCode: 1, uptimeMs, finishedAtMs: nowMs - 5_000 });
const afterLiving = (uptimeMs: number) => ({ ...badPod, containers: [{ ...crashing, ended: ended(uptimeMs) }] });
const restarted = aContainer({ restarts: 1, ended: ended(1_000) });
const goodPod = (readySinceMs: number) => aPod({ owner: owner('rs-1'), readySinceMs });

const object = {
  metadata: { name: 'checkout', namespace: 'shop', uid: 'd-1', resourceVersion: '1', creationTimestamp: '' },
  spec: {},
};
const workload = (over: Partial<Workload> = {}): Workload => ({
  object,
  deployment: viewDeployment(object)!,
  counts: { desired: 1, ready: 1, settled: false },
  pods: [badPod, goodPod(nowMs - 60_000)],
  revisions: [newest, previous],
  ...over,
});
/** A history in which this revision was available for that long and then scaled away. */
const seen = (uid: string, forMs: number) => {
  const history = createHistory();
  history.observe(aReplicaSet({ uid }), 0);
  history.observe(aReplicaSet({ uid, desired: 0, available: 0 }), forMs);
  return history;
};
/** A history in which it broke by itself, came back, and was then scaled away. */
const brokeAfter = (uid: string, firstMs: number, thenMs: number) => {
  const history = createHistory();
  history.observe(aReplicaSet({ uid }), 0);
  history.observe(aReplicaSet({ uid, available: 0 }), firstMs);
  history.observe(aReplicaSet({ uid }), firstMs);
  history.observe(aReplicaSet({ uid, desired: 0, available: 0 }), firstMs + thenMs);
  return history;
};
/** Four of five for that long, then none. */
const served = (uid: string, forMs: number, history = createHistory()) => {
  history.observe(aReplicaSet({ uid, desired: 5, available: 4 }), 0);
  history.observe(aReplicaSet({ uid, desired: 5, available: 0 }), forMs);
  return history;
};
/** One of three, then asked for no more than that. */
const shrunk = (uid: string) => {
  const history = createHistory();
  history.observe(aReplicaSet({ uid, desired: 3, available: 1 }), 0);
  history.observe(aReplicaSet({ uid, desired: 1, available: 1 }), 500_000);
  return history;
};
const initialised = aContainer({
  name: 'migrate',
  isDown: true,
  ended: { reason: 'Completed', exitCode: 0, uptimeMs: 300_000, finishedAtMs: 1 },
});
const nothing = createHistory();
const paused = { ...viewDeployment(object)!, paused: true };

const cases = [
  { name: 'the previous revision still serves', workload: workload(), history: nothing, want: 'back to 1' },
  {
    name: 'the previous revision was seen healthy and is scaled away',
    workload: workload({ pods: [badPod] }),
    history: seen('rs-1', 40_000),
    want: 'back to 1',
  },
  {
    name: 'nobody saw the previous revision',
    workload: workload({ pods: [badPod] }),
    history: nothing,
    want: 'was not seen healthy',
  },
  {
    name: 'the previous revision was up for a moment only',
    workload: workload({ pods: [badPod] }),
    history: seen('rs-1', 29_000),
    want: 'was not seen healthy',
  },
  {
    name: 'the previous revision was up for exactly the window',
    workload: workload({ pods: [badPod] }),
    history: seen('rs-1', 30_000),
    want: 'back to 1',
  },
  {
    name: 'one of two pods of the previous revision has only just become ready',
    workload: workload({
      pods: [badPod, goodPod(nowMs - 60_000), goodPod(nowMs - 5_000)],
      revisions: [newest, previousOf(2)],
    }),
    history: nothing,
    want: 'was not seen healthy',
  },
  {
    name: 'the only pod of the previous revision is on its way out',
    workload: workload({ pods: [badPod, { ...goodPod(nowMs - 60_000), deleting: true }] }),
    history: nothing,
    want: 'was not seen healthy',
  },
  {
    name: 'an older pod in its back-off after its first restart',
    workload: workload({ pods: [badPod, { ...goodPod(nowMs - 60_000), containers: [{ ...crashing, restarts: 1 }] }] }),
    history: seen('rs-1', 40_000),
    want: 'did not bring it',
  },
  {
    name: 'the previous revision has only just become ready',
    workload: workload({ pods: [badPod, goodPod(nowMs - 5_000)] }),
    history: nothing,
    want: 'was not seen healthy',
  },
  {
    name: 'the newest revision ran well before',
    workload: workload(),
    history: seen('rs-2', 40_000),
    want: 'itself ran healthy',
  },
  {
    name: 'the older pods crash too',
    workload: workload({ pods: [badPod, aPod({ owner: owner('rs-1'), containers: [crashing] })] }),
    history: seen('rs-1', 40_000),
    want: 'did not bring it',
  },
  {
    name: 'a revision that looks healthy for 45 s before each crash',
    workload: workload({ pods: [afterLiving(45_000), goodPod(nowMs - 60_000)] }),
    history: seen('rs-2', 50_000),
    want: 'back to 1',
  },
  {
    name: 'a revision that used to live much longer than it does now',
    workload: workload({ pods: [afterLiving(45_000), goodPod(nowMs - 60_000)] }),
    history: seen('rs-2', 3 * 86_400_000),
    want: 'itself ran healthy',
  },
  {
    name: 'an older pod that was restarted once and serves again',
    workload: workload({ pods: [badPod, { ...goodPod(nowMs - 60_000), containers: [restarted] }] }),
    history: nothing,
    want: 'back to 1',
  },
  {
    name: 'an older pod that keeps crashing and is up just now',
    workload: workload({ pods: [badPod, { ...goodPod(nowMs - 60_000), containers: [{ ...restarted, restarts: 4 }] }] }),
    history: nothing,
    want: 'did not bring it',
  },
  {
    name: 'a previous revision that crashed after 70 s each time',
    workload: workload({ pods: [badPod] }),
    history: brokeAfter('rs-1', 70_000, 70_000),
    want: 'was not seen healthy',
  },
  {
    name: 'a previous revision that broke once and then held for long',
    workload: workload({ pods: [badPod] }),
    history: brokeAfter('rs-1', 70_000, 150_000),
    want: 'back to 1',
  },
  {
    name: 'a newest revision that served for weeks with one pod missing',
    workload: workload({ pods: [badPod] }),
    history: served('rs-2', 3 * 7 * 86_400_000, seen('rs-1', 86_400_000)),
    want: 'itself ran healthy',
  },
  {
    name: 'a newest revision that served for nine minutes with one pod missing',
    workload: workload({ pods: [badPod] }),
    history: served('rs-2', 540_000, seen('rs-1', 86_400_000)),
    want: 'back to 1',
  },
  {
    name: 'a previous revision of which only one pod of three was ever well, and only that one is left',
    workload: workload({ pods: [badPod, goodPod(nowMs - 600_000)] }), // not 0: that is no time at all
    history: shrunk('rs-1'),
    want: 'was not seen healthy',
  },
  {
    name: 'a newest revision whose init container takes long',
    workload: workload({ pods: [{ ...badPod, containers: [initialised, ...badPod.containers] }] }),
    history: seen('rs-2', 540_000),
    want: 'itself ran healthy',
  },
  {
    name: 'nothing that crashes',
    workload: workload({ pods: [aPod({ owner: owner('rs-2'), ready: false }), goodPod(nowMs - 60_000)] }),
    history: nothing,
    want: 'no pod of it crashes',
  },
  {
    name: 'a revision whose pods are refused',
    workload: workload({
      revisions: [{ ...newest, view: { ...newest.view, createFailure: 'exceeded quota' } }, previous],
    }),
    history: nothing,
    want: 'are refused',
  },
  { name: 'the first revision', workload: workload({ revisions: [newest] }), history: nothing, want: 'first revision' },
  { name: 'a paused rollout', workload: workload({ deployment: paused }), history: nothing, want: 'paused' },
  {
    name: 'what keeps no revisions',
    workload: { ...workload({ revisions: [] }), deployment: undefined },
    history: nothing,
    want: 'no revision to go back to',
  },
];
for (const { name, workload, history, want } of cases)
  test(`undo: ${name}`, () => {
    const way = proposeUndo({ workload, history, stableForMs, nowMs });
    assert.ok(('refused' in way ? way.refused : `back to ${way.revision}`).includes(want), JSON.stringify(way));
  });
