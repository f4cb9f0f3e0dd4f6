import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decodeSeen, encodeSeen, isWorthWriting, shardOf } from '../../../src/health/history-text.ts';
import type { RunningRevision, SeenRevision } from '../../../src/health/history.ts';
import { mostCharacters } from '../../../src/kube/history-maps.ts';

const nowMs = Date.parse('2026-11-18T12:00:00Z');
const minute = 60_000;
const any = { nowMs, belongs: () => true };

const revision = (over: Partial<SeenRevision> = {}): SeenRevision => ({
  uid: '6f1c1d5e-6a2b-4a6e-9a6e-0d7c3d1f2a3b',
  wholeMs: 10 * minute,
  servingMs: 20 * minute,
  brokenAfterMs: 5 * minute,
  shortAt: 3,
  seenMs: nowMs - minute,
  ...over,
});

const spanMs = fc.integer({ min: 0, max: 10 * 365 * 86_400_000 });
const arbitrary: fc.Arbitrary<SeenRevision> = fc
  .record(
    {
      uid: fc.uuid(),
      spans: fc.tuple(spanMs, spanMs, spanMs).map((spans) => spans.toSorted((a, b) => a - b)),
      shortAt: fc.integer({ min: 1, max: 1_000_000 }),
      seenMs: fc.integer({ min: 0, max: nowMs }),
    },
    { requiredKeys: ['uid', 'spans', 'seenMs'] },
  )
  .map(({ spans: [brokenAfterMs, wholeMs, servingMs], ...rest }) => ({
    ...rest,
    brokenAfterMs: brokenAfterMs!,
    wholeMs: wholeMs!,
    servingMs: servingMs!,
  }));

test('what was written is read again, whatever it is', () => {
  fc.assert(
    fc.property(fc.uniqueArray(arbitrary, { selector: ({ uid }) => uid, maxLength: 50 }), (all) => {
      const { seen, dropped } = decodeSeen(encodeSeen(all).text, any);
      const byUid = (a: SeenRevision, b: SeenRevision): number => (a.uid < b.uid ? -1 : 1);
      assert.deepEqual([seen.toSorted(byUid), dropped], [all.toSorted(byUid), 0]);
    }),
  );
});

test('whatever somebody wrote there is read without an error, and nothing impossible is believed', () => {
  fc.assert(
    fc.property(fc.string(), fc.array(fc.json()), (text, values) => {
      const { seen } = decodeSeen(`${text}\n${values.join('\n')}`, any);
      for (const one of seen) assert.ok(one.brokenAfterMs >= 0 && one.brokenAfterMs <= one.wholeMs);
    }),
  );
});

const lineOf = (values: unknown[]): string => JSON.stringify(values);
const good = ['6f1c1d5e', 2, 3, 1, 0, nowMs];
const bad: [string, string][] = [
  ['no JSON', 'healthy'],
  ['no list', '{"uid":"6f1c1d5e"}'],
  ['too few values', lineOf(good.slice(0, 5))],
  ['too many', lineOf([...good, 1])],
  ['no uid', lineOf(['', ...good.slice(1)])],
  ['a uid with other characters', lineOf(['a/b', ...good.slice(1)])],
  ['a negative time', lineOf(['6f1c1d5e', 2, 3, -1, 0, nowMs])],
  ['half a millisecond', lineOf(['6f1c1d5e', 2, 3.5, 1, 0, nowMs])],
  ['longer than anything runs', lineOf(['6f1c1d5e', 2, 1e15, 1, 0, nowMs])],
  ['more time with all pods than with half of them', lineOf(['6f1c1d5e', 4, 3, 1, 0, nowMs])],
  ['broken after more time than it was whole', lineOf(['6f1c1d5e', 2, 3, 3, 0, nowMs])],
  ['seen in the future', lineOf([...good.slice(0, 5), nowMs + 10 * minute])],
  ['a line that is too long', `${lineOf(good)}${' '.repeat(200)}`],
];
for (const [what, line] of bad)
  test(`a line with ${what} is dropped and counted, and the others stay`, () => {
    const { seen, dropped } = decodeSeen(`${line}\n${lineOf(good)}\n`, any);
    assert.deepEqual([seen.map(({ uid }) => uid), dropped], [['6f1c1d5e'], 1]);
  });

