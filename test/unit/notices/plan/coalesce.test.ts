import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Notice } from '../../../../src/kube/notice.ts';
import type { Condition, Remediation } from '../../../../src/kube/remediation.ts';
import { planMessages } from '../../../../src/notices/plan/coalesce.ts';
import type { Address } from '../../../../src/notices/plan/route.ts';
import type { GroupFacts } from '../../../../src/notices/plan/waiting.ts';
import { aFix, aNotice, aNoticeOf, approvedByAda, at, condition, executed, uidOf } from '../../../support/fixes.ts';

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
const follows = { name: aFix().metadata.name, uid: aFix().metadata.uid };
/** Of the same incident, though its object has another name here, so that the plan shows which one it is. */
const { key } = aFix().spec.incident;
const successor = (n: number, name: string, spec: object = { follows }) => aFix({ n, name, incident: { key }, spec });
const cleared = condition('IncidentCleared', '02:12:59');
const changed = (phase: 'Recovered' | 'Failed', endedAt: string, others: Condition[] = []): Remediation =>
  aFix({
    phase,
    approval: approvedByAda,
    status: { execution: executed },
    conditions: [condition(phase, endedAt), ...others],
  });
const interrupted = aFix({
  phase: 'Failed',
  status: { execution: { startedAt: at('02:12:57') } },
  conditions: [condition('Failed', '02:12:58', { reason: 'Interrupted' }), cleared],
});
const worse = successor(4, 'worse');
const later = successor(2, 'later');

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
    name: 'over before it was told, but something was changed: its final state is shown',
    facts: { fixes: [changed('Recovered', '02:12:58')] },
    said: ['open -100500: checkout'],
  },
  {
    name: 'it failed, was applied, and is well by now',
    facts: { fixes: [changed('Failed', '02:12:58', [cleared])] },
    said: ['open -100500: checkout'],
  },
  {
    name: 'it was interrupted, so that nobody knows whether anything was changed',
    facts: { fixes: [interrupted] },
    said: ['open -100500: checkout'],
  },
  {
    name: 'it was about to be applied, and nothing was changed',
    facts: {
      fixes: [aFix({ phase: 'Failed', conditions: [cleared], status: { execution: { startedAt: at('02:12:57') } } })],
    },
    said: [],
  },
  {
    name: 'something was changed an hour ago: history',
    facts: { fixes: [changed('Recovered', '01:13:00')] },
    said: [],
  },
  {
    name: 'something was changed, and that was posted',
    facts: { fixes: [changed('Recovered', '02:12:58')], notices: [aNoticeOf([aFix()], {}, posted(1))] },
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
      fixes: [aFix(), later],
      notices: [told],
      addressesOf: () => [team, { channel: 'console', chat: 'console' }],
    },
    said: [`join ${told.metadata.name}: later`, 'open console: later'],
  },
  {
    name: 'a successor’s successor joins as well',
    facts: {
      fixes: [successor(3, 'last', { follows: { name: later.metadata.name, uid: later.metadata.uid } }), later, aFix()],
      notices: [told],
    },
    said: [`join ${told.metadata.name}: later last`],
  },
  ...(
    [
      ['in another namespace', aFix({ n: 2, name: 'later', namespace: 'web', spec: { follows } })],
      ['of another incident', aFix({ n: 2, name: 'later', spec: { follows } })],
      ['that names another record', successor(2, 'later', { follows: { ...follows, name: 'checkout-3f9a1c-9' } })],
    ] as const
  ).flatMap(([what, claims]) => [
    {
      name: `one ${what} takes over nobody's message, though it says that it follows`,
      facts: { fixes: [aFix(), claims], notices: [told] },
      said: ['open -100500: later'],
    },
    {
      name: `and one ${what} keeps nobody's from being posted`,
      facts: { fixes: [aFix(), claims] },
      said: ['open -100500: checkout later'],
    },
  ]),
  {
    name: 'a successor of something untold speaks for it',
    facts: { fixes: [aFix(), later] },
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

describe('what was found at the start', () => {
  const foundAt = (fix: Remediation, start: string): Remediation => ({
    ...fix,
    metadata: { ...fix.metadata, annotations: { 'tapfix.dev/found-at-start': start } },
  });
  const start = at('02:12:00');
  const api = foundAt(aFix({ name: 'api' }), start);
  const web = foundAt(aFix({ n: 2, name: 'web' }), start);
  const reports = foundAt(aNotice(), start);
  const risen: Remediation = {
    ...reports,
    status: { ...reports.status, sightings: { count: 1, lastSeen: start, severity: 'critical', severitySince: start } },
  };
  const over = aFix({
    n: 2,
    name: 'web',
    phase: 'Recovered',
    status: { execution: executed },
    conditions: [condition('Recovered', '02:12:58')],
  });
  const later = foundAt(aFix({ n: 5, name: 'later' }), at('02:40:00'));
  const fresh = aFix({ n: 6, name: 'fresh' });
  const boot = (members: Remediation[]): Notice =>
    aNoticeOf(members, { form: 'boot' }, { message: '1', postedAt: at('02:12:50') });

  /** As many as the resource holds. */
  const full = (fix: Remediation): Notice => {
    const notice = boot([fix]);
    const [member] = notice.spec.members;
    const others = Array.from({ length: 999 }, (_, n) => ({ ...member!, uid: `gone-${n}` }));
    return { ...notice, spec: { ...notice.spec, members: [member!, ...others] } };
  };

  const nowMs = Date.parse(at('02:13:00'));
  const team: Address = { channel: 'telegram', chat: '-100500' };
  function said(over: Partial<GroupFacts>): string[] {
    const seen = () => ({ firstMs: nowMs - 60_000, rehearsedMs: nowMs - 60_000 });
    const { steps } = planMessages({
      fixes: [],
      notices: [],
      nowMs,
      coalesceMs: 5_000,
      maxPerMinute: 4,
      stormOver: 10,
      addressesOf: () => [team],
      seen,
      postedAtMs: () => nowMs - 10_000,
      isStuck: () => false,
      isPosting: () => false,
      alsoSentAtMs: () => [],
      ...over,
    });
    return steps.map((step) => {
      const names = step.members.map(({ spec }) => spec.incident.object.name).join(' ');
      return step.do === 'open' ? `${step.form}: ${names}` : `join: ${names}`;
    });
  }

  const lately = { seen: () => ({ firstMs: nowMs - 6_000, rehearsedMs: nowMs - 6_000 }) };
  const plans: [string, Partial<GroupFacts>, string[]][] = [
    ['what one start found is one message', { fixes: [reports, api] }, ['boot: api reports']],
    ['what breaks meanwhile is another', { fixes: [api, fresh] }, ['boot: api', 'card: fresh']],
    ['so is what another start found', { fixes: [api, later] }, ['boot: api', 'boot: later']],
    ['whose patience was longer joins', { fixes: [api, web, reports], notices: [boot([api])] }, ['join: web reports']],
    [
      'what is no more than a warning waits for what is critical, whose patience is longer',
      { fixes: [foundAt(aNotice(), at('02:12:40'))], ...lately },
      [],
    ],
    ['for as long as that may take', { fixes: [foundAt(aNotice(), at('02:12:25'))], ...lately }, ['boot: reports']],
    [
      'and not when something critical is there',
      { fixes: [foundAt(aNotice(), at('02:12:40')), foundAt(aFix({ name: 'api' }), at('02:12:40'))] },
      ['boot: api reports'],
    ],
    [
      'what is more severe than anything in it is heard',
      { fixes: [reports, api], notices: [boot([reports])] },
      ['boot: api'],
    ],
    [
      'a warning in it has become critical since, which made a sound of its own: the next one is heard as well',
      { fixes: [risen, api], notices: [boot([risen])] },
      ['boot: api'],
    ],
    [
      'a fix that was over before it was posted joins, silently',
      { fixes: [api, foundAt(over, start)], notices: [boot([api])] },
      ['join: web'],
    ],
    ['what another start found does not join', { fixes: [api, later], notices: [boot([api])] }, ['boot: later']],
    ['nor what broke meanwhile', { fixes: [api, fresh], notices: [boot([api])] }, ['card: fresh']],
    [
      'nor does it join a message about other things',
      { fixes: [api, fresh], notices: [aNoticeOf([fresh])] },
      ['boot: api'],
    ],
    ['what was told is not told again', { fixes: [api, web], notices: [boot([api, web])] }, []],
    [
      'what was over before it could be told is not told',
      { fixes: [api, foundAt(aFix({ n: 2, phase: 'Resolved' }), start)], notices: [boot([api])] },
      [],
    ],
    ['one that is full takes nobody in', { fixes: [api, web], notices: [full(api)] }, ['boot: web']],
    [
      'one that has not left takes it along',
      { fixes: [reports, api], notices: [boot([reports])], isStuck: () => true },
      ['join: api'],
    ],
  ];
  for (const [name, facts, want] of plans) test(name, () => assert.deepEqual(said(facts), want));
});

describe('who joins whom', () => {
  const nowMs = Date.parse(at('02:13:00'));
  const team = { channel: 'telegram', chat: '-100500' } as const;
  const web = aFix({ n: 2, name: 'web' });
  const posted = (secondsAgo: number) => ({
    message: '1',
    postedAt: new Date(nowMs - secondsAgo * 1000).toISOString(),
  });
  const three = [10, 20, 30].map((ago, n) => aNoticeOf([aFix({ n: 20 + n })], {}, posted(ago)));
  const told = aNoticeOf([aFix()], {}, posted(10));
  const later = successor(3, 'later');
  const seenAgo = (firstMs: number, rehearsedMs: number) => () => ({
    firstMs: nowMs - firstMs,
    rehearsedMs: nowMs - rehearsedMs,
  });
  const topicOf = (namespace: string) => [{ ...team, thread: namespace }];
  const failed = aFix({ phase: 'Failed', conditions: [condition('Failed', '02:12:50')] });
  const healed = aFix({
    phase: 'Failed',
    conditions: [condition('Failed', '02:12:50'), condition('IncidentCleared', '02:12:55')],
  });

  const plans: [string, Partial<GroupFacts>, string[], number?][] = [
    [
      'two topics of one chat in one pass share what is left of the limit',
      { fixes: [aFix(), aFix({ n: 2, namespace: 'pay' })], notices: three, addressesOf: topicOf },
      ['open shop'],
      30_000,
    ],
    ['a failure that nobody was told of is told', { fixes: [failed] }, ['open']],
    ['but not when it is healthy by now', { fixes: [healed] }, []],
    [
      'a rehearsal that came after the patience does not begin the wait again',
      { fixes: [aFix()], seen: seenAgo(12_000, 1_000) },
      ['open'],
    ],
    [
      'a message that cannot leave is no message of the last minute',
      {
        fixes: [aFix()],
        notices: [...three, aNoticeOf([web], { thread: '9' })],
        isStuck: (notice) => notice.spec.thread === '9',
      },
      ['open'],
    ],
    [
      'and takes nobody along who belongs elsewhere',
      { fixes: [aFix()], notices: [aNoticeOf([web], { chat: '-1' })], isStuck: () => true },
      ['open'],
    ],
    [
      'a successor that is told already joins nothing',
      { fixes: [aFix(), later], notices: [told, aNoticeOf([later], {}, posted(5))] },
      [],
    ],
    [
      'a successor whose news go elsewhere by now does not join here',
      { fixes: [aFix(), later], notices: [told], addressesOf: () => [{ ...team, chat: '-1' }] },
      ['open'],
    ],
    [
      'who waits for a rehearsal is looked at again',
      {
        fixes: [aFix(), aFix({ n: 2, unrehearsed: true })],
        seen: ({ metadata }) => ({ firstMs: nowMs - (metadata.uid === uidOf(1) ? 60_000 : 2_000) }),
      },
      ['open'],
      8_000,
    ],
  ];
  for (const [name, facts, want, againInMs] of plans)
    test(name, () => {
      const plan = planMessages({
        fixes: [],
        notices: [],
        nowMs,
        coalesceMs: 5_000,
        maxPerMinute: 4,
        stormOver: 10,
        addressesOf: () => [team],
        seen: seenAgo(60_000, 60_000),
        postedAtMs: ({ status }) => (status?.postedAt ? Date.parse(status.postedAt) : undefined),
        isStuck: () => false,
        isPosting: () => false,
        alsoSentAtMs: () => [],
        ...facts,
      });
      const said = plan.steps.map((step) =>
        step.do === 'join' ? 'join' : ['open', step.address.thread].filter(Boolean).join(' '),
      );
      assert.deepEqual([said, plan.againInMs], [want, againInMs]);
    });
});
