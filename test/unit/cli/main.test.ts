import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const root = new URL('../../../', import.meta.url).pathname;

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

test('a reader that leaves early is not worth a word', () => {
  const command = `"${process.execPath}" src/main.ts --help | true; exit "\${PIPESTATUS[0]}"`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: root, encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});
