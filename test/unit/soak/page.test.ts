import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf, roundUp } from '../../../scripts/soak/page.ts';

const page = pageOf({
  minutes: 30,
  startedAt: '2026-11-18T03:12:00Z',
  seed: 1,
  samples: [0, 15, 30].flatMap((at) =>
    ['watcher', 'controller'].map((role) => ({ atMs: at * 60_000, role, rssMb: 90, handles: 30, delayMs: 12 })),
  ),
  pulses: [{ atMs: 60_000, requestsPerMinute: 240, incidents: 3, closed: 2, wrong: 1 }],
  spells: [{ what: 'reset', fromMs: 60_000, forMs: 5_000 }],
  warmUpMs: 600_000,
  findings: [{ ok: false, text: 'memory <grows>' }],
  wrong: ['app-1 is in 2 messages'],
  counts: { incidents: 3 },
});

test('the report needs nothing from elsewhere, and is for the dark and for a phone', () => {
  assert.doesNotMatch(page, /https?:\/\/|<script|<link|url\(/);
  assert.match(page, /prefers-color-scheme:dark/);
  assert.match(page, /name="viewport"/);
});

test('it has five plots, whose points are within them, and what failed', () => {
  assert.equal(page.match(/<svg /g)?.length, 5);
  for (const [, x, y] of page.matchAll(/([\d.]+),([\d.]+)(?=[ "])/g))
    assert(Number(x) >= 52 && Number(x) <= 708.1 && Number(y) >= 11.9 && Number(y) <= 194.1, `${x},${y}`);
  assert.doesNotMatch(page, /NaN|undefined|Infinity/);
  assert.match(page, /✗ memory &lt;grows&gt;/);
  assert.match(page, /app-1 is in 2 messages/);
});

test('an axis ends at a round number', () => {
  assert.deepEqual([0, 0.03, 1, 87, 120, 251].map(roundUp), [1, 0.05, 1, 100, 200, 500]);
});
