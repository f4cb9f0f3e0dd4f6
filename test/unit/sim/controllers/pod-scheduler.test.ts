import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aCluster, aWorkload } from '../cluster.ts';

test('pods that no node will have are told why, and bound as soon as one will', async (t) => {
  const { api, create, advance, pods, events } = await aCluster(t);
  const container = { resources: { requests: { cpu: '3', memory: '16Mi' } } };
  await create('Deployment', aWorkload({ container }, { replicas: 3 }));
  await advance(5);
  const [waiting] = (await pods()).filter(({ spec }) => !spec?.nodeName);
  const refusal =
    '0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.';
  const scheduled = waiting?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  assert.deepEqual([scheduled?.status, scheduled?.reason, scheduled?.message], ['False', 'Unschedulable', refusal]);
  assert.equal(waiting?.status?.phase, 'Pending');
  const [event] = await events({ reason: 'FailedScheduling' });
  assert.equal(event?.message, refusal);
  assert.equal(event.reportingComponent, 'default-scheduler');
  assert.deepEqual([event.firstTimestamp ?? null, event.count, event.source ?? {}], [null, undefined, {}]);
  assert.match((event as unknown as { eventTime: string }).eventTime, /^\d{4}-.*\.\d{6}Z$/);

  const [placed] = (await pods()).filter(({ spec }) => spec?.nodeName);
  await api.delete({ kind: 'Pod', namespace: 'shop', name: placed!.metadata.name });
  await advance(5);
  const now = await api.get({ kind: 'Pod', namespace: 'shop', name: waiting!.metadata.name });
  assert.ok((now as { spec?: { nodeName?: string } }).spec?.nodeName);
});
