import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

const shown = ({ diagnosis, evidence, rationale }: { diagnosis: string; evidence: string[]; rationale: string }) => ({
  why: diagnosis,
  seen: evidence,
  fix: rationale,
});

test('a failing probe: what it got, how many run and are not ready, and that they restart', async () => {
  const { say, ask } = aRollout({ pods: [{ restarts: 2 }, {}], oldPods: [{ ready: true }] });
  say('Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503');
  assert.deepEqual(shown((await ask('ProbeFailing'))!), {
    why: 'readiness probe: HTTP 503',
    seen: ['2 of 3 pods run and are not ready', '2 restarts of them'],
    fix: '1 of 3 pods is ready, so it is not all of them',
  });
});

const ended = { reason: 'Error', exitCode: 137, startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };
const looping = { restarts: 3, state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated: ended } };
const kubelets: { reason: string; message: string; want: string }[] = [
  { reason: 'Unhealthy', message: 'Liveness probe failed: HTTP probe failed with statuscode: 500', want: '; liveness probe: HTTP 500' },
  { reason: 'Unhealthy', message: 'Readiness probe failed: HTTP probe failed with statuscode: 500', want: '' },
  { reason: 'FailedPostStartHook', message: 'PostStartHook failed', want: '; its post-start hook fails' },
]; // prettier-ignore
for (const { reason, message, want } of kubelets)
  test(`a container that is ended ${want ? 'by its kubelet: why' : 'for another reason than its readiness: not that'}: ${message}`, async () => {
    const { say, ask, clock } = aRollout({ pods: [looping] });
    say(reason, message);
    const why = 'container app exits 137 (killed, SIGKILL) after 20 s';
    assert.equal((await ask('CrashLoop'))?.diagnosis, `${why}${want}`);
    assert.equal(
      (await ask('CrashLoop', { nowMs: clock.now() + 3_600_000 }))?.diagnosis,
      why,
      'an hour later it is history',
    );
  });
