import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url).pathname;

function tapfix(words: string[], env: Record<string, string> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/main.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

test('a good configuration is shown with its defaults', () => {
  const { status, stdout, stderr } = tapfix(['check-config', 'test/fixtures/config/minimal.yaml']);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  assert.match(stdout, /^ok\n/);
  assert.match(stdout, /^ {2}ttl: 30m$/m);
  assert.match(stdout, /^retention: 168h$/m);
});

test('a bad one is every problem on a line of its own, and nothing else', () => {
  const file = 'test/fixtures/config/bad/many-mistakes.yaml';
  const { status, stdout, stderr } = tapfix(['check-config', file]);
  assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  assert.equal(lines.length, 8);
  for (const line of lines) assert.match(line, /^test\/fixtures\/config\/bad\/many-mistakes\.yaml:\d+ \S+: /);
});

test('a mistake on the command line is one line, even when debugging', () => {
  const { status, stderr } = tapfix(['check-config', 'no-such-file.yaml'], { TAPFIX_DEBUG: '1' });
  assert.deepEqual({ status, stderr }, { status: 2, stderr: 'no-such-file.yaml does not exist\n' });
});

for (const words of ['manifests', 'check-config test/fixtures/config/minimal.yaml', '--help']) {
  test(`tapfix ${words} that cannot be printed is one line and exit code 1`, () => {
    const command = `"${process.execPath}" src/main.ts ${words} > /dev/full`;
    const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: root, encoding: 'utf8' });
    assert.equal(status, 1);
    assert.match(stderr, /^tapfix cannot write its output: ENOSPC[^\n]*\n$/);
  });
}

test('a mistake is still a mistake where nothing could be printed', () => {
  const command = `"${process.execPath}" src/main.ts check-config none.yaml > /dev/full`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: root, encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 2, stderr: 'none.yaml does not exist\n' });
});

for (const words of [['check-config'], ['run', '--config']]) {
  // One that does not end is ended by the limit of the test; nothing is said about how fast it goes.
  test(
    `one SIGTERM ends ${words[0]}, even while it waits for a pipe nobody writes to`,
    { timeout: 120_000 },
    async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'tapfix-main-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const pipe = join(folder, 'pipe');
      spawnSync('mkfifo', [pipe]);
      const child = spawn(process.execPath, ['src/main.ts', ...words, pipe], { cwd: root });
      t.after(() => child.kill('SIGKILL'));
      // This opens as soon as the child reads; nothing is ever written.
      const writer = await open(pipe, 'w');
      t.after(() => writer.close());
      child.kill('SIGTERM');
      assert.deepEqual(await once(child, 'exit'), [null, 'SIGTERM']);
    },
  );
}

test('a reader that leaves early is not worth a word', () => {
  const command = `"${process.execPath}" src/main.ts --help | true; exit "\${PIPESTATUS[0]}"`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: root, encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
