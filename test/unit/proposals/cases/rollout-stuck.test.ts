import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

const typo = { image: 'shop/web:1.O' };
const unready = { ready: false };

test('a stuck rollout says its deadline, how far it came, and what its new pods wait for', async () => {
  const { say, ask } = aRollout({
    after: typo,
    pods: [unready],
    deployment: { spec: { progressDeadlineSeconds: 300 } },
  });
  say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  const derived = await ask('RolloutStuck');
  assert.equal(derived?.diagnosis, 'rollout 2 missed its deadline of 5 min: 0 of 1 new pods available');
  assert.deepEqual(derived?.evidence, ['readiness probe: HTTP 503']);
});

test('a stuck rollout names the init container that does not end, its program, and for how long', async () => {
  const init = {
    name: 'wait-for-db',
    image: 'shop/init:1',
    command: ['sh', '-c', 'until nc -z db 5432; do sleep 1; done'],
  };
  const running = (name: string, command?: string[]) => ({
    spec: { initContainers: [{ ...init, name, ...(command && { command }) }] },
    status: {
      initContainerStatuses: [
        { name, ready: false, restartCount: 0, state: { running: { startedAt: '2026-11-16T03:04:00Z' } } },
      ],
      containerStatuses: [
        { name: 'app', ready: false, restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } },
      ],
    },
  });
  const said = async (pod: { spec: object }) =>
    (await aRollout({ after: typo, afterSpec: pod.spec, pods: [pod] }).ask('RolloutStuck'))!.diagnosis;
  const begins = 'rollout 2 missed its deadline of 10 min: 0 of 1 new pods available; init container wait-for-db';
  assert.equal(await said(running('wait-for-db')), `${begins} has not ended for 8 min`);
  assert.equal(
    await said(running('wait-for-db', ['/wait', '--password=x'])),
    `${begins} (/wait) has not ended for 8 min`,
  );
  assert.equal(
    await said(running('wait-for-db', ['sh', '-c', 'exec nc db 5432'])),
    `${begins} (nc) has not ended for 8 min`,
  );
});
