import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthSubject, readAffected, readHealth } from '../../../src/diagnosis/health.ts';
import type { LiveHealth } from '../../../src/health/trouble.ts';
import { blockedByQuota } from '../../support/street.ts';
import { aPodOf, aShop, aWorkload, crashing, ownedBy, type Owner, type Shop } from './support.ts';

/* Which classes are true of a workload by a fresh reading. What cannot be confirmed is not among them, and not healthy either. */

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const at = (agoMs: number): string => new Date(nowMs - agoMs).toISOString();
const settled = (n: number) => ({ observedGeneration: 1, replicas: n, updatedReplicas: n, availableReplicas: n });
const short = { ...settled(1), availableReplicas: 0 };

interface PodParts {
  container?: object;
  conditions?: object[];
  phase?: string;
  status?: object;
  spec?: object;
}

/** A pod with exactly this status. */
function aPod(
  { server }: Shop,
  owner: Owner,
  { container, conditions = [], phase = 'Running', status, spec }: PodParts,
): string {
  const { metadata } = server.seed('Pod', 'shop', {
    metadata: { name: `pod-${server.list('Pod').length}`, labels: { app: 'a' }, ...ownedBy(owner) },
    spec,
    status: {
      phase,
      conditions,
      ...(container && { containerStatuses: [{ name: 'app', ready: false, restartCount: 0, ...container }] }),
      ...status,
    },
  });
  return metadata.uid;
}

function anEvent({ server }: Shop, reason: string, message: string, involvedObject: object, agoMs = 10_000): void {
  const name = `event-${server.list('Event').length}`;
  server.seed('Event', 'shop', { metadata: { name }, type: 'Warning', reason, message, involvedObject });
  server.change('Event', 'shop', name, { metadata: { creationTimestamp: at(agoMs) } });
}

/** A Deployment with one revision. */
function aRollout(shop: Shop, status: object = short, set: object = {}, spec: object = { replicas: 1 }) {
  const deployment = aWorkload(shop, 'Deployment', spec, status);
  return { deployment, set: aWorkload(shop, 'ReplicaSet', { replicas: 1 }, set, deployment) };
}

