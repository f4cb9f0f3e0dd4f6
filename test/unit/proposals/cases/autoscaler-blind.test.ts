import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

test('an autoscaler says what it cannot do: see, or scale; one that is switched off can do both', async () => {
  const { server, ask } = aRollout();
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime: '2026-11-16T03:07:00Z',
  });
  const able = condition('AbleToScale', 'True', 'SucceededGetScale', 'x');
  server.seed('HorizontalPodAutoscaler', 'shop', {
    metadata: { name: 'h' },
    spec: { maxReplicas: 4, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
  });
  const why = async (...conditions: object[]) => {
    server.change('HorizontalPodAutoscaler', 'shop', 'h', { status: { conditions } });
    return (await ask('AutoscalerBlind', {}, { kind: 'HorizontalPodAutoscaler', name: 'h' }))?.diagnosis;
  };
  assert.equal(
    await why(
      able,
      condition(
        'ScalingActive',
        'False',
        'FailedGetResourceMetric',
        'failed to get cpu utilization: missing request for cpu',
      ),
    ),
    'it cannot read cpu: its pods make no request for cpu',
  );
  assert.equal(
    await why(
      condition(
        'AbleToScale',
        'False',
        'FailedGetScale',
        'the HPA controller was unable to get the target\'s current scale: deployments.apps "web" not found',
      ),
    ),
    'deployment web, which it should scale, does not exist',
  );
  assert.equal(
    await why(able, condition('ScalingActive', 'False', 'ScalingDisabled', 'x')),
    'it cannot read its metrics',
  );
});

const requests = { requests: { cpu: '100m' } };
const values: { name: string; containers: object[]; want: string }[] = [
  { name: 'no container asks', containers: [{ name: 'app' }], want: 'it cannot read cpu: no container asks for cpu' },
  {
    name: 'one of two does not',
    containers: [{ name: 'app', resources: requests }, { name: 'proxy' }],
    want: 'it cannot read cpu: proxy asks for no cpu',
  },
  {
    name: 'all ask',
    containers: [{ name: 'app', resources: requests }],
    want: 'it cannot read cpu: no ready pod has values yet',
  },
  {
    name: 'a limit is a request as well',
    containers: [{ name: 'app', resources: { limits: { cpu: '1' } } }],
    want: 'it cannot read cpu: no ready pod has values yet',
  },
];
for (const { name, containers, want } of values)
  test(`an autoscaler without values: ${name}`, async () => {
    const { server, ask } = aRollout({ deployment: { spec: { template: { spec: { containers } } } } });
    const message = 'failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)';
    const lastTransitionTime = '2026-11-16T03:07:00Z';
    server.seed('HorizontalPodAutoscaler', 'shop', {
      metadata: { name: 'h' },
      spec: { maxReplicas: 4, scaleTargetRef: { kind: 'Deployment', name: 'web' } },
      status: {
        conditions: [
          { type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric', message, lastTransitionTime },
        ],
      },
    });
    const { diagnosis, changed } = (await ask('AutoscalerBlind', {}, { kind: 'HorizontalPodAutoscaler', name: 'h' }))!;
    assert.equal(diagnosis, want);
    assert.deepEqual(changed, ['2026-11-16T03:07:00.000Z autoscaler without its metrics since then']);
  });
