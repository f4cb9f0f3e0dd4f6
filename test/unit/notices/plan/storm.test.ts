import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Severity } from '../../../../src/kube/remediation.ts';
import { planMessages } from '../../../../src/notices/plan/coalesce.ts';
import type { GroupFacts } from '../../../../src/notices/plan/waiting.ts';
import { aFix, aNoticeOf, at } from '../../../support/fixes.ts';

const nowMs = Date.parse(at('02:13:00'));
const ago = (seconds: number): string => new Date(nowMs - seconds * 1000).toISOString();

const many = (from: number, count: number, severity: Severity = 'critical', secondsAgo = 10) =>
  Array.from({ length: count }, (_, n) => {
    const fix = aFix({ n: from + n, name: `svc-${from + n}`, incident: { severity } });
    return { ...fix, metadata: { ...fix.metadata, creationTimestamp: ago(secondsAgo) } };
  });
const posted = { message: '1', postedAt: ago(8) };
const stormOf = (fixes: ReturnType<typeof many>) => aNoticeOf(fixes, { form: 'storm' }, posted);

function plan(over: Partial<GroupFacts>) {
  const { steps, againInMs } = planMessages({
    fixes: [],
    notices: [],
    nowMs,
    coalesceMs: 5_000,
    maxPerMinute: 4,
    stormOver: 10,
    addressesOf: () => [{ channel: 'telegram', chat: '-100500' }],
    seen: () => ({ firstMs: nowMs - 6_000, rehearsedMs: nowMs - 6_000 }),
    postedAtMs: ({ status }) => (status?.postedAt ? Date.parse(status.postedAt) : undefined),
    isStuck: () => false,
    isPosting: () => false,
    alsoSentAtMs: () => [],
    ...over,
  });
  const said = steps.map((step) =>
    step.do === 'open' ? `open ${step.form} of ${step.members.length}` : `join ${step.members.length}`,
  );
  return againInMs === undefined ? said : [...said, `again in ${againInMs}`];
}
const told = many(1, 20);
const old = many(1, 20, 'critical', 600);
const risen = many(1, 20, 'warning').map((fix) => ({
  ...fix,
  status: {
    ...fix.status,
    sightings: { count: 1, lastSeen: ago(9), severity: 'critical' as const, severitySince: ago(5) },
  },
}));
const late = { seen: () => ({ firstMs: nowMs - 2_000 }) };

const cases: { name: string; facts: Partial<GroupFacts>; said: string[] }[] = [
  { name: 'ten are no storm', facts: { fixes: many(1, 10) }, said: ['open card of 10'] },
  { name: 'eleven are', facts: { fixes: many(1, 11) }, said: ['open storm of 11'] },
  { name: 'more than is configured', facts: { fixes: many(1, 11), stormOver: 20 }, said: ['open card of 11'] },
  {
    name: 'a storm waits for the window, not for rehearsals',
    facts: {
      fixes: many(1, 12).map((fix) => ({ ...fix, status: { phase: 'Proposed' as const } })),
      seen: () => ({ firstMs: nowMs - 5_000 }),
    },
    said: ['open storm of 12'],
  },
  { name: 'the window is open', facts: { fixes: many(1, 12), ...late }, said: ['again in 3000'] },
  {
    name: 'those that a card told in this minute count',
    facts: { fixes: [...many(1, 8), ...many(9, 5)], notices: [aNoticeOf(many(1, 8), {}, posted)] },
    said: ['open storm of 5'],
  },
  {
    name: 'those of ten minutes ago do not',
    facts: { fixes: [...old, ...many(30, 5)], notices: [aNoticeOf(old, {}, posted)] },
    said: ['open card of 5'],
  },
  {
    name: 'not even after a restart, when everything is first seen just now',
    facts: { fixes: [...old, ...many(30, 5)], notices: [stormOf(old)], seen: () => ({ firstMs: nowMs - 6_000 }) },
    said: ['open card of 5'],
  },
  {
    name: 'the storm message grows, without a new one',
    facts: { fixes: [...told, ...many(30, 40)], notices: [stormOf(told)] },
    said: ['join 40'],
  },
  {
    name: 'once in a window',
    facts: { fixes: [...told, ...many(30, 40)], notices: [stormOf(told)], ...late },
    said: ['again in 3000'],
  },
  {
    name: 'whatever the limit of new messages says',
    facts: { fixes: [...told, ...many(30, 1)], notices: [stormOf(told)], maxPerMinute: 1 },
    said: ['join 1'],
  },
  {
    name: 'more severe than anything in it: a message of its own, in full',
    facts: { fixes: [...many(1, 20, 'warning'), ...many(30, 1)], notices: [stormOf(many(1, 20, 'warning'))] },
    said: ['open card of 1'],
  },
  {
    name: 'a warning in it has become critical since: the next one still makes a sound of its own',
    facts: { fixes: [...risen, ...many(30, 1)], notices: [stormOf(risen)] },
    said: ['open card of 1'],
  },
  {
    name: 'many that are more severe: a storm message of their own',
    facts: {
      fixes: [...many(1, 20, 'warning'), ...many(30, 15), ...many(50, 2, 'info')],
      notices: [stormOf(many(1, 20, 'warning'))],
    },
    said: ['join 2', 'open storm of 15'],
  },
  {
    name: 'a storm that could not leave yet takes everything along',
    facts: {
      fixes: [...many(1, 20, 'warning'), ...many(30, 15)],
      notices: [aNoticeOf(many(1, 20, 'warning'), { form: 'storm' })],
      isStuck: () => true,
    },
    said: ['join 15'],
  },
  {
    name: 'a full one takes no more',
    facts: { fixes: [...many(1, 999), ...many(2_000, 12)], notices: [stormOf(many(1, 999))] },
    said: ['open storm of 12'],
  },
];
for (const { name, facts, said } of cases) test(name, () => assert.deepEqual(plan(facts), said));

test('routed to two chats, a storm is each chat’s own', () => {
  const fixes = many(1, 14).map((fix, n) => ({ ...fix, metadata: { ...fix.metadata, namespace: `team-${n % 2}` } }));
  const addressesOf = (namespace: string) => [{ channel: 'telegram' as const, chat: namespace }];
  assert.deepEqual(plan({ fixes, addressesOf }), ['open card of 7', 'open card of 7']);
});

const rush: { name: string; seen: number[]; said: string[] }[] = [
  { name: 'three are no rush: the window is as long as ever', seen: [5, 3, 1], said: ['open card of 3'] },
  { name: 'four, the last just now: wait a little', seen: [5, 3, 1, 1], said: ['again in 4000'] },
  { name: 'four, and nothing for a while', seen: [8, 7, 6, 5], said: ['open card of 4'] },
  { name: 'never longer than three windows', seen: [15, 10, 5, 1], said: ['open card of 4'] },
];
for (const { name, seen, said } of rush)
  test(name, () => {
    const fixes = many(1, seen.length);
    const firstMs = (uid: string): number =>
      nowMs - seen[fixes.findIndex(({ metadata }) => metadata.uid === uid)]! * 1000;
    assert.deepEqual(
      plan({ fixes, seen: ({ metadata }) => ({ firstMs: firstMs(metadata.uid), rehearsedMs: firstMs(metadata.uid) }) }),
      said,
    );
  });
