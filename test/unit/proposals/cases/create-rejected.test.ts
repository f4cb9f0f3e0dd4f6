import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout } from '../../../support/rollout.ts';

const shown = ({ diagnosis, evidence, rationale }: { diagnosis: string; evidence: string[]; rationale: string }) => ({
  why: diagnosis,
  seen: evidence,
  fix: rationale,
});

test('a refusal is that of the ReplicaSet there is now, not of one that was replaced', async () => {
  const { server, say, ask } = aRollout();
  say('FailedCreate', 'Error creating: pods "web-1-x" is forbidden: violates PodSecurity "baseline:latest": x', {
    kind: 'ReplicaSet',
    name: 'web-1',
  });
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message: "pods \"web-2-x\" is forbidden: ValidatingAdmissionPolicy 'labels' denied request: needs an owner" }]; // prettier-ignore
  server.change('ReplicaSet', 'shop', 'web-2', { status: { conditions } });
  assert.deepEqual(shown((await ask('CreateRejected'))!), {
    why: 'policy labels refuses its pods: needs an owner',
    seen: [],
    fix: 'tapfix does not change policies',
  });
});
