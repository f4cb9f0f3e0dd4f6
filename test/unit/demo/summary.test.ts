import assert from 'node:assert/strict';
import { test } from 'node:test';
import { acts } from '../../../src/demo/acts.ts';
import type { PlayedAct } from '../../../src/demo/play.ts';
import { allRecovered, summary, wentWell } from '../../../src/demo/summary.ts';
import type { Phase, Remediation } from '../../../src/kube/remediation.ts';
import { demoScenarios } from '../../../src/cli/cli.ts';

const at = (ms: number): string => new Date(ms).toISOString().slice(11, 19);
const time = (seconds: number): string => new Date(seconds * 1000).toISOString();

const fix = (phase: Phase, state: 'Pending' | 'Approved' | 'Rejected', endedAt: number): Remediation =>
  ({
    metadata: { name: 'x-1', uid: 'x' },
    spec: { action: { type: 'RolloutUndo' }, approval: { state, by: 'you', at: time(12) } },
    status: {
      phase,
      conditions: [{ type: phase, status: 'True', lastTransitionTime: time(endedAt) }],
      execution: { appliedAt: time(13), stableSeconds: 3 },
    },
  }) as unknown as Remediation;

const scene = (over: Partial<PlayedAct>): PlayedAct => ({ act: acts[0]!, brokeAtMs: 0, shownAtMs: 7_000, ...over });
const recovered = scene({ fix: fix('Recovered', 'Approved', 20) });

test('one act in five lines', () => {
  assert.deepEqual(summary({ scenes: [recovered], rightsLeft: 0, at }), [
    '00:00:00  a new version of checkout crashed',
    '00:00:07  the card was there, 7 s later',
    '00:00:12  RolloutUndo approved by you',
    '00:00:20  recovered in 7 s',
    '00:00:20  of the rights that were made for the fixes none is left',
  ]);
});

test('two acts in five lines', () => {
  const rejected = scene({ fix: fix('Rejected', 'Rejected', 12) });
  assert.deepEqual(summary({ scenes: [rejected, recovered], rightsLeft: 1, at }), [
    '00:00:00  a new version of checkout crashed; the card came 7 s later',
    '00:00:12  RolloutUndo rejected by you, nothing was changed',
    '00:00:00  a new version of checkout crashed; the card came 7 s later',
    '00:00:20  RolloutUndo approved by you, recovered in 7 s',
    '00:00:20  1 RoleBinding that was made for the fixes is still there',
  ]);
});

test('silence is not called a success', () => {
  const silent: PlayedAct = { act: acts[1]!, brokeAtMs: 0 };
  assert.match(summary({ scenes: [silent], rightsLeft: 0, at }).join('\n'), /tapfix posted nothing/);
  assert.equal(wentWell([recovered, silent]), false);
});

const ends: [string, PlayedAct, { all: boolean; well: boolean }][] = [
  ['recovered', recovered, { all: true, well: true }],
  ['rejected', scene({ fix: fix('Rejected', 'Rejected', 12) }), { all: false, well: true }],
  ['failed', scene({ fix: fix('Failed', 'Approved', 40) }), { all: false, well: false }],
  ['still open', scene({ fix: fix('Proposed', 'Pending', 7) }), { all: false, well: false }],
];
for (const [name, end, { all, well }] of ends)
  test(`an act that ended ${name}`, () => {
    assert.deepEqual({ all: allRecovered([end]), well: wentWell([end]) }, { all, well });
  });

test('the command line knows every act', () => {
  assert.deepEqual(
    acts.map(({ name }) => name),
    [...demoScenarios],
  );
});
