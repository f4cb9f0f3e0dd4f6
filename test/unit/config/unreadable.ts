import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goodText, reloading } from './reloading.ts';

/* Run by itself, as somebody who is not root: takes its own file away from itself, and says what came of it. */

const folder = mkdtempSync(join(tmpdir(), 'tapfix-unreadable-'));
const file = join(folder, 'config.yaml');
writeFileSync(file, goodText('one'));
const { live, lines, pass, end } = reloading(file);
await pass(500);
writeFileSync(file, goodText('two'));
chmodSync(file, 0o000);
await pass(30_000);
const { problem = '' } = live.refusal() ?? {};
console.log(JSON.stringify({ lines, problem: problem.replace(folder, ''), cluster: live.current().cluster }));
await end();
rmSync(folder, { recursive: true });
