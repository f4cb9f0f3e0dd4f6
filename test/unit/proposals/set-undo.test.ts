import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import { derive } from '../../../src/proposals/derive.ts';
import { aConfig } from '../../support/config.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

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
      metadata: { name: `db-${n}`, labels: { app: 'db', 'controller-revision-hash': label }, ownerReferences: [owner] },
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
    want: `StatefulSet back to 1: ${six}; 1 pod is replaced, 2 of revision 1 stay. Put it back with:`,
  },
  {
    name: 'a DaemonSet the same',
    of: { kind: 'DaemonSet', pods: [old(), bad, bad, bad] },
    want: `DaemonSet back to 1: ${six}; 3 pods are replaced one by one, 1 of revision 1 stays. Put it back with:`,
  },
  {
    name: 'a DaemonSet that replaces all at a time',
    of: {
      kind: 'DaemonSet',
      pods: [old(), bad, bad],
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } } },
    },
    want: `DaemonSet back to 1: ${six}; 2 pods are replaced, maybe all at once, 1 of revision 1 stays. Put it back with:`,
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
    want: 'DeletePod2 other pods run the same and are healthy, so it may be this one alone; it is evicted, as disruption budgets allow, and made anew. Nothing to put back: StatefulSet db makes a new pod.',
  },
];
for (const { name, of, want } of cases) test(`${name}: ${want}`, async () => assert.equal(await wayBackOf(of), want));
