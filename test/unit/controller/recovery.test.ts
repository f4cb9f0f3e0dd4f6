import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeRecovery, nextStable, notHelped, recoveryFacts } from '../../../src/controller/recovery.ts';
import type { LiveHealth } from '../../../src/health/trouble.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { aConfig } from '../../support/config.ts';
import { health } from './world.ts';

const run = { sinceMs: 1000, restarts: 0, readAtMs: 4000 };
const on = { ...run, readAtMs: 5000 };
const cases = [
  { name: 'the first good reading begins a run', before: undefined, live: health(), want: { ...on, sinceMs: 5000 } },
  { name: 'a good reading goes on with it', before: run, live: health(), want: on },
  { name: 'a bad reading ends it', before: run, live: health({ healthy: false }), want: undefined },
  {
    name: 'a restart begins it again',
    before: run,
    live: health({ restarts: 1 }),
    want: { ...on, sinceMs: 5000, restarts: 1 },
  },
  {
    name: 'a long time without a reading begins it again',
    before: { ...run, readAtMs: -115_001 },
    live: health(),
    want: { ...on, sinceMs: 5000 },
  },
  { name: 'an old signal does not matter', before: run, live: health(), seen: 1000, want: on },
  { name: 'a fresh signal begins it again', before: run, live: health(), seen: 1001, want: { ...on, sinceMs: 5000 } },
  {
    name: 'a signal of a clock ahead of ours is waited for once',
    before: run,
    live: health(),
    seen: 7000,
    want: { ...on, sinceMs: 7000 },
  },
  {
    name: 'and then no longer breaks the run',
    before: { ...run, sinceMs: 7000 },
    live: health(),
    seen: 7000,
    want: { ...on, sinceMs: 7000 },
  },
];

for (const { name, before, live, seen = 0, want } of cases) {
  test(name, () => assert.deepEqual(nextStable(before, live, seen, 5000), want));
}

const facts = { appliedAtMs: 0, windowMs: 30_000, timeoutMs: 600_000 };
const verdicts = [
  { name: 'healthy for the window', stable: run, nowMs: 31_000, want: 'recovered' },
  { name: 'healthy, but not for the window', stable: run, nowMs: 30_999, want: 'not yet' },
  { name: 'not healthy, in time', stable: undefined, nowMs: 630_000, want: 'not yet' },
  { name: 'not healthy, out of time', stable: undefined, nowMs: 630_001, want: 'out of time' },
  {
    name: 'healthy for the window in the last moment',
    stable: { ...run, sinceMs: 600_001 },
    nowMs: 630_001,
    want: 'recovered',
  },
];

for (const { name, stable, nowMs, want } of verdicts) {
  test(name, () => assert.equal(judgeRecovery({ ...facts, stable, nowMs }), want));
}

const sick = (ready: number, desired = 3) =>
  health({ healthy: false, ready, desired, why: `${ready}/${desired} ready` });
const config = aConfig();
const fixWith = (execution: object, failureClass = 'CrashLoop') =>
  ({ spec: { incident: { class: failureClass } }, status: { execution } }) as unknown as Remediation;

const windows = [
  { name: 'as foreseen', class: 'CrashLoop', foreseen: 30, uptime: 0, want: 30_000 },
  { name: 'longer, when it was seen to live longer since', class: 'CrashLoop', foreseen: 30, uptime: 50_000, want: 100_000 },
  { name: 'not shorter, when new pods have no past', class: 'OOMKilled', foreseen: 120, uptime: 20_000, want: 120_000 },
  { name: 'not longer than ten minutes', class: 'OOMKilled', foreseen: 30, uptime: 86_400_000, want: 600_000 },
  { name: 'as foreseen, of what is no loop', class: 'ImagePull', foreseen: 30, uptime: 50_000, want: 30_000 },
]; // prettier-ignore
for (const { name, class: failureClass, foreseen, uptime, want } of windows)
  test(`it must hold ${name}`, () => {
    const fix = fixWith({ stableSeconds: foreseen }, failureClass);
    assert.equal(recoveryFacts(fix, { config, nowMs: 0, live: health({ longestUptimeMs: uptime }) }).windowMs, want);
  });

const helps: {
  name: string;
  before: number | undefined;
  live: LiveHealth;
  worse: number | undefined;
  asManyAtMs?: number;
}[] = [
  { name: 'as few as before', before: 0, live: sick(0), worse: undefined },
  { name: 'more than before, and not enough', before: 1, live: sick(2), worse: undefined },
  { name: 'fewer than before', before: 2, live: sick(0), worse: 0 },
  { name: 'fewer than before, because fewer are wanted', before: 5, live: sick(2, 2), worse: undefined },
  { name: 'fewer than before, and than are wanted by now', before: 5, live: sick(2), worse: 2 },
  { name: 'fewer than before, and so for a while', before: 2, live: sick(0), worse: 0, asManyAtMs: 300_000 },
  {
    name: 'fewer than before at this moment: it comes and goes',
    before: 2,
    live: sick(0),
    worse: undefined,
    asManyAtMs: 300_001,
  },
  { name: 'it is gone', before: 2, live: sick(0, 0), worse: undefined },
  { name: 'how it was before is not known', before: undefined, live: sick(0), worse: undefined },
];
for (const { name, before, live, worse, asManyAtMs } of helps)
  test(`not recovered, ${name}`, () => {
    const { message, execution } = notHelped(fixWith({ readyBefore: before }), {
      live,
      config,
      nowMs: 600_000,
      ...(asManyAtMs !== undefined && { asManyAtMs }),
    });
    assert.equal(execution?.readyAfter, worse);
    const words = worse === undefined ? '' : `it made it worse, ${worse} ready and ${before} before it; `;
    assert.equal(message, `${words}did not recover within 10 min: ${live.why}`);
  });
