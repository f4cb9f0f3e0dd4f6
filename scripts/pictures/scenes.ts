import { scenes, type Scene } from '../../test/golden/scenes.ts';
import { aFix, aNotice, aQuotaFix, at, executed, approvedByAda, condition } from '../../test/support/fixes.ts';

/**
 * What the pictures show is what tapfix does today. The golden scenes also have classes and words that are still to
 * come; where they do, the picture has a scene of its own.
 */
const golden = (name: string): Scene => {
  const found = scenes.find((scene) => scene.name === name);
  if (!found) throw new Error(`there is no scene "${name}" in test/golden/scenes.ts`);
  return found;
};

const { context } = golden('proposed');
const approved = { approval: approvedByAda };

const quotaDiff = `delete ResourceQuota platform-hardening
  requests.memory  50Mi
then make 2 owners retry at once: ReplicaSet api-7d9f8b6c5d, StatefulSet worker`;

type Options = Parameters<typeof aQuotaFix>[0];
const aQuota = (over: Options = {}) =>
  aQuotaFix({
    ...over,
    spec: {
      context: {
        changed: [`${at('02:11:58')} ResourceQuota created by kubectl-create`],
        evidence: ['ready when noticed: api 2/3, StatefulSet/worker 0/5'],
      },
      rationale: golden('quota proposed').members[0]!.spec.rationale!.replace('4 workloads', '2 workloads'),
    },
    status: {
      preview: { diff: quotaDiff, targetHash: 'q1', at: at('02:12:36') },
      sightings: { count: 4, lastSeen: at('02:12:34'), affected: ['Deployment/api', 'StatefulSet/worker'] },
      ...over.status,
    },
  });

const crashes = (name: string, n: number, ready: number, desired: number) => ({
  n,
  name,
  incident: { class: 'CrashLoop', severity: 'critical' as const },
  status: { sightings: { count: 2, lastSeen: at('02:12:34'), ready, desired } },
});

const noWayBack = {
  diagnosis: 'container app exits 1 after 20 s',
  context: {
    changed: [`${at('02:11:40')} rollout 7 (helm): app image 2.3.0 → 2.4.0`],
    evidence: ['6 restarts of 2 pods'],
  },
  rationale: 'revision 6 was not seen healthy, so going back may not help',
};

const own = (name: string, members: Scene['members']): Scene => ({ name, members, context });

export const shown = {
  proposed: golden('proposed'),
  approved: golden('approved'),
  applied: golden('applied'),
  recovered: golden('recovered'),
  applying: golden('applying'),
  failed: golden('failed not recovered'),
  resolved: golden('resolved'),
  superseded: golden('superseded'),
  storm: golden('storm'),
  page: { ...golden('page first'), members: golden('page first').members.slice(0, 34) },
  expired: golden('expired'),
  rejected: golden('rejected'),
  noticed: own('noticed', [aNotice({ ...crashes('reports', 3, 0, 2), spec: noWayBack })]),
  quota: own('quota', [aQuota()]),
  quotaConfirming: { ...golden('quota confirming'), members: [aQuota()] },
  quotaRecovered: own('quota recovered', [
    aQuota({
      ...approved,
      phase: 'Recovered',
      status: { execution: executed },
      conditions: [condition('Recovered', '02:14:53')],
    }),
  ]),
  threeAtOnce: {
    name: 'three at once',
    members: [aFix(), aFix(crashes('web', 2, 1, 2)), aNotice({ ...crashes('mail', 4, 0, 1), spec: noWayBack })],
    context: { ...context, notice: '0'.repeat(32) },
  },
} satisfies Record<string, Scene>;
