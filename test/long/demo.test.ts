import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startTapfix } from '../scenario/support/tapfix.ts';

/* The acts of the demo that need nobody at the keyboard, in real time from beginning to end. */

describe('tapfix demo, played to its end', { concurrency: 3, timeout: 120_000 }, () => {
  test('--yes breaks and heals the shop twice, and exits 0', async (t) => {
    const startedAt = performance.now();
    const demo = startTapfix(t, ['demo', '--yes']);
    await demo.until('the first card', () => demo.stdout().includes('🔴'));
    const firstCard = (performance.now() - startedAt) / 1000;
    await demo.until('the first recovery', () => demo.stdout().includes('🟢'));
    await demo.until('the end of the first act', () => demo.stdout().includes('Act 2 of 2'));
    await demo.until('the second card', () => demo.stdout().includes('checkout keeps crashing'));
    const { code, stdout, stderr } = await demo.ended();
    const whole = (performance.now() - startedAt) / 1000;
    console.log(`    first card after ${firstCard.toFixed(1)} s, the whole tour took ${whole.toFixed(1)} s`);
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.equal(stdout.match(/^🟢/gm)?.length, 2, stdout);
    assert.match(stdout, /What happened\n(  \d\d:\d\d:\d\d .*\n){5}/);
    assert(firstCard < 15, `the first card took ${firstCard} s`);
    assert(whole < 60, `the tour took ${whole} s`);
  });

  const others = [
    { scenario: 'image', card: /🔴 web cannot pull its image/, fix: /set the image of container app in web to shop\/web:1\.41/, done: 'PatchDeploymentImage' },
    { scenario: 'crash', card: /🔴 api keeps crashing, 2\/3 ready/, fix: /evict pod api-\S+; its owner makes a new one/, done: 'DeletePod' },
  ]; // prettier-ignore
  for (const { scenario, card, fix, done } of others)
    test(`--scenario ${scenario} shows another fix, and heals`, async (t) => {
      const demo = startTapfix(t, ['demo', '--yes', '--scenario', scenario]);
      await demo.until('its recovery', () => demo.stdout().includes('🟢'));
      const { code, stdout, stderr } = await demo.ended();
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.match(stdout, card);
      assert.match(stdout, fix);
      assert.ok(stdout.includes(`${done} approved by you@laptop`), stdout);
    });

  test('on a pipe there are no colours and no control characters, and no line is longer than a diff needs', async (t) => {
    const { stdout } = await (async () => {
      const demo = startTapfix(t, ['demo', '--yes', '--scenario', 'rollout']);
      await demo.until('a card', () => demo.stdout().includes('🔴'));
      await demo.until('its recovery', () => demo.stdout().includes('🟢'));
      return demo.ended();
    })();
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f]/);
    assert.deepEqual(
      stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('           ')),
      [],
    );
  });
});
