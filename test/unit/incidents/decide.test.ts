import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gone, workloadHealth } from '../../../src/health/workload-health.ts';
import {
  decideCleared,
  decidePending,
  decideUnseen,
  type IncidentFacts,
  type PendingFacts,
} from '../../../src/incidents/decide.ts';
import type { SeenClass } from '../../../src/incidents/incident.ts';
import { aConfig } from '../../support/config.ts';
import { aFix } from '../../support/fixes.ts';

const healthy = workloadHealth({ desired: 3, ready: 3, settled: true }, [], 0);
const nowMs = 1_000_000;
const held = (ms: number) => ({ sinceMs: nowMs - ms, restarts: 0, readAtMs: nowMs });
const facts = (over: Partial<IncidentFacts>): IncidentFacts => ({
  class: 'QuotaExceeded',
  longestUptimeMs: 0,
  live: healthy,
  stable: held(30_000),
  config: aConfig(),
  nowMs,
  ...over,
});
const aClass = (name: string, specificity: number, over: Partial<SeenClass> = {}): SeenClass => ({
  class: name,
  specificity,
  severity: 'critical',
  forMs: 0,
  readable: true,
  reason: '',
  message: '',
  firstMs: 0,
  lastMs: nowMs,
  dueMs: nowMs,
  count: 1,
  ...over,
});
const watchedFor = (stableSeconds: number) => aFix({ phase: 'Failed', status: { execution: { stableSeconds } } });

const ends: [string, Partial<IncidentFacts>, boolean][] = [
  ['healthy for the window', {}, true],
  ['healthy for almost the window', { stable: held(29_999) }, false],
  ['not healthy', { live: { ...healthy, healthy: false } }, false],
  ['never seen healthy', { stable: undefined }, false],
  [
    'a crash loop, for less than twice its life',
    { class: 'CrashLoop', longestUptimeMs: 60_000, stable: held(119_999) },
    false,
  ],
  ['a crash loop, for twice its life', { class: 'CrashLoop', longestUptimeMs: 60_000, stable: held(120_000) }, true],
  ['for less than the controller watches its fix', { holder: watchedFor(120), stable: held(119_999) }, false],
  ['for as long as the controller watches its fix', { holder: watchedFor(120), stable: held(120_000) }, true],
  [
    'while it is approved: the controller speaks first',
    { holder: aFix({ phase: 'Approved' }), stable: held(600_000) },
    false,
  ],
  ['while it is being applied', { holder: aFix({ phase: 'Applying' }), stable: held(600_000) }, false],
  ['while the applied fix is watched', { holder: aFix({ phase: 'Applied' }), stable: held(600_000) }, false],
  ['gone for less than a minute: it may be created again', { live: gone, stable: held(59_999) }, false],
  ['gone for a minute', { live: gone, stable: held(60_000) }, true],
  ['a quota that is gone, and its workloads have their pods', { live: { ...healthy, gone: true } }, true],
  ['rejected', { holder: aFix({ phase: 'Rejected' }) }, true],
];
for (const [name, over, cleared] of ends)
  test(`the episode is ${cleared ? '' : 'not '}over: ${name}`, () =>
    assert.equal(decideCleared(facts(over)).cleared, cleared));

const unseen: [string, Partial<IncidentFacts>, number, boolean][] = [
  ['not seen for a quarter of an hour', {}, 900_000, true],
  ['seen since', {}, 899_999, false],
  ['gone for less than a minute', { live: gone, stable: held(59_999) }, 100_000, false],
  ['gone for a minute', { live: gone, stable: held(60_000) }, 100_000, true],
];
for (const [name, over, silentMs, cleared] of unseen)
  test(`without readable state it is ${cleared ? '' : 'not '}over: ${name}`, () =>
    assert.equal(decideUnseen(facts(over), nowMs - silentMs, 1_000).cleared, cleared));

