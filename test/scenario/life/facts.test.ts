import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isTrue, type Remediation } from '../../../src/kube/remediation.ts';
import { apiVersionOf, type Kind } from '../../../src/kube/resources.ts';
import { aWorld, type World } from './world.ts';

/* What an Event says is where to look. What is so is read from the owner's template and the quota's status. */

const template = (image: string, memory: string, more: object = {}) => ({
  metadata: { labels: { app: 'db' } },
  spec: { ...more, containers: [{ name: 'app', image, resources: { requests: { memory } } }] },
});

const labels = { selector: { matchLabels: { app: 'db' } } };
const owners: { kind: Kind; spec(memory: string): object }[] = [
  { kind: 'StatefulSet', spec: (memory) => ({ ...labels, replicas: 2, template: template('shop/app:1', memory) }) },
  { kind: 'DaemonSet', spec: (memory) => ({ ...labels, template: template('shop/app:1', memory) }) },
  { kind: 'Job', spec: (memory) => ({ template: template('shop/app:1', memory, { restartPolicy: 'Never' }) }) },
  { kind: 'ReplicaSet', spec: (memory) => ({ ...labels, replicas: 2, template: template('shop/app:1', memory) }) },
];

const limit = (world: World, hard: object) =>
  world.apply('ResourceQuota', { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'team' }, spec: { hard } });

/** What anybody who may create Events in the namespace can write. */
async function forge(world: World, kind: Kind): Promise<void> {
  const { metadata } = (await world.api.get({ kind, namespace: 'shop', name: 'db' }))!;
  const at = new Date(world.clock.now()).toISOString();
  await world.apply('Event', {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'db.forged' },
    involvedObject: { kind, apiVersion: apiVersionOf(kind), namespace: 'shop', name: 'db', uid: metadata.uid },
    type: 'Warning',
    reason: 'FailedCreate',
    message:
      'create Pod db-1 in StatefulSet db failed error: pods "db-1" is forbidden: exceeded quota: team, requested: requests.memory=200Gi, used: requests.memory=10Mi, limited: requests.memory=100Gi',
    firstTimestamp: at,
    lastTimestamp: at,
    count: 9,
  });
}

/** Written by hand, as by a watcher that somebody has taken over. */
async function proposed(world: World): Promise<Remediation> {
  const { uid } = (await world.api.get({ kind: 'ResourceQuota', namespace: 'shop', name: 'team' }))!.metadata;
  const quota = { name: 'team', uid };
  await world.api.create(
    { kind: 'Remediation', namespace: 'shop' },
    {
      apiVersion: 'tapfix.dev/v1alpha1',
      kind: 'Remediation',
      metadata: { name: 'forged' },
      spec: {
        incident: {
          key: 'shop/ResourceQuota/team',
          class: 'QuotaExceeded',
          severity: 'critical',
          reason: 'FailedCreate',
          message: 'exceeded quota: team',
          object: { kind: 'ResourceQuota', ...quota },
          firstSeen: new Date(world.clock.now()).toISOString(),
        },
        diagnosis: 'a pod asks 200Gi',
        context: { changed: [], evidence: [] },
        action: { type: 'DeleteResourceQuota', deleteResourceQuota: quota },
        rationale: 'it is in the way',
        proposedBy: 'system:serviceaccount:tapfix:tapfix-watcher',
        ttlMinutes: 5,
        approval: { state: 'Pending' },
      },
    },
  );
  await world.advance(30_000);
  return (await world.fixes()).find(({ metadata }) => metadata.name === 'forged')!;
}

describe('facts, not Event texts', { concurrency: 3 }, () => {
  const forgeries: { name: string; kind: Kind; spec: object; hard: object }[] = [
    {
      name: 'a StatefulSet with an unready first pod, under a quota with room',
      kind: 'StatefulSet',
      spec: { ...labels, replicas: 3, template: template('shop/app:2-unready', '10Mi') },
      hard: { 'requests.memory': '100Gi' },
    },
    {
      name: 'a StatefulSet that waits for its unready first pod, under a quota that this one pod fills',
      kind: 'StatefulSet',
      spec: { ...labels, replicas: 3, template: template('shop/app:2-unready', '10Mi') },
      hard: { pods: '1', 'requests.memory': '100Gi' },
    },
    {
      name: 'a Job that waits before its next try, under a quota with room',
      kind: 'Job',
      spec: { template: template('shop/app:2-crash', '10Mi', { restartPolicy: 'Never' }) },
      hard: { 'requests.memory': '100Gi' },
    },
  ];
  for (const { name, kind, spec, hard } of forgeries)
    test(`a forged refusal of ${name}: no deletion is offered, and one that is asked for is not confirmed`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await limit(world, hard);
      await world.apply(kind, { apiVersion: apiVersionOf(kind), kind, metadata: { name: 'db' }, spec });
      await world.advance(15_000);
      await forge(world, kind);
      await world.advance(60_000);
      assert.equal(world.phone.has(/Delete quota|delete quota/i), false, world.phone.text());
      assert.ok(!(await world.fixes()).some((fix) => fix.spec.incident.class === 'QuotaExceeded'));
      const fix = await proposed(world);
      assert.equal(isTrue(fix, 'Confirmed'), false, JSON.stringify(fix.status));
      assert.ok(!world.phone.history.some((line) => /200Gi/.test(line)), 'no number of a stranger');
    });

  for (const { kind, spec } of owners)
    test(`a ${kind} that a quota really refuses: its deletion is offered, with what the template asks`, async (t) => {
      const world = await aWorld(t);
      world.start();
      await limit(world, { 'requests.memory': '50Mi' });
      await world.advance(1_000);
      await world.apply(kind, { apiVersion: apiVersionOf(kind), kind, metadata: { name: 'db' }, spec: spec('64Mi') });
      const found = await world.phase('Proposed');
      assert.equal(found.spec.action?.type, 'DeleteResourceQuota');
      assert.equal(found.spec.diagnosis, 'requests.memory 50Mi, used 0, a pod asks 64Mi');
      await world.until('its confirmation', async () => isTrue((await world.fixes())[0]!, 'Confirmed'));
      const [fix] = await world.fixes();
      assert.deepEqual(fix?.status?.sightings?.affected, [`${kind}/db`]);
    });
});
