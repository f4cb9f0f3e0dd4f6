import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBlockedHealth } from '../../../src/controller/gather.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

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
  { name: 'a lone ReplicaSet with one missing', kind: 'ReplicaSet', spec: { replicas: 3 }, status: good, want: false },
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