const unready = (agoMs: number) => [{ type: 'Ready', status: 'False', lastTransitionTime: at(agoMs) }];
const running = (agoMs: number) => ({ state: { running: { startedAt: at(agoMs) } }, started: true });
const creating = { container: { state: { waiting: { reason: 'ContainerCreating' } } }, phase: 'Pending' };
const denied = 'pods "a" is forbidden: violates PodSecurity "restricted:latest"';
const overQuota = 'pods "a" is forbidden: exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
const refused = (message: string) => ({ conditions: [{ type: 'ReplicaFailure', status: 'True', message }] });
const hasFailed = [{ type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded', message: 'gave up' }];

/** A CronJob that succeeded a minute ago, and one of whose runs failed at another time. */
const keptFailure = (failedAgoMs: number) => (shop: Shop) => {
  const cron = aWorkload(shop, 'CronJob', {}, { lastSuccessfulTime: at(60_000) });
  const conditions = hasFailed.map((one) => ({ ...one, lastTransitionTime: at(failedAgoMs) }));
  const run = aWorkload(shop, 'Job', {}, { conditions }, cron);
  shop.server.change('Job', 'shop', run.name, { metadata: { creationTimestamp: at(failedAgoMs + 1_000) } });
  return cron;
};

const withPod =
  (parts: PodParts, status: object = short) =>
  (shop: Shop) => {
    const { deployment, set } = aRollout(shop, status);
    aPod(shop, set, parts);
    return deployment;
  };
/** A pod that is being set up, and what its events say. */
const waiting =
  (...events: [string, string][]) =>
  (shop: Shop) => {
    const { deployment, set } = aRollout(shop);
    const uid = aPod(shop, set, { ...creating, conditions: unready(200_000) });
    for (const [reason, message] of events) anEvent(shop, reason, message, { kind: 'Pod', name: 'pod-0', uid });
    return deployment;
  };
const refusedRollout = (words: string, event?: string, agoMs?: number) => (shop: Shop) => {
  const { deployment, set } = aRollout(shop, { ...short, replicas: 0 }, refused(words));
  if (event !== undefined) anEvent(shop, 'FailedCreate', event, set, agoMs);
  return deployment;
};
const refusedSet =
  (
    kind: 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob',
    spec: object,
    status: object,
    agoMs = 10_000,
    words = denied,
  ) =>
  (shop: Shop) => {
    const set = aWorkload(shop, kind, spec, status);
    anEvent(shop, 'FailedCreate', words, set, agoMs);
    return set;
  };
const custom: Owner = { kind: 'Postgres', name: 'db', uid: 'db-1' };

interface Case {
  make(shop: Shop): Owner;
  subject?: Partial<HealthSubject>;
  want: string;
}
const cases: Record<string, Case> = {
  'a pod that is not ready for three minutes': {
    make: withPod({ container: running(180_000), conditions: unready(180_000) }),
    want: 'ProbeFailing for 180 s',
  },
  'a pod that is not ready yet': {
    make: withPod({ container: running(5_000), conditions: unready(60_000) }),
    want: 'ProbeFailing for 5 s',
  },
  'a pod of a rollout that is not ready, while all that were asked for are': {
    make: withPod({ container: running(180_000), conditions: unready(180_000) }, settled(1)),
    subject: { class: 'ProbeFailing' },
    want: 'healthy',
  },
  'an image that is not there': {
    make: withPod({ container: { state: { waiting: { reason: 'ImagePullBackOff' } } }, phase: 'Pending' }),
    want: 'ImagePull',
  },
  'no node for it': {
    make: withPod({
      phase: 'Pending',
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: '0/1',
          lastTransitionTime: at(30_000),
        },
      ],
    }),
    want: 'Unschedulable for 30 s',
  },
  'a pod that waits for its claim: not its own trouble': {
    make: withPod({
      phase: 'Pending',
      spec: { volumes: [{ persistentVolumeClaim: { claimName: 'data' } }] },
      conditions: [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'Unschedulable',
          message: 'pod has unbound immediate PersistentVolumeClaims',
        },
      ],
    }),
    want: 'nothing',
  },
  'killed for memory, up and ready again': {
    make: withPod(
      {
        container: {
          ready: true,
          restartCount: 2,
          ...running(5_000),
          lastState: {
            terminated: { reason: 'OOMKilled', exitCode: 137, startedAt: at(40_000), finishedAt: at(6_000) },
          },
        },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
      settled(1),
    ),
    subject: { class: 'OOMKilled' },
    want: 'OOMKilled',
  },
  'the same, when something else was noticed': {
    make: withPod(
      {
        container: {
          ready: true,
          restartCount: 2,
          ...running(5_000),
          lastState: {
            terminated: { reason: 'OOMKilled', exitCode: 137, startedAt: at(40_000), finishedAt: at(6_000) },
          },
        },
        conditions: [{ type: 'Ready', status: 'True' }],
      },
      settled(1),
    ),
    subject: { class: 'ImagePull' },
    want: 'healthy',
  },
  'evicted, and short of pods': {
    make: withPod({ phase: 'Failed', status: { reason: 'Evicted' }, conditions: unready(60_000) }),
    want: 'Evicted for 60 s',
  },
  'evicted, and replaced': {
    make: withPod({ phase: 'Failed', status: { reason: 'Evicted' }, conditions: unready(60_000) }, settled(1)),
    want: 'healthy',
  },
  'evicted two hours ago, and short for another reason': {
    make: withPod({ phase: 'Failed', status: { reason: 'Evicted' }, conditions: unready(7_200_000) }),
    want: 'nothing',
  },
  'scaled to zero, with a pod left over': {
    make: (shop) => {
      const { deployment, set } = aRollout(shop, settled(0), {}, { replicas: 0 });
      aPod(shop, set, { container: crashing });
      return deployment;
    },
    want: 'nothing',
  },

  'a pod that is being set up, and nobody says why not': { make: waiting(), want: 'nothing' },
  'a volume that does not come': {
    make: waiting(['FailedMount', 'Unable to attach or mount volumes: timed out']),
    want: 'VolumeStuck for 200 s',
  },
  'a Secret that is not there': {
    make: waiting(['FailedMount', 'secret "nope" not found']),
    want: 'ConfigMissing for 200 s',
  },
  'no sandbox': { make: waiting(['FailedCreatePodSandBox', 'plugin failed']), want: 'SandboxFailed for 200 s' },

  'a rollout past its deadline': {
    make: (shop) =>
      aRollout(shop, {
        ...short,
        conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }],
      }).deployment,
    want: 'RolloutStuck',
  },
  'a ReplicaSet whose last try succeeded, whatever was said before': {
    make(shop) {
      const set = aWorkload(shop, 'ReplicaSet', { replicas: 2 }, { replicas: 1 });
      anEvent(shop, 'FailedCreate', denied, set);
      return set;
    },
    want: 'nothing',
  },
  'pods refused by a policy': { make: refusedRollout(denied), want: 'CreateRejected' },
  'pods refused by a quota: the quota`s trouble': { make: refusedRollout(overQuota), want: 'nothing' },
  'pods refused by a quota first, and by a policy now': {
    make: refusedRollout(overQuota, denied),
    want: 'CreateRejected',
  },
  'pods refused by a policy first, and by a quota now': { make: refusedRollout(denied, overQuota), want: 'nothing' },
  'a StatefulSet whose pods are refused': {
    make: refusedSet('StatefulSet', { replicas: 1 }, { replicas: 0 }),
    want: 'CreateRejected',
  },
  'a StatefulSet that has its pods by now': {
    make: refusedSet('StatefulSet', { replicas: 1 }, settled(1)),
    want: 'healthy',
  },
  'a StatefulSet that was refused an hour ago, and is short': {
    make: refusedSet('StatefulSet', { replicas: 1 }, { replicas: 0 }, 3_500_000),
    want: 'nothing',
  },
  'a StatefulSet whose refused pod is there': {
    make: (shop) => {
      const set = refusedSet('StatefulSet', { replicas: 2 }, { replicas: 1 })(shop);
      aPodOf(shop, 'a', set);
      return set;
    },
    want: 'nothing',
  },
  'a StatefulSet refused by a quota': {
    make: refusedSet('StatefulSet', { replicas: 1 }, { replicas: 0 }, 10_000, overQuota),
    want: 'nothing',
  },
  'a DaemonSet whose pods are refused': {
    make: refusedSet('DaemonSet', {}, { desiredNumberScheduled: 1, currentNumberScheduled: 0 }),
    want: 'CreateRejected',
  },
  'a Job whose pods are refused': { make: refusedSet('Job', {}, {}), want: 'CreateRejected' },
  'a CronJob whose Jobs are refused': {
    make: refusedSet('CronJob', {}, { lastScheduleTime: at(60_000) }),
    subject: { class: 'CreateRejected' },
    want: 'CreateRejected',
  },
  'a CronJob that made one since': {
    make: refusedSet('CronJob', {}, { lastScheduleTime: at(5_000) }),
    want: 'healthy',
  },
  'a custom owner whose StatefulSet is refused': {
    make(shop) {
      const set = aWorkload(shop, 'StatefulSet', { replicas: 1 }, { replicas: 0 }, custom);
      anEvent(shop, 'FailedCreate', denied, set);
      return custom;
    },
    want: 'CreateRejected',
  },
  'a custom owner whose ReplicaSet is refused': {
    make(shop) {
      aWorkload(shop, 'ReplicaSet', { replicas: 1 }, refused(denied), custom);
      return custom;
    },
    want: 'CreateRejected',
  },

  'a Job that gave up': {
    make: (shop) => aWorkload(shop, 'Job', {}, { conditions: hasFailed }),
    subject: { class: 'JobFailed' },
    want: 'JobFailed',
  },
  'a Job that crashed until it gave up is over': {
    make: (shop) => aWorkload(shop, 'Job', {}, { conditions: hasFailed }),
    subject: { class: 'CrashLoop' },
    want: 'ended: the Job failed for good',
  },
  'a CronJob whose last run failed': {
    make(shop) {
      const cron = aWorkload(shop, 'CronJob', {}, {});
      aWorkload(shop, 'Job', {}, { conditions: hasFailed }, cron);
      return cron;
    },
    want: 'JobFailed',
  },
  'a CronJob whose failed run is gone': {
    make: (shop) => aWorkload(shop, 'CronJob', {}, { lastSuccessfulTime: at(90_000) }),
    subject: { class: 'JobFailed', sinceMs: nowMs - 60_000 },
    want: 'JobFailed',
  },
  'a CronJob that has succeeded since': {
    make: (shop) => aWorkload(shop, 'CronJob', {}, { lastSuccessfulTime: at(30_000) }),
    subject: { class: 'JobFailed', sinceMs: nowMs - 60_000 },
    want: 'healthy',
  },
  'a CronJob that has succeeded since its failed run, which is kept, and before we came': {
    make: keptFailure(90_000),
    subject: { class: 'JobFailed', sinceMs: nowMs },
    want: 'healthy',
  },
  'a CronJob that succeeded before its failed run, which is kept': {
    make: keptFailure(30_000),
    subject: { class: 'JobFailed', sinceMs: nowMs },
    want: 'JobFailed',
  },
  'a CronJob that was suspended since': {
    make: (shop) => aWorkload(shop, 'CronJob', { suspend: true }, {}),
    subject: { class: 'JobFailed', sinceMs: nowMs - 60_000 },
    want: 'ended: it was suspended',
  },
  'a pod that nobody owns, evicted': {
    make: (shop) => {
      shop.server.seed('Pod', 'shop', {
        metadata: { name: 'lonely' },
        status: { phase: 'Failed', reason: 'Evicted', conditions: unready(60_000) },
      });
      return { kind: 'Pod', name: 'lonely', uid: '' };
    },
    want: 'Evicted for 60 s',
  },
};