test('a clock that is a little ahead is no reason to forget', () => {
  const { text } = encodeSeen([revision({ seenMs: nowMs + minute })]);
  assert.equal(decodeSeen(text, any).seen.length, 1);
});

test('a line of another shard, and a text that is too long, are not believed', () => {
  const { text } = encodeSeen([revision()]);
  assert.deepEqual(decodeSeen(text, { nowMs, belongs: () => false }), { seen: [], dropped: 1 });
  assert.deepEqual(decodeSeen(text + '\n'.repeat(mostCharacters), any), { seen: [], dropped: 1 });
});

test('20,000 revisions fit into the four, and are spread over them', () => {
  const uid = (n: number): string => `6f1c1d5e-6a2b-4a6e-9a6e-${n.toString(16).padStart(12, '0')}`;
  const spans = { wholeMs: 40 * 86_400_000, servingMs: 41 * 86_400_000, brokenAfterMs: 86_400_001, shortAt: 100 };
  const shards = Map.groupBy(
    Array.from({ length: 20_000 }, (_, n) => revision({ uid: uid(n), ...spans })),
    (one) => shardOf(one.uid, 4),
  );
  for (const [, all] of shards) {
    assert.ok(all.length > 4_500 && all.length < 5_500, `${all.length}`);
    assert.equal(encodeSeen(all).kept.length, all.length);
  }
});

test('when there is too much, what ran longest ago is left out', () => {
  const all = Array.from({ length: 10 }, (_, n) =>
    revision({ uid: `uid-${n}`, seenMs: nowMs - ((n * 7) % 10) * minute }),
  );
  const { text, kept } = encodeSeen(all, 300);
  assert.ok(text.length <= 300 && kept.length > 1);
  const oldestKept = Math.min(...kept.map(({ seenMs }) => seenMs));
  assert.ok(all.filter((one) => !kept.includes(one)).every(({ seenMs }) => seenMs < oldestKept));
  assert.deepEqual(
    decodeSeen(text, any).seen.map(({ uid }) => uid),
    kept.map(({ uid }) => uid),
  );
});

/** The same, before it was short of pods. */
function lacking(seen: SeenRevision): SeenRevision {
  const copy = { ...seen };
  delete copy.shortAt;
  return copy;
}
const running = (over: Partial<SeenRevision> = {}): RunningRevision => ({ ...revision(over), isRunning: true });
const day = 24 * 60 * minute;
const worth: [string, SeenRevision | undefined, RunningRevision, boolean][] = [
  ['is new and healthy', undefined, running(), true],
  ['is new and healthy for a moment', undefined, running({ wholeMs: 29_000, brokenAfterMs: 0 }), false],
  ['counts as healthy since a moment ago', revision({ wholeMs: 29_000 }), running({ wholeMs: 30_000 }), true],
  ['is the same', revision(), running(), false],
  ['runs a little longer', revision(), running({ wholeMs: 11 * minute, servingMs: 21 * minute }), false],
  ['runs twice as long', revision(), running({ wholeMs: 20 * minute }), true],
  ['has run for days, and for one more', revision({ wholeMs: 3 * day, servingMs: 3 * day }), running({ wholeMs: 6 * day, servingMs: 6 * day }), false],
  ['has just run for a day', revision({ wholeMs: 0.7 * day, servingMs: 2 * day }), running({ wholeMs: day, servingMs: 2 * day }), true],
  ['has ended a little later', revision(), { ...running({ wholeMs: 11 * minute }), isRunning: false }, true],
  ['has ended, and that is known', revision(), { ...running(), isRunning: false }, false],
  ['broke', revision(), running({ brokenAfterMs: 10 * minute }), true],
  ['is short of pods', lacking(revision()), running(), true],
  ['was short at another size', revision({ shortAt: 2 }), running({ shortAt: 3 }), true],
]; // prettier-ignore
for (const [what, before, now, want] of worth)
  test(`a revision that ${what} is ${want ? '' : 'not '}written`, () =>
    assert.equal(isWorthWriting(before, now, 30_000), want));
