import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/load.ts';

/** Each took the time of the square of its length, or all of the stack. */
const oversized = [
  { name: '100,000 open quotes', text: 'a: "\n'.repeat(100_000) },
  { name: '60,000 unknown keys', text: numbered(60_000, (n) => `k${n}: 1`) },
  { name: '30,000 tokens', text: numbered(30_000, (n) => `a${n}token: 1`) },
  { name: '30,000 anchors and aliases', text: `a:\n${numbered(30_000, (n) => `- &a${n} x\n- *a${n}`)}` },
  { name: '5,000 lists in each other', text: `cluster: ${'['.repeat(5_000)}${']'.repeat(5_000)}` },
  { name: '5,000 groups in each other', text: `cluster: ${'{a: '.repeat(5_000)}1${'}'.repeat(5_000)}` },
];
for (const { name, text } of oversized) {
  test(`${name} are refused without much work, in words for people`, () => {
    const before = process.cpuUsage(); // not the time on the wall: the machine may be busy otherwise
    const parsed = parseConfig(text, 'oversized.yaml');
    const { user, system } = process.cpuUsage(before);
    assert((user + system) / 1e6 < 30, `${(user + system) / 1e6} s of computing`);
    assert(!parsed.ok && parsed.problems.length > 0);
    for (const { message } of parsed.problems) assert.doesNotMatch(message, /call stack/);
  });
}

function numbered(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('');
}
