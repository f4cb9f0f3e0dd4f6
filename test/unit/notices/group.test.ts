import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planMessages } from '../../../src/notices/plan/coalesce.ts';
import type { Address } from '../../../src/notices/plan/route.ts';
import type { GroupFacts } from '../../../src/notices/plan/waiting.ts';
import { aFix, aNotice, aNoticeOf, at, condition } from '../../support/fixes.ts';

const nowMs = Date.parse(at('02:13:00'));
const team: Address = { channel: 'telegram', chat: '-100500' };
const posted = (secondsAgo: number) => ({ message: '1', postedAt: new Date(nowMs - secondsAgo * 1000).toISOString() });

function plan(over: Partial<GroupFacts>, seenMsAgo = 60_000) {
  const { steps, againInMs } = planMessages({
    fixes: [],
    notices: [],
    nowMs,
    coalesceMs: 5_000,
    maxPerMinute: 4,
    stormOver: 10,
    addressesOf: () => [team],
    seen: () => ({ firstMs: nowMs - seenMsAgo, rehearsedMs: nowMs - seenMsAgo }),
    postedAtMs: ({ status }) => (status?.postedAt ? Date.parse(status.postedAt) : undefined),
    isStuck: () => false,
    isPosting: () => false,
    alsoSentAtMs: () => [],
    ...over,
  });
  const said = steps.map((step) => {
    const names = step.members.map(({ spec }) => spec.incident.object.name).join(' ');
    return step.do === 'open' ? `open ${step.address.chat}: ${names}` : `join ${step.notice.metadata.name}: ${names}`;
  });
  return { said, againInMs };
}
const web = aFix({ n: 2, name: 'web' });
const told = aNoticeOf([aFix()], {}, posted(10));
const full = [10, 20, 30, 40].map((ago, n) => aNoticeOf([aFix({ n: 20 + n })], {}, posted(ago)));
const warned = aFix({ incident: { severity: 'warning' } });
const follows = { name: 'checkout', uid: aFix().metadata.uid };
const worse = aFix({ n: 4, name: 'worse', spec: { follows } });