function verdict({ healthy, ended, troubles, lastingMs = {} }: LiveHealth): string {
  if (healthy) return ended ? `ended: ${ended}` : 'healthy';
  const found = troubles.map((one) => {
    const ms = lastingMs[one] ?? Infinity;
    return Number.isFinite(ms) ? `${one} for ${ms / 1000} s` : one;
  });
  return found.join() || 'nothing';
}

for (const [name, { make, subject, want }] of Object.entries(cases))
  test(`truth: ${name}: ${want}`, async () => {
    const shop = aShop();
    const object = make(shop);
    const live = await readHealth(shop.reader, { namespace: 'shop', object, ...subject }, nowMs);
    assert.equal(verdict(live), want);
  });

test('a healthy workload costs no look at events', async () => {
  const shop = aShop();
  const { deployment } = aRollout(shop, settled(1));
  await readHealth(shop.reader, { namespace: 'shop', object: deployment }, nowMs);
  assert.deepEqual(
    shop.server.calls.filter(({ kind }) => kind === 'Event'),
    [],
  );
});

const names = Array.from({ length: 40 }, (_, n) => `w${n}`);

test('many workloads are read from one list of each kind, and judged as if read singly', async () => {
  const shop = aShop();
  blockedByQuota(shop, names);
  const live = await readAffected(
    shop.reader,
    'shop',
    names.map((name) => `Deployment/${name}`),
    0,
  );
  assert.deepEqual([live.healthy, live.desired], [false, 80]);
  assert.deepEqual(shop.server.calls.map(({ verb, kind }) => `${verb} ${kind}`).sort(), [
    'list Deployment',
    'list Pod',
    'list ReplicaSet',
  ]);
  const two = await readAffected(shop.reader, 'shop', ['Deployment/w1', 'Deployment/w2'], 0);
  assert.deepEqual([two.healthy, two.desired], [false, 4]);
});
