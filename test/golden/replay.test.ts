import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseConfig } from '../../src/config/load.ts';
import { readObjects, recordingOf } from '../../src/replay/recording.ts';
import { replay } from '../../src/replay/run-replay.ts';
import { replayed } from '../../src/replay/transcript.ts';

/* What `tapfix replay` says, whole, of what a real cluster has recorded. */

const here = (path: string): URL => new URL(path, import.meta.url);
const all = { cluster: 'prod-eu', namespaces: { include: ['*'] }, channels: { console: {} } };

/** The recording, and what of the configuration is other than usual. */
const scenes: [string, string, object?][] = [
  ['control plane', 'events.json'],
  ['real node', 'node-events.json'],
  ['shop alone, no quotas', 'node-events.json', { namespaces: { include: ['shop'] }, classes: { QuotaExceeded: { enabled: false } }, ignore: [{ kind: 'Deployment', name: 'cfg' }] }],
  ['your own event reason', 'node-events.json', { namespaces: { include: ['shop'] }, extraReasons: [{ reason: 'Killing', class: 'Killed', severity: 'info', for: '10s' }] }],
]; // prettier-ignore

function play(text: string, file: string, over: object = {}): string {
  const parsed = parseConfig(JSON.stringify({ ...all, ...over }), 'test');
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const { config } = parsed;
  const { records, unreadable } = readObjects(text);
  const recording = recordingOf(records);
  const odd = [...unreadable, ...recording.unreadable];
  const result = replay({ ...recording, unreadable: odd }, config, 'tapfix');
  return `${replayed(result, { file, config, timeZone: 'UTC', unreadable: odd }).join('\n')}\n`;
}

function compare(name: string, text: string): void {
  const file = here(`replay-${name.replaceAll(/[ ,]+/g, '-')}.txt`);
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
}

const recorded = (file: string): string => readFileSync(here(`../fixtures/recorded/${file}`), 'utf8');

for (const [name, file, over] of scenes)
  test(`replay: ${name}`, () => compare(name, play(recorded(file), `test/fixtures/recorded/${file}`, over)));

test('replay: the same events one a line, or as a plain list, are the same', () => {
  const { items } = JSON.parse(recorded('node-events.json')) as { items: object[] };
  const whole = play(recorded('node-events.json'), 'x');
  assert.equal(play(items.map((item) => JSON.stringify(item)).join('\n'), 'x'), whole);
  assert.equal(play(JSON.stringify(items), 'x'), whole);
  assert.equal(play(items.map((object) => JSON.stringify({ type: 'ADDED', object })).join('\n'), 'x'), whole);
});

test('replay: bad input costs itself, and is said', () => {
  const { items } = JSON.parse(recorded('events.json')) as { items: Record<string, unknown>[] };
  const [first = {}, second = {}, ...rest] = items;
  const { involvedObject: _, ...unowned } = second;
  const loud = { ...first, message: `\u001b[31m\u0007${'x'.repeat(1_000_000)}`, reason: 'Fail\u0007ed\nX' };
  const absurd = { ...first, eventTime: '9999-12-31T23:59:59Z', metadata: { ...(first['metadata'] as object), creationTimestamp: '0001-01-01T00:00:00Z' } };
  const lines = [loud, unowned, absurd, ...rest].map((one) => JSON.stringify(one));
  const text = play([lines[0], '{"kind":"Ev', ...lines.slice(1), '\u0000\u0001', lines[3]!.slice(0, 80)].join('\n'), 'bad.jsonl');
  assert.doesNotMatch(text, /[^\n\P{Cc}]/u, 'no control characters but the end of a line');
  assert(text.split('\n').every((line) => line.length < 500));
  compare('bad input', text);
});

test('replay: nothing at all', () => compare('nothing', play('', 'empty.json')));
