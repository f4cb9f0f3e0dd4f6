import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { nextSlot, remainingMs } from '../../../src/lib/window.ts';

const slots: { name: string; sent: number[]; want: number }[] = [
  { name: 'nothing went yet: now', sent: [], want: 1000 },
  { name: 'room for one more: now', sent: [950], want: 1000 },
  { name: 'full: when the older one leaves the window', sent: [990, 950], want: 1050 },
  { name: 'what left the window does not count', sent: [990, 900], want: 1000 },
  { name: 'overfull: when enough have left', sent: [950, 960, 970], want: 1060 },
];

for (const { name, sent, want } of slots) test(name, () => assert.equal(nextSlot(sent, 2, 100, 1000), want));

test('no window ever holds more than its limit, whatever is asked when', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50), { maxLength: 40 }), (gaps) => {
      const sent: number[] = [];
      let now = 0;
      for (const gap of gaps) {
        now = Math.max(now + gap, nextSlot(sent, 4, 100, now + gap));
        sent.push(now);
      }
      for (const at of sent) assert.ok(sent.filter((other) => other > at - 100 && other <= at).length <= 4);
    }),
  );
});

for (const [name, nowMs, leftMs] of [
  ['just begun', 1_000, 5_000],
  ['half over', 3_500, 2_500],
  ['over', 6_000, 0],
  ['long over', 3_600_000, 0],
  ['begun in the future, because the clock was set back', 999, 0],
] as const)
  test(`what is left of a pause: ${name}`, () =>
    assert.equal(remainingMs({ sinceMs: 1_000, forMs: 5_000 }, nowMs), leftMs));