const cases: { name: string; facts: Partial<GroupFacts>; seenMsAgo?: number; said: string[]; againInMs?: number }[] = [
  { name: 'nothing to tell', facts: {}, said: [] },
  { name: 'the window is over', facts: { fixes: [aFix()] }, seenMsAgo: 5_000, said: ['open -100500: checkout'] },
  { name: 'the window is open', facts: { fixes: [aFix()] }, seenMsAgo: 2_000, said: [], againInMs: 3_000 },
  {
    name: 'not rehearsed yet',
    facts: { fixes: [aFix({ unrehearsed: true })] },
    seenMsAgo: 2_000,
    said: [],
    againInMs: 8_000,
  },
  {
    name: 'without an action there is nothing to wait for',
    facts: { fixes: [aNotice()] },
    seenMsAgo: 5_000,
    said: ['open -100500: reports'],
  },
  {
    name: 'most severe first',
    facts: { fixes: [aNotice(), web, aFix()] },
    said: ['open -100500: checkout web reports'],
  },
  { name: 'already told', facts: { fixes: [aFix()], notices: [told] }, said: [] },
  {
    name: 'told elsewhere before the route changed',
    facts: { fixes: [aFix()], notices: [aNoticeOf([aFix()], { chat: '-1' })] },
    said: [],
  },
  {
    name: 'over before it was told',
    facts: {
      fixes: [
        aFix({ phase: 'Resolved' }),
        aFix({ n: 2, phase: 'Rejected' }),
        aFix({ n: 3, phase: 'Expired', conditions: [condition('IncidentCleared', '02:12:50')] }),
      ],
    },
    said: [],
  },
  {
    name: 'failed before it was told',
    facts: { fixes: [aFix({ phase: 'Failed', conditions: [condition('Failed', '02:12:50')] })] },
    said: ['open -100500: checkout'],
  },
  {
    name: 'failed long ago, and nobody was told: late rather than never',
    facts: { fixes: [aFix({ phase: 'Failed', conditions: [condition('Failed', '01:12:50')] })] },
    said: ['open -100500: checkout'],
  },
  {
    name: 'expired before anybody was told, and still broken: late rather than never',
    facts: { fixes: [aFix({ phase: 'Expired' })] },
    said: ['open -100500: checkout'],
  },
  {
    name: 'four in the last minute: the fifth waits',
    facts: { fixes: [aFix()], notices: full },
    said: [],
    againInMs: 20_000,
  },
  {
    name: 'four in another chat do not matter',
    facts: { fixes: [aFix()], notices: full.map((notice) => ({ ...notice, spec: { ...notice.spec, chat: '-1' } })) },
    said: ['open -100500: checkout'],
  },
  {
    name: 'topics share the limit of their chat',
    facts: { fixes: [aFix()], notices: full, addressesOf: () => [{ ...team, thread: '7' }] },
    said: [],
    againInMs: 20_000,
  },
  {
    name: 'one on its way counts',
    facts: { fixes: [aFix()], notices: [...full.slice(1), aNoticeOf([aFix({ n: 30 })])] },
    said: [],
    againInMs: 20_000,
  },
  {
    name: 'so does one that no Notice tells of any more',
    facts: { fixes: [aFix()], notices: full.slice(1), alsoSentAtMs: () => [nowMs - 40_000] },
    said: [],
    againInMs: 20_000,
  },
  {
    name: 'posted far in the future, by a clock that was set back: nobody is silenced by it',
    facts: { fixes: [aFix()], notices: full.map((notice) => ({ ...notice, status: posted(-1_200) })) },
    said: ['open -100500: checkout'],
  },
  {
    name: 'a successor joins the message',
    facts: { fixes: [aFix(), aFix({ n: 2, spec: { follows } })], notices: [told] },
    said: [`join ${told.metadata.name}: checkout`],
  },
  {
    name: 'a successor more severe than anything in the message is heard: a new one',
    facts: { fixes: [warned, worse], notices: [aNoticeOf([warned], {}, posted(90))] },
    said: ['open -100500: worse'],
  },
  {
    name: 'as severe as something else in the message: it joins',
    facts: { fixes: [warned, web, worse], notices: [aNoticeOf([warned, web], {}, posted(90))] },
    said: [`join ${told.metadata.name}: worse`],
  },
  {
    name: 'a message that has not left takes the more severe successor along',
    facts: { fixes: [warned, worse], notices: [aNoticeOf([warned])] },
    said: [`join ${told.metadata.name}: worse`],
  },
  {
    name: 'but not while it is leaving: whether that makes a sound is decided already',
    facts: { fixes: [warned, worse], notices: [aNoticeOf([warned])], isPosting: () => true },
    said: ['open -100500: worse'],
  },
  {
    name: 'a successor that joins in one channel is still told in the other',
    facts: {
      fixes: [aFix(), aFix({ n: 2, name: 'later', spec: { follows } })],
      notices: [told],
      addressesOf: () => [team, { channel: 'console', chat: 'console' }],
    },
    said: [`join ${told.metadata.name}: later`, 'open console: later'],
  },
  {
    name: 'a successor’s successor joins as well',
    facts: {
      fixes: [
        aFix({ n: 3, spec: { follows: { name: 'x', uid: web.metadata.uid } } }),
        { ...web, spec: { ...web.spec, follows } },
      ],
      notices: [told],
    },
    said: [`join ${told.metadata.name}: web checkout`],
  },
  {
    name: 'a successor of something untold speaks for it',
    facts: { fixes: [aFix(), aFix({ n: 2, name: 'later', spec: { follows } })] },
    said: ['open -100500: later'],
  },
  {
    name: 'a message that cannot leave takes the newcomer along',
    facts: { fixes: [web], notices: [aNoticeOf([aFix()])], isStuck: () => true },
    said: [`join ${told.metadata.name}: web`],
  },
  {
    name: 'but not while it is being tried',
    facts: { fixes: [web], notices: [aNoticeOf([aFix()])], isStuck: () => true, isPosting: () => true },
    said: [],
    againInMs: 1_000,
  },
  {
    name: 'two places, two messages',
    facts: { fixes: [aFix(), web], addressesOf: () => [team, { channel: 'console', chat: 'console' }] },
    said: ['open -100500: checkout web', 'open console: checkout web'],
  },
];
for (const { name, facts, seenMsAgo, said, againInMs } of cases) {
  test(name, () => assert.deepEqual(plan(facts, seenMsAgo), { said, againInMs }));
}
