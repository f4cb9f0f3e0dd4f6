import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Revision, Workload } from '../../../../src/diagnosis/workload.ts';
import { createHistory } from '../../../../src/health/history.ts';
import { viewDeployment } from '../../../../src/kube/views.ts';
import { derive } from '../../../../src/proposals/derive.ts';
import { proposeUndo } from '../../../../src/proposals/fixes/undo-fix.ts';
import { aConfig } from '../../../support/config.ts';
import { fakeServer } from '../../../support/fake-api.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { aContainer, aPod, aReplicaSet, crashing } from '../../../support/views.ts';

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

describe('of a StatefulSet or DaemonSet', () => {
  type Kind = 'StatefulSet' | 'DaemonSet';
  interface PodOptions {
    revision: 1 | 2;
    /** Since when; absent: it crashes. */
    readySince?: string;
  }
  interface SetOptions {
    kind: Kind;
    pods: PodOptions[];
    spec?: object;
    /** How many ControllerRevisions are kept. */
    kept?: number;
  }

  const longAgo = '2026-11-10T03:00:00Z';
  const ended = { exitCode: 1, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };

  /** `db` in shop: its second revision brought another image. Pods are labelled as each kind's controller does it. */
  async function wayBackOf({ kind, pods, spec = {}, kept = 2 }: SetOptions): Promise<string> {
    const clock = fakeClock();
    const server = fakeServer(clock);
    const template = (n: number) => ({
      metadata: { labels: { app: 'db' } },
      spec: { containers: [{ name: 'app', image: `shop/db:${n}` }] },
    });
    const set = server.seed(kind, 'shop', {
      metadata: { name: 'db' },
      spec: { replicas: pods.length, selector: { matchLabels: { app: 'db' } }, template: template(2), ...spec },
      status: { desiredNumberScheduled: pods.length },
    });
    const owner = { apiVersion: 'apps/v1', kind, name: 'db', uid: set.metadata.uid, controller: true };
    for (const n of [1, 2].slice(-kept))
      server.seed('ControllerRevision', 'shop', {
        metadata: { name: `db-hash${n}`, ownerReferences: [owner] },
        revision: n,
        data: { spec: { template: { ...template(n), $patch: 'replace' } } },
      } as never);
    for (const [n, { revision, readySince }] of pods.entries()) {
      const label = kind === 'StatefulSet' ? `db-hash${revision}` : `hash${revision}`;
      const ready = readySince !== undefined;
      server.seed('Pod', 'shop', {
        metadata: {
          name: `db-${n}`,
          labels: { app: 'db', 'controller-revision-hash': label },
          ownerReferences: [owner],
        },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: readySince ?? longAgo }],
          containerStatuses: [
            {
              name: 'app',
              ready,
              restartCount: ready ? 0 : 3,
              ...(ready
                ? { state: { running: { startedAt: readySince } } }
                : { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: ended } }),
            },
          ],
        },
      });
    }
    const subject = { namespace: 'shop', class: 'CrashLoop', object: { kind, name: 'db', uid: '' } };
    const deps = { reader: server.client(), history: createHistory(), config: aConfig(), nowMs: clock.now() };
    const { action, rationale } = (await derive(subject, deps))!;
    const undo = action?.['rolloutUndo'] as { kind: string; toRevision: number } | undefined;
    return undo
      ? `${undo.kind} back to ${undo.toRevision}: ${rationale.split('\n')[0]}`
      : `${action?.type ?? ''}${rationale}`;
  }

  const old = (readySince = longAgo): PodOptions => ({ revision: 1, readySince });
  const bad: PodOptions = { revision: 2 };
  const six = 'Revision 1 was seen healthy for 6 days';

  const cases: { name: string; of: SetOptions; want: string }[] = [
    {
      name: 'a StatefulSet whose rollout stands still at its first new pod',
      of: { kind: 'StatefulSet', pods: [old(), old(), bad] },
      want: `StatefulSet back to 1: ${six}; 1 pod is replaced, 2 of revision 1 stay. To undo:`,
    },
    {
      name: 'a DaemonSet the same',
      of: { kind: 'DaemonSet', pods: [old(), bad, bad, bad] },
      want: `DaemonSet back to 1: ${six}; 3 pods are replaced one by one, 1 of revision 1 stays. To undo:`,
    },
    {
      name: 'a DaemonSet that replaces all at a time',
      of: {
        kind: 'DaemonSet',
        pods: [old(), bad, bad],
        spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } },
      },
      want: `DaemonSet back to 1: ${six}; 2 pods are replaced, maybe all at once, 1 of revision 1 stays. To undo:`,
    },
    {
      name: 'nothing is left of the revision before',
      of: { kind: 'StatefulSet', pods: [bad] },
      want: 'revision 1 was not seen healthy, so going back may not help',
    },
    {
      name: 'what is left of it has not been ready for long',
      of: { kind: 'StatefulSet', pods: [old('2026-11-16T03:11:50Z'), bad] },
      want: 'revision 1 was not seen healthy, so going back may not help; no healthy pod runs the same as the one that crashes',
    },
    {
      name: 'what is left of it crashes as well',
      of: { kind: 'StatefulSet', pods: [old(), { revision: 1 }, bad] },
      want: 'pods of an older revision crash as well, so revision 2 did not bring it; 2 of 3 pods crash, so it is not one pod alone',
    },
    {
      name: 'its first revision',
      of: { kind: 'StatefulSet', pods: [bad], kept: 1 },
      want: 'this is its first revision, there is none to go back to',
    },
    {
      name: 'one that only replaces what somebody deletes',
      of: { kind: 'StatefulSet', pods: [old(), bad], spec: { updateStrategy: { type: 'OnDelete' } } },
      want: 'StatefulSet db replaces a pod only when somebody deletes it (OnDelete): an undo would not roll out; no healthy pod runs the same as the one that crashes',
    },
    {
      name: 'one bad pod among others of the same revision',
      of: {
        kind: 'StatefulSet',
        pods: [{ revision: 2, readySince: longAgo }, { revision: 2, readySince: longAgo }, bad],
      },
      want: 'DeletePod2 other pods run the same and are healthy, so it may be this one alone; it is evicted, as disruption budgets allow, and made anew. Nothing to undo: StatefulSet db makes a new pod.',
    },
  ];
  for (const { name, of, want } of cases) test(`${name}: ${want}`, async () => assert.equal(await wayBackOf(of), want));
});
