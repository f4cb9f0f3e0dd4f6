import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gather, guard, readBlockedHealth } from '../../../src/controller/gather.ts';
import { createHistory } from '../../../src/health/history.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import { aConfig } from '../../support/config.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { health, quotaWorld, silent, undoWorld, type World } from './world.ts';

const cases = [
  { name: 'a namespace that is included', namespace: 'shop', want: undefined },
  { name: 'kube-system, although * is included', namespace: 'kube-system', want: 'ProtectedNamespace' },
  { name: 'kube-system, although it is named', namespace: 'kube-system', include: ['kube-system'], want: 'ProtectedNamespace' },
  { name: "tapfix's own", namespace: 'tapfix', want: 'ProtectedNamespace' },
  { name: 'one that is labelled', namespace: 'shop', labels: { 'tapfix.dev/protected': 'true' }, want: 'ProtectedNamespace' },
  { name: 'one that is not included', namespace: 'shop', include: ['pay-*'], want: 'NotWatched' },
  { name: 'one that is excluded: exclude wins', namespace: 'shop', exclude: ['sh*'], want: 'NotWatched' },
]; // prettier-ignore

for (const { name, namespace, include = ['*'], exclude = [], labels = {}, want } of cases) {
  test(`${name}: ${want ?? 'may be changed'}`, () => {
    const config = aConfig({ namespaces: { include, exclude } });
    assert.equal(guard({ namespace, own: 'tapfix', labels: labels as Record<string, string> }, config)?.reason, want);
  });
}

describe('the health of those whom a quota blocked', () => {
  const sinceMs = Date.parse('2026-11-16T03:12:00Z');
  const complete = { conditions: [{ type: 'Complete', status: 'True' }] };
  const good = { observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };

  interface Case {
    name: string;
    kind: Kind;
    spec?: object;
    status?: object;
    deployment?: object;
    /** What the Deployment is asked for. */
    replicas?: number;
    gone?: 'gone' | 'another';
    /** Well or not; or gone, or how it ended: the controller calls neither of these recovered. */
    want: boolean | string;
  }
  const cases: Case[] = [
    { name: 'a StatefulSet with all ready', kind: 'StatefulSet', spec: { replicas: 2 }, status: good, want: true },
    { name: 'a StatefulSet with one missing', kind: 'StatefulSet', spec: { replicas: 3 }, status: good, want: false },
    {
      name: 'a StatefulSet not yet observed',
      kind: 'StatefulSet',
      spec: { replicas: 2 },
      status: { ...good, observedGeneration: 0 },
      want: false,
    },
    { name: 'a StatefulSet that is gone', kind: 'StatefulSet', gone: 'gone', want: 'gone' },
    {
      name: 'a StatefulSet that was made anew and is short',
      kind: 'StatefulSet',
      spec: { replicas: 3 },
      status: good,
      gone: 'another',
      want: false,
    },
    {
      name: 'a DaemonSet with all ready',
      kind: 'DaemonSet',
      status: { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 },
      want: true,
    },
    {
      name: 'a DaemonSet with one missing',
      kind: 'DaemonSet',
      status: { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1 },
      want: false,
    },
    { name: 'a Job that runs', kind: 'Job', status: { active: 1 }, want: true },
    { name: 'a Job that is done', kind: 'Job', status: complete, want: true },
    { name: 'a Job without pods', kind: 'Job', status: {}, want: false },
    { name: 'a lone ReplicaSet with all ready', kind: 'ReplicaSet', spec: { replicas: 2 }, status: good, want: true },
    {
      name: 'a lone ReplicaSet with one missing',
      kind: 'ReplicaSet',
      spec: { replicas: 3 },
      status: good,
      want: false,
    },
    {
      name: 'a ReplicaSet scaled to zero, its Deployment healthy',
      kind: 'ReplicaSet',
      spec: { replicas: 0 },
      deployment: good,
      want: true,
    },
    {
      name: 'a ReplicaSet scaled to zero, its Deployment short',
      kind: 'ReplicaSet',
      spec: { replicas: 0 },
      deployment: { ...good, availableReplicas: 1 },
      want: false,
    },
    {
      name: 'a ReplicaSet that is gone, its Deployment healthy',
      kind: 'ReplicaSet',
      gone: 'gone',
      deployment: good,
      want: true,
    },
    {
      name: 'a ReplicaSet that is gone, its Deployment short',
      kind: 'ReplicaSet',
      gone: 'gone',
      deployment: { ...good, replicas: 3 },
      want: false,
    },
    { name: 'a ReplicaSet that is gone with its Deployment', kind: 'ReplicaSet', gone: 'gone', want: 'gone' },
    {
      name: 'a Deployment scaled to zero',
      kind: 'ReplicaSet',
      spec: { replicas: 0 },
      deployment: { observedGeneration: 1 },
      replicas: 0,
      want: 'it was scaled to zero',
    },
    {
      name: 'a CronJob whose next run has not come',
      kind: 'CronJob',
      status: { lastScheduleTime: '2026-11-16T03:11:59Z' },
      want: 'its next run has not come yet',
    },
    {
      name: 'a CronJob that has run since',
      kind: 'CronJob',
      status: { lastScheduleTime: '2026-11-16T03:13:00Z' },
      want: true,
    },
    { name: 'a CronJob that is gone', kind: 'CronJob', gone: 'gone', want: 'gone' },
    { name: 'a Job that is gone, as they are when they are done', kind: 'Job', gone: 'gone', want: true },
    {
      name: 'a Job that failed for good',
      kind: 'Job',
      status: { conditions: [{ type: 'Failed', status: 'True' }] },
      want: false,
    },
  ];

  for (const { name, kind, spec = {}, status = {}, deployment, replicas = 2, gone, want } of cases) {
    test(`${name}: ${want === true ? 'fine' : want || 'not fine'}`, async () => {
      const server = fakeServer(fakeClock());
      const owned = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x', uid: 'd', controller: true };
      if (deployment) {
        server.seed('Deployment', 'shop', { metadata: { name: 'x' }, spec: { replicas }, status: deployment });
      }
      const metadata = { name: 'x-5bbc', ...(deployment && { ownerReferences: [owned] }) };
      const { uid } = server.seed(kind, 'shop', { metadata, spec, status }).metadata;
      if (gone === 'gone') server.remove(kind, 'shop', 'x-5bbc');
      const blocked = [{ kind, name: 'x-5bbc', uid: gone === 'another' ? 'other' : uid }];
      const live = await readBlockedHealth(server.client(), 'shop', blocked, { nowMs: 0, sinceMs });
      assert.equal(live.gone ? 'gone' : (live.ended ?? live.healthy), want);
    });
  }

  test('counts are added up, and the first that are not fine are named', async () => {
    const server = fakeServer(fakeClock());
    const blocked = ['a', 'b'].map((name) => {
      const { uid } = server.seed('StatefulSet', 'shop', {
        metadata: { name },
        spec: { replicas: 3 },
        status: good,
      }).metadata;
      return { kind: 'StatefulSet', name, uid };
    });
    const { ready, desired, why, affected } = await readBlockedHealth(server.client(), 'shop', blocked, {
      nowMs: 0,
      sinceMs,
    });
    assert.deepEqual({ ready, desired }, { ready: 4, desired: 6 });
    assert.equal(why, 'StatefulSet/a: 2/3 ready; StatefulSet/b: 2/3 ready');
    assert.deepEqual(affected, ['StatefulSet/a', 'StatefulSet/b']);
  });

  test('one of several that is gone, or switched off, is no trouble beside one that is well', async () => {
    const server = fakeServer(fakeClock());
    const make = (name: string, replicas: number, status: object) => {
      const { uid } = server.seed('StatefulSet', 'shop', { metadata: { name }, spec: { replicas }, status }).metadata;
      return { kind: 'StatefulSet', name, uid };
    };
    const blocked = [
      make('a', 2, good),
      make('off', 0, { observedGeneration: 1 }),
      { kind: 'StatefulSet', name: 'gone', uid: 'u' },
    ];
    const { healthy, gone, ended } = await readBlockedHealth(server.client(), 'shop', blocked, { nowMs: 0, sinceMs });
    assert.deepEqual({ healthy, gone, ended }, { healthy: true, gone: false, ended: undefined });
  });
});

