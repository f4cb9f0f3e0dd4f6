import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, startTapfix } from './support/tapfix.ts';

const program = join(root, 'bin/tapfix.js');

/** Each terminal's own way of starting a command on a new one: util-linux has another `script` than the BSDs. */
const onTerminal = (command: string): [string, string[]] =>
  process.platform === 'linux'
    ? ['script', ['-qefc', `stty cols 80 rows 24; ${command}`, '/dev/null']]
    : ['script', ['-q', '/dev/null', 'sh', '-c', `stty cols 80 rows 24; ${command}`]];

/** The demo on a pseudo-terminal, where keys can be pressed. */
function onATerminal(t: TestContext, ...words: string[]) {
  const [command, args] = onTerminal([process.execPath, program, 'demo', ...words].join(' '));
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  t.after(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const startedAt = performance.now();
  return {
    text: () => text,
    /** What came after the last key. */
    async says(words: RegExp, from = 0): Promise<number> {
      for (const endAt = performance.now() + 60_000; performance.now() < endAt; await sleep(50)) {
        const found = words.exec(text.slice(from));
        if (found) return from + found.index + found[0].length;
      }
      throw new Error(`the demo does not say ${words}; it said:\n${text.slice(-3000)}`);
    },
    press: (key: string) => void child.stdin.write(key),
    ended: async (): Promise<number | null> => (await closed)[0],
    seconds: () => (performance.now() - startedAt) / 1000,
  };
}

describe('tapfix demo', { concurrency: 3, timeout: 120_000 }, () => {
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

  test('without a terminal and without --yes it says in one line what to do', async (t) => {
    const { code, stdout, stderr } = await startTapfix(t, ['demo']).ended();
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
    assert.match(stderr, /^the demo waits for your decision, .* run it with --yes\n$/);
  });

  test('in a terminal: a and y approve, the same card turns green in its place', async (t) => {
    const demo = onATerminal(t, '--scenario', 'quota');
    const card = await demo.says(/Press a to approve, r to reject, q to leave\./);
    demo.press('a');
    const asked = await demo.says(/\[y\] Yes, delete quota platform-hardening/, card);
    demo.press('y');
    await demo.says(/🟢 2 workloads behind quota platform-hardening recovered/, asked);
    assert.equal(await demo.ended(), 0);
    // oxlint-disable-next-line no-control-regex
    assert.match(demo.text(), /\u001b\[\d+A\r\u001b\[J🟢/);
    assert.match(demo.text(), /DeleteResourceQuota approved by you@laptop/);
  });

  test('in a terminal: r rejects, and nothing is changed', async (t) => {
    const demo = onATerminal(t, '--scenario', 'rollout');
    await demo.says(/Press a to approve/);
    demo.press('r');
    await demo.says(/⚪ checkout: undo rejected by you@laptop/);
    assert.equal(await demo.ended(), 0);
    assert.match(demo.text(), /RolloutUndo rejected by you@laptop/);
    assert.doesNotMatch(demo.text(), /🟢|applied/);
  });

  test('in a terminal: q leaves, and so does Ctrl-C, with the terminal given back', async (t) => {
    for (const key of ['q', '\u0003']) {
      const demo = onATerminal(t);
      await demo.says(/The shop is well/);
      demo.press(key);
      await demo.says(/Stopped\./);
      assert.equal(await demo.ended(), 0);
    }
  });
});
