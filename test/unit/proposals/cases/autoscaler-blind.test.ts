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
    'it cannot read cpu: its pods make no request for cpu, since 2026-11-16T03:07:00.000Z',
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
    'deployment web, which it should scale, does not exist, since 2026-11-16T03:07:00.000Z',
  );
  assert.equal(
    await why(able, condition('ScalingActive', 'False', 'ScalingDisabled', 'x')),
    'it cannot read its metrics',
  );
});
