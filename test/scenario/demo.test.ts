import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hints, openDemo, prompts } from './support/demo-person.ts';
import { startTapfix } from './support/tapfix.ts';

const window = { columns: 80, rows: 24 };

// Whole acts with --yes take a minute: test/long/demo.test.ts and demo-screen.test.ts.
describe('tapfix demo', { concurrency: 3, timeout: 120_000 }, () => {
  test('without a terminal and without --yes it says in one line what to do', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['demo']).ended();
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /^the demo waits for your decision, .* run it with --yes\n$/);
  });

  test('in a terminal: r rejects, and nothing is changed', async (t) => {
    const demo = openDemo(t, window, '--scenario', 'rollout');
    await demo.sees(...prompts.rollback, hints.decide);
    demo.press('r');
    await demo.sees(/🔴 checkout is still down, 0\/3 ready\. Rejected by\s+you@laptop/u);
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