async function proposed(make: () => World, over = {}): Promise<World> {
  const world = make();
  world.start({}, over);
  await world.clock.advance(3_000);
  return world;
}

/* One Remediation per target at a time. */

const busy: [string, object, boolean][] = [
  ['one that is being applied', { phase: 'Applying' }, true],
  ['one whose change is being watched', { phase: 'Applied' }, true],
  ['one that is only approved', { phase: 'Approved' }, false],
  ['one of another Deployment', { phase: 'Applied', name: 'payments' }, false],
  ['one of a quota that has the same name', { phase: 'Applied', quota: true }, false],
];
for (const [name, { phase, name: target = 'checkout', quota }, want] of busy as [
  string,
  { phase: string; name?: string; quota?: true },
  boolean,
][])
  test(`${name} ${want ? 'holds' : 'does not hold'} the target`, async () => {
    const world = await proposed(undoWorld);
    const { server, clock, config } = world;
    const { rolloutUndo } = world.fix().spec.action as unknown as { rolloutUndo: object };
    const action = quota
      ? { type: 'DeleteResourceQuota', deleteResourceQuota: { name: target, uid: 'q' } }
      : { type: 'RolloutUndo', rolloutUndo: { ...rolloutUndo, name: target } };
    server.seed('Remediation', 'shop', {
      metadata: { name: 'other' },
      spec: { ...world.fix().spec, action },
      status: { phase },
    });
    const fix = { ...world.fix(), status: { ...world.fix().status, phase: 'Approved' as const } };
    // The record itself, as another process has moved it on, is no rival.
    server.change('Remediation', 'shop', fix.metadata.name, { status: { phase: 'Applying' } });
    const deps = {
      api: server.client(),
      clock,
      log: silent,
      current: () => config,
      namespace: 'tapfix',
      history: createHistory(),
      patienceMs: () => 0,
    };
    const never = async () => assert.fail('not asked for');
    const facts = await gather({ ...deps, readHealth: async () => health({ healthy: false }), derive: never }, fix, {
      attempts: 0,
    });
    assert.equal(facts.busy, want ? 'other' : undefined);
  });

test('whom a deleted quota blocked: nobody known is not "all well", and a ReplicaSet that is another one by now is not asked', async () => {
  const { server } = quotaWorld();
  assert.equal((await readBlockedHealth(server.client(), 'shop', [], { nowMs: 0, sinceMs: 0 })).healthy, false);
  const ready = { observedGeneration: 9, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
  server.change('Deployment', 'shop', 'api', { status: ready });
  server.change('ReplicaSet', 'shop', 'api-5bbc', { metadata: { ownerReferences: [] } });
  const blocked = [{ kind: 'ReplicaSet', name: 'api-5bbc', uid: 'the one before' }];
  assert.equal((await readBlockedHealth(server.client(), 'shop', blocked, { nowMs: 0, sinceMs: 0 })).healthy, true);
});
