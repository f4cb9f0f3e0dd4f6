import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hints, openDemo, prompts } from './support/demo-person.ts';
import { startTapfix } from './support/tapfix.ts';

const window = { columns: 80, rows: 24 };
/** Control characters, but for a new line. */
const control = /[\u0000-\u0009\u000b-\u001f\u007f]/;

// The tour takes a minute with --yes: test/long/demo-screen.test.ts.
describe('tapfix demo', { concurrency: 3, timeout: 120_000 }, () => {
  const scenarios: { scenario: string; card: RegExp; fix: RegExp; done: string }[] = [
    { scenario: 'rollout', card: /🔴 checkout keeps crashing, 0\/3 ready/, fix: /undo the rollout of checkout/, done: 'RolloutUndo' },
    { scenario: 'quota', card: /🔴 quota platform-hardening blocks 2 workloads/, fix: /delete ResourceQuota platform-hardening/, done: 'DeleteResourceQuota' },
    { scenario: 'image', card: /🔴 web cannot pull its image/, fix: /set the image of container app in web to shop\/web:1\.41/, done: 'PatchDeploymentImage' },
    { scenario: 'crash', card: /🔴 api keeps crashing, 2\/3 ready/, fix: /evict pod api-\S+; its owner makes a new one/, done: 'DeletePod' },
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

  test('without a terminal and without --yes it says in one line what to do', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['demo']).ended();
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /^the demo waits for your decision, .* run it with --yes\n$/);
  });

  test('in a terminal: r rejects, and nothing is changed', async (t) => {
    const demo = openDemo(t, window, '--scenario', 'rollout');
    await demo.sees(...prompts.rollback, hints.decide);
    demo.press('r');
    await demo.sees(/⚪ checkout: undo rejected by you@laptop/u);
    assert.equal(await demo.ended(), 0);
    assert.match(demo.screen(), /RolloutUndo rejected by you@laptop/);
    const seen = demo.frames().map(({ text }) => text);
    assert.doesNotMatch(seen.join('\n'), /🟢|applied/u);
  });

  test('in a terminal: n goes back to the card, and q leaves it', async (t) => {
    const demo = openDemo(t, window, '--scenario', 'quota');
    await demo.sees(...prompts.quota, hints.decide);
    demo.press('a');
    await demo.sees(...prompts.confirm, hints.confirm);
    demo.press('n');
    await demo.sees(...prompts.quota, hints.decide);
    demo.press('q');
    await demo.sees('Stopped.');
    assert.equal(await demo.ended(), 0);
  });

  test('in a terminal: Ctrl-C leaves, with the terminal given back', async (t) => {
    const demo = openDemo(t, window);
    await demo.sees('The shop is well');
    demo.press('\u0003');
    await demo.sees('Stopped.');
    assert.equal(await demo.ended(), 0);
  });
});