const beingFixed = (stableFor: number) => ({
  live: { ...healthy, healthy: false },
  holder: aFix({ phase: 'Applied' }),
  config: { ...aConfig(), recovery: { stableFor, timeout: 600_000 } },
});
const looks: [string, Partial<IncidentFacts>, number][] = [
  ['broken, and nobody does anything', { live: { ...healthy, healthy: false } }, 5_000],
  ['a fix is watched for half a minute', beingFixed(30_000), 5_000],
  ['a fix is watched for three seconds: how many are ready must be known before', beingFixed(3_000), 1_000],
];
for (const [name, over, againInMs] of looks)
  test(`looked at again in ${againInMs / 1000} s: ${name}`, () =>
    assert.equal(decideCleared(facts(over)).againInMs, againInMs));

const sick = { ...healthy, healthy: false };
const crashing = { class: 'CrashLoop', live: { ...sick, troubles: ['CrashLoop'] } };
const loop = aClass('CrashLoop', 60);
const stuck = aClass('RolloutStuck', 20);
const own = aClass('Foo', 0, { readable: false, forMs: 600_000 });
const half = 1_800_000; // three times ten minutes
const untold: [string, Partial<PendingFacts>, number, object][] = [
  ['crashing', crashing, 0, { do: 'tell', as: loop }],
  ['a rollout under way is no crash loop', { class: 'CrashLoop', live: sick }, 900_000, { do: 'wait', ms: 5_000 }],
  ['nor is it one for ever', { class: 'CrashLoop', live: sick }, 900_001, { do: 'forget', because: 'untrue' }],
  ['gone', { live: gone }, 0, { do: 'forget', because: 'gone' }],
  ['healthy for a moment', { stable: held(1_000) }, 0, { do: 'wait', ms: 1_450 }],
  ['healthy for most of the window', { stable: held(29_000) }, 0, { do: 'wait', ms: 1_000 }],
  ['healthy for the window', {}, 0, { do: 'forget', because: 'healed' }],
  [
    'the most specific is no longer true, another is',
    { seen: [loop, stuck], live: { ...sick, troubles: ['RolloutStuck'] } },
    0,
    { do: 'tell', as: stuck },
  ],
  [
    'both are true',
    { seen: [loop, stuck], live: { ...sick, troubles: ['RolloutStuck', 'CrashLoop'] } },
    0,
    { do: 'tell', as: loop },
  ],
  [
    'one of them has been patient for long enough',
    {
      ...crashing,
      seen: [{ ...loop, dueMs: nowMs + 9 }, stuck],
      live: { ...sick, troubles: ['RolloutStuck', 'CrashLoop'] },
    },
    0,
    { do: 'tell', as: { ...loop, dueMs: nowMs + 9 } },
  ],
  [
    'the only one that is true has not',
    { seen: [{ ...loop, dueMs: nowMs + 9 }, stuck], live: { ...sick, troubles: ['CrashLoop'] } },
    0,
    { do: 'wait', ms: 9 },
  ],
  ['what cannot be read, seen once', { seen: [own], live: sick }, 0, { do: 'wait', ms: half }],
  [
    'what cannot be read, seen twice',
    { seen: [{ ...own, count: 2 }], live: healthy },
    0,
    { do: 'tell', as: { ...own, count: 2 } },
  ],
  [
    'what cannot be read, never seen again',
    { seen: [{ ...own, lastMs: nowMs - half }], live: sick },
    half,
    { do: 'forget', because: 'unseen' },
  ],
  [
    'what cannot be read, seen twice long ago',
    { seen: [{ ...own, count: 2, lastMs: nowMs - half }], live: healthy },
    half,
    { do: 'forget', because: 'unseen' },
  ],
  [
    'healed of what can be read, while a second sighting of the other may come',
    { seen: [loop, own] },
    0,
    { do: 'wait', ms: half },
  ],
];
for (const [name, over, silentMs, step] of untold)
  test(`when patience is over: ${name}`, () =>
    assert.deepEqual(decidePending({ seen: [loop], ...facts(over), ...over, lastSeenMs: nowMs - silentMs }), step));
