import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTapfix } from '../scenario/support/tapfix.ts';

/* The acts of the demo that need nobody at the keyboard, in real time from beginning to end. */

/** Control characters, but for a new line. */
const control = /[\u0000-\u0009\u000b-\u001f\u007f]/;

describe('tapfix demo, played to its end', { concurrency: 3, timeout: 120_000 }, () => {
  const scenarios: { scenario: string; card: RegExp; fix: RegExp; done: string }[] = [
    { scenario: 'rollout', card: /🔴 checkout is down, 0\/3 ready/, fix: /Fix: roll back to 1\.41/, done: 'RolloutUndo' },
    { scenario: 'quota', card: /🔴 Quota platform-hardening blocks 2 workloads/, fix: /Fix: delete it/, done: 'DeleteResourceQuota' },
    { scenario: 'image', card: /🔴 web is (?:down|degraded), [01]\/2 ready/, fix: /Fix: use image web:1\.41/, done: 'PatchDeploymentImage' },
    { scenario: 'crash', card: /🔴 api is degraded, 2\/3 ready/, fix: /Fix: delete pod api-\S+/, done: 'DeletePod' },
  ]; // prettier-ignore
  for (const { scenario, card, fix, done } of scenarios)
    test(`--scenario ${scenario} --yes shows its fix, and heals`, async (t) => {
      const demo = startTapfix(t, ['demo', '--yes', '--scenario', scenario]);
      await demo.until('its card', () => demo.stdout().includes('🔴'));
      await demo.until('its recovery', () => demo.stdout().includes('🟢'));
      const { code, stdout, stderr } = await demo.ended();
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.match(stdout, card);
      assert.match(stdout, fix);
      assert.ok(stdout.includes(`${done} approved by you@laptop`), stdout);
      assert.match(stdout, /What happened\n(  \d\d:\d\d:\d\d .*\n){5}/);
      assert.doesNotMatch(stdout, control, 'a pipe gets no colours and no control characters');
      const wide = stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('           '));
      assert.deepEqual(wide, [], 'only a diff or a command may be wider than 80 columns');
    });
});
