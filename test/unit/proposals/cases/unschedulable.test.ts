import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

const shown = ({ diagnosis, evidence, rationale }: { diagnosis: string; evidence: string[]; rationale: string }) => ({
  why: diagnosis,
  seen: evidence,
  fix: rationale,
});

const unplaced = (message: string) => ({
  state: undefined as never,
  spec: { containers: [{ name: 'app', resources: { requests: { cpu: '4' } } }] },
  status: {
    phase: 'Pending',
    containerStatuses: [],
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }],
  },
});
const noCpu = unplaced('0/5 nodes are available: 3 Insufficient cpu, 2 node(s) had untolerated taint {gpu: true}.');
const scaledAt = (time: string, manager = 'kubectl') => ({
  metadata: { managedFields: [{ manager, subresource: 'scale', time, fieldsV1: { 'f:spec': { 'f:replicas': {} } } }] },
});

const scales: { name: string; deployment?: object; autoscaler?: boolean; want: string }[] = [
  { name: 'nobody scaled it', want: 'no recent scale-up' },
  { name: 'an autoscaler owns it', autoscaler: true, want: 'autoscaled' },
  {
    name: 'somebody scaled it after it was made',
    deployment: scaledAt('2026-11-16T03:13:00Z'),
    want: 'it was scaled at 2026-11-16T03:13:00.000Z, but it is not known that this was a scale-up',
  },
  {
    name: 'an autoscaler did',
    deployment: scaledAt('2026-11-16T03:13:00Z'),
    autoscaler: true,
    want: 'it was scaled at 2026-11-16T03:13:00.000Z, and an autoscaler owns the replicas',
  },
];
for (const { name, deployment, autoscaler, want } of scales)
  test(`Unschedulable, ${name}: ${want}`, async () => {
    const { server, ask, clock } = aRollout({
      pods: [noCpu, noCpu, unplaced('odd')],
      ...(deployment && { deployment }),
    });
    if (autoscaler)
      server.seed('HorizontalPodAutoscaler', 'shop', {
        metadata: { name: 'web' },
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
      });
    await clock.advance(120_000);
    assert.deepEqual(shown((await ask('Unschedulable', { nowMs: clock.now() }))!), {
      why: 'no node fits: 3 of 5 lack cpu (needs 4); 2 of 5 nodes have taint gpu',
      seen: ['odd', 'all 3 pods wait for a node'],
      fix: want,
    });
  });

test('a scale of yesterday is not recent', async () => {
  const { ask, clock } = aRollout({ pods: [noCpu], deployment: scaledAt('2026-11-16T03:13:00Z') });
  assert.equal((await ask('Unschedulable', { nowMs: clock.now() + 86_400_000 }))?.rationale, 'no recent scale-up');
});
