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
