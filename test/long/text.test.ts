import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { linesOf, TruncatedLine } from '../../src/kube/client-transport.ts';

const example = readFileSync(new URL('../../config.example.yaml', import.meta.url), 'utf8');

/** A verdict, with problems that a person can find. Whatever was read, it never throws. */
function judged(text: string): boolean {
  const parsed = parseConfig(text, 'config.yaml');
  if (parsed.ok) return true;
  assert.ok(parsed.problems.length > 0, 'refused without a reason');
  const lines = text.split('\n').length;
  for (const { line, message } of parsed.problems) {
    assert.ok(Number.isInteger(line) && line >= 1 && line <= lines, `line ${line} of ${lines}`);
    assert.ok(message.length > 0);
  }
  return false;
}

test('any text at all is judged, never thrown on', () =>
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ unit: 'grapheme' })),
      (text) => void judged(text),
    ),
    { numRuns: 2_000 },
  ));

const keys = fc.constantFrom(
  'cluster',
  'namespaces',
  'include',
  'exclude',
  'ignore',
  'classes',
  'CrashLoop',
  'for',
  'notices',
  'storm',
  'approval',
  'approvers',
  'channels',
  'telegram',
  'chat',
  'routes',
  'console',
  'server',
  '__proto__',
  'constructor',
  '<<',
  '',
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('5s', '*', -1, Infinity, null),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('map'),
  ),
  map: fc.dictionary(keys, tie('any'), { maxKeys: 6, noNullPrototype: true }),
}));

test('any YAML with our keys in the wrong places is judged, never thrown on', () =>
  fc.assert(
    fc.property(value.map, (document) => void judged(stringify(document))),
    { numRuns: 2_000 },
  ));

test('the example with one line harmed is judged, never thrown on', () => {
  const lines = example.split('\n');
  assert.ok(judged(example));
  let refused = 0;
  fc.assert(
    fc.property(
      fc.nat(lines.length - 1),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.nat(30),
      (at, junk, column) => {
        const harmed = `${lines[at]!.slice(0, column)}${junk}${lines[at]!.slice(column + 3)}`;
        if (!judged(lines.toSpliced(at, 1, harmed).join('\n'))) refused += 1;
      },
    ),
    { numRuns: 2_000 },
  );
  assert.ok(refused > 100, `only ${refused} were refused: the harm is too mild to prove anything`);
});

const duration = fc.integer({ min: 1, max: 59 }).chain((n) => fc.constantFrom(`${n}s`, `${n}m`));
const glob = fc.constantFrom('shop-*', 'payments', '*-prod', '*', 'a?b');
const good = fc.record({
  cluster: fc.constantFrom('prod-eu', 'Prod "EU"', 'ünï: cöde', '1e3', 'yes'),
  namespaces: fc.record({
    include: fc.array(glob, { minLength: 1, maxLength: 3 }),
    exclude: fc.array(fc.constantFrom('shop-test', 'old-*'), { maxLength: 2 }),
  }),
  notices: fc.record({
    coalesce: duration.filter((d) => d.endsWith('s')),
    maxPerMinute: fc.integer({ min: 1, max: 20 }),
  }),
  recovery: fc.record({
    stableFor: duration.filter((d) => d.endsWith('s')),
    timeout: duration.filter((d) => d.endsWith('m')),
  }),
  channels: fc.constant({ console: {} }),
});

test('a good configuration is read as it was written, however YAML writes it', () =>
  fc.assert(
    fc.property(good, fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE'), (document, defaultStringType) => {
      const parsed = parseConfig(stringify(document, { defaultStringType }), 'config.yaml');
      assert.ok(parsed.ok, JSON.stringify(parsed));
      const { cluster, namespaces, notices, recovery } = parsed.config;
      const ms = (text: string): number => Number.parseInt(text) * (text.endsWith('m') ? 60_000 : 1_000);
      assert.deepEqual([cluster, namespaces], [document.cluster, { ...document.namespaces }]);
      assert.deepEqual(
        [notices.coalesce, notices.maxPerMinute],
        [ms(document.notices.coalesce), document.notices.maxPerMinute],
      );
      assert.deepEqual(recovery, {
        stableFor: ms(document.recovery.stableFor),
        timeout: ms(document.recovery.timeout),
      });
    }),
    { numRuns: 2_000 },
  ));

/** The bytes cut at these places, some chunks empty. */
async function* cutAt(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
}
const objects = fc.array(fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }), { maxLength: 12 });
const cuts = fc.array(fc.nat(4_000), { maxLength: 60 });

test('a watch is read the same however its bytes are cut', () =>
  fc.assert(
    fc.asyncProperty(objects, cuts, fc.constantFrom('\n', '\r\n', '\n\n'), async (values, at, end) => {
      const sent = values.map((value) => JSON.stringify(value));
      const bytes = Buffer.from(sent.map((line) => line + end).join(''));
      const read: string[] = [];
      for await (const line of linesOf(cutAt(bytes, at), 1_000_000)) read.push(String(line));
      assert.deepEqual(
        read.map((line) => JSON.stringify(JSON.parse(line))),
        sent,
      );
    }),
    { numRuns: 2_000 },
  ));

test('a watch that breaks off in a line gives every whole line and then says so', () =>
  fc.assert(
    fc.asyncProperty(objects, cuts, fc.nat(), async (values, at, end) => {
      const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
      const part = bytes.subarray(0, end % (bytes.length + 1));
      const whole = part.toString('latin1').split('\n').length - 1;
      const read: string[] = [];
      const all = (async () => {
        for await (const line of linesOf(cutAt(part, at), 1_000_000)) read.push(String(line));
      })();
      if (part.length === 0 || part.at(-1) === 0x0a) await all;
      else await assert.rejects(all, TruncatedLine);
      assert.equal(read.length, whole);
    }),
    { numRuns: 2_000 },
  ));
