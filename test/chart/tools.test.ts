import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { outcomeOf } from '../cluster/exec.ts';

test('without Go and promtool one sentence says how to get them, and it fails', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'tapfix-empty-'));
  const env = { PATH: empty, TAPFIX_CACHE: join(empty, 'cache') };
  const { code, stdout, stderr } = await outcomeOf(process.execPath, [join(import.meta.dirname, 'tools.ts')], { env });
  await rm(empty, { recursive: true });
  assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  assert.equal(
    stderr,
    'The tests of the chart cannot start: Go is missing (get 1.26 or newer from https://go.dev/dl/); promtool is missing (apt-get install -y prometheus).\n',
  );
});
