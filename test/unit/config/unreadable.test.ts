import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const nobody = 65_534;

test('a file that may not be read: one clear line, and the old configuration stays', async () => {
  const script = new URL('./unreadable.ts', import.meta.url).pathname;
  // Root may read everything.
  const as = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const { stdout } = await promisify(execFile)(process.execPath, [script], as);
  assert.deepEqual(JSON.parse(stdout), {
    lines: ['configuration change refused, the old one stays'],
    problem: '/config.yaml may not be read by this user',
    cluster: 'one',
  });
});
