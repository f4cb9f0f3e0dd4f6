import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContactTrouble, Gap, Sight } from '../../../../src/kube/contact.ts';
import { aboutAnnotation, type Notice, type NoticeSubject } from '../../../../src/kube/notice.ts';
import {
  blindnessOf,
  planSystem,
  seesAll,
  type SystemFacts,
  unseenOf,
} from '../../../../src/notices/plan/blindness.ts';
import type { Address } from '../../../../src/notices/plan/route.ts';
import { aNotice, aNoticeOf, at } from '../../../support/fixes.ts';

/* How far the watches together see. Times are seconds, for reading. */

const gap = (from: number, until: number, why: Gap['why'] = 'unreachable'): Gap => ({
  fromMs: from * 1000,
  untilMs: until * 1000,
  why,
});
/** Last heard, known to fail since, failed last. */
const trouble = (
  since: number,
  failing: number,
  failed: number,
  why: ContactTrouble['why'] = 'unreachable',
): ContactTrouble => ({
  sinceMs: since * 1000,
  failingSinceMs: failing * 1000,
  failedAtMs: failed * 1000,
  why,
});
const sight = (over: Partial<Sight> = {}): Sight => ({ kind: 'Pod', synced: true, gaps: [], ...over });

const blind: [string, Sight[], number, [number, number, string][]][] = [
  ['nothing happened', [sight(), sight()], 1000, []],
  [
    'all were away: from the last word to the last return',
    [sight({ gaps: [gap(100, 400)] }), sight({ gaps: [gap(130, 425)] })],
    1000,
    [[130, 425, 'unreachable']],
  ],
  ['one of them was not', [sight({ gaps: [gap(100, 400)] }), sight()], 1000, []],
  [
    'all were, but not at the same time',
    [sight({ gaps: [gap(100, 200)] }), sight({ gaps: [gap(200, 300)] })],
    1000,
    [],
  ],
  ['together for less than a minute', [sight({ gaps: [gap(100, 200)] }), sight({ gaps: [gap(150, 300)] })], 1000, []],
  [
    'it still lasts',
    [sight({ trouble: trouble(100, 101, 900) }), sight({ trouble: trouble(100, 101, 900) })],
    1000,
    [],
  ],
  [
    'the second is expected back any moment',
    [sight({ gaps: [gap(100, 400)] }), sight({ trouble: trouble(100, 101, 399) })],
    420,
    [],
  ],
  [
    'the second does not come back: not waited for',
    [sight({ gaps: [gap(100, 400)] }), sight({ trouble: trouble(100, 101, 450) })],
    460,
    [[100, 400, 'unreachable']],
  ],
  [
    'one that was refused before it',
    [
      sight({ gaps: [gap(100, 400)] }),
      sight({ gaps: [gap(110, 410)] }),
      sight({ trouble: trouble(0, 1, 450, 'forbidden') }),
    ],
    480,
    [[110, 410, 'unreachable']],
  ],
  [
    'twice',
    [sight({ gaps: [gap(100, 200), gap(500, 700)] }), sight({ gaps: [gap(100, 200), gap(500, 700)] })],
    1000,
    [
      [100, 200, 'unreachable'],
      [500, 700, 'unreachable'],
    ],
  ],
  [
    'a laptop that slept: no error, only silence',
    [sight({ gaps: [gap(100, 4000, 'silent')] }), sight({ gaps: [gap(90, 4001, 'silent')] })],
    5000,
    [[100, 4001, 'silent']],
  ],
  [
    'what this installation may not see anyway does not count',
    [sight({ gaps: [gap(100, 400)] }), sight({ isOptedOut: true })],
    1000,
    [[100, 400, 'unreachable']],
  ],
];
for (const [name, sights, now, want] of blind)
  test(`blind: ${name}`, () =>
    assert.deepEqual(
      blindnessOf(sights, now * 1000).map(({ fromMs, untilMs, why }) => [fromMs / 1000, untilMs / 1000, why]),
      want,
    ));

const unseen: [string, Sight[], string[]][] = [
  [
    'refused for a minute while others are seen',
    [sight({ trouble: trouble(0, 1, 61, 'forbidden') }), sight({ kind: 'Event' })],
    ['Pod'],
  ],
  ['refused for less', [sight({ trouble: trouble(0, 1, 60, 'forbidden') }), sight({ kind: 'Event' })], []],
  [
    'dead for long, but known for a moment only',
    [sight({ trouble: trouble(0, 90, 91) }), sight({ kind: 'Event' })],
    [],
  ],
  [
    'nothing is seen at all: that is told when it is over',
    [sight({ trouble: trouble(0, 1, 300) }), sight({ trouble: trouble(0, 1, 300) })],
    [],
  ],
  [
    'the other is back, this one about to be',
    [sight({ trouble: trouble(0, 1, 299) }), sight({ kind: 'Event', gaps: [gap(0, 300)] })],
    [],
  ],
  [
    'the other is back, this one was refused for a minute since',
    [sight({ trouble: trouble(0, 1, 360) }), sight({ kind: 'Event', gaps: [gap(0, 300)] })],
    ['Pod'],
  ],
  ['what need not be seen', [sight({ isOptedOut: true }), sight({ kind: 'Event' })], []],
];
for (const [name, sights, want] of unseen)
  test(`unseen: ${name}`, () =>
    assert.deepEqual(
      unseenOf(sights).map(({ kind }) => kind),
      want,
    ));

const well: [string, Sight[], boolean][] = [
  ['everything is seen', [sight(), sight()], true],
  ['nobody watches yet', [], false],
  ['one has not been listed', [sight(), sight({ synced: false })], false],
  ['one broke half a minute ago', [sight(), sight({ trouble: trouble(970, 971, 999) })], true],
  ['one broke a minute ago', [sight(), sight({ trouble: trouble(940, 971, 999) })], false],
  ['one need not be seen', [sight(), sight({ isOptedOut: true })], true],
];
for (const [name, sights, want] of well)
  test(`all is well: ${name}: ${want}`, () => assert.equal(seesAll(sights, 1_000_000), want));

describe('which system messages are due', () => {
  const team: Address = { channel: 'telegram', chat: '-100500' };
  const shop: Address = { channel: 'telegram', chat: '-100900', thread: '17' };
  const nowMs = Date.parse(at('04:10:00'));
  const ms = (clock: string): number => Date.parse(at(clock));
  const seen = (kind: Sight['kind'], namespace?: string, over: Partial<Sight> = {}): Sight => ({
    kind,
    ...(namespace && { namespace }),
    synced: true,
    gaps: [],
    ...over,
  });
  const refused = (kind: Sight['kind'], namespace?: string, since = '04:02:00'): Sight =>
    seen(kind, namespace, {
      trouble: { sinceMs: ms(since), failingSinceMs: ms(since), failedAtMs: nowMs, why: 'forbidden' },
    });
  const away = (kind: Sight['kind']): Sight =>
    seen(kind, undefined, { gaps: [{ fromMs: ms('04:02:00'), untilMs: ms('04:09:00'), why: 'unreachable' }] });

  const aNoticeAbout = (
    about: NoticeSubject | string,
    over: Partial<Notice['spec']> = {},
    status: Notice['status'] = { message: '1' },
  ): Notice => {
    const notice = aNoticeOf([aNotice()], { form: 'system', members: [], ...over }, status);
    const annotations = { [aboutAnnotation]: typeof about === 'string' ? about : JSON.stringify(about) };
    return { ...notice, metadata: { ...notice.metadata, annotations } };
  };
  const unseen = (parts: [string, string, string?][], namespace?: string): NoticeSubject => ({
    what: 'unseen',
    ...(namespace && { namespace }),
    parts: parts.map(([kind, from, until]) => ({
      kind,
      from: at(from),
      ...(until && { until: at(until) }),
      why: 'forbidden',
    })),
  });

  function steps(over: Partial<SystemFacts>): string[] {
    const facts: SystemFacts = {
      sights: [],
      notices: [],
      said: new Set(),
      addressesOf: (of) => (of === 'shop' ? [shop] : [team, shop]),
      nowMs,
      ...over,
    };
    return planSystem(facts).map((step) => {
      const to = step.do === 'create' ? step.address.chat : step.notice.spec.chat;
      return `${step.do} ${to}${step.do === 'delete' ? '' : `: ${words(step.about)}`}`;
    });
  }
  const clockOf = (time: string): string => time.slice(11, 16);
  const words = (about: NoticeSubject): string =>
    about.what === 'hello'
      ? `hello ${about.watches.join()}`
      : about.what !== 'unseen'
        ? `${about.what} ${clockOf(about.from)}-${about.until ? clockOf(about.until) : ''}`
        : `unseen ${about.namespace ?? 'all'} ${about.parts.map(({ kind, from, until }) => `${kind} ${clockOf(from)}-${until ? clockOf(until) : ''}`).join(' ')}`;

  const open = aNoticeAbout(unseen([['Pod', '04:02:00']], 'shop'), { chat: '-100900', thread: '17' });
  const over = (until: string) =>
    aNoticeAbout(unseen([['Pod', '04:02:00', until]], 'shop'), { chat: '-100900', thread: '17' });

  const refusal = { at: at('04:05:00'), problem: 'cluster is missing (line 1)' };
  const refusedAt = (from: string, until?: string) =>
    aNoticeAbout({ what: 'refused', from: at(from), ...(until && { until: at(until) }), problem: 'x' });

  const plans: [string, Partial<SystemFacts>, string[]][] = [
    ['all is well', { sights: [seen('Pod'), seen('Event')] }, []],
    [
      'blindness is said in every chat',
      { sights: [away('Pod'), away('Event')] },
      ['create -100500: blind 04:02-04:09', 'create -100900: blind 04:02-04:09'],
    ],
    [
      'what is not seen in a namespace is said to its team',
      { sights: [refused('Pod', 'shop'), seen('Event', 'shop')] },
      ['create -100900: unseen shop Pod 04:02-'],
    ],
    [
      'what is not seen anywhere is said to all',
      { sights: [refused('Node'), seen('Event')] },
      ['create -100500: unseen all Node 04:02-', 'create -100900: unseen all Node 04:02-'],
    ],
    [
      'several kinds of one namespace are one message',
      { sights: [refused('Pod', 'shop'), refused('Job', 'shop', '04:04:00'), seen('Event', 'shop')] },
      ['create -100900: unseen shop Pod 04:02- Job 04:04-'],
    ],
    [
      'two watches of one kind are one part',
      { sights: [refused('Event', 'shop'), refused('Event', 'shop'), seen('Pod', 'shop')] },
      ['create -100900: unseen shop Event 04:02-'],
    ],
    ['it is said already', { sights: [refused('Pod', 'shop'), seen('Event', 'shop')], notices: [open] }, []],
    [
      'another kind joins',
      { sights: [refused('Pod', 'shop'), refused('Job', 'shop'), seen('Event', 'shop')], notices: [open] },
      ['update -100900: unseen shop Pod 04:02- Job 04:02-'],
    ],
    [
      'it is seen again',
      { sights: [seen('Pod', 'shop')], notices: [open] },
      ['update -100900: unseen shop Pod 04:02-04:10'],
    ],
    [
      'it is no longer watched',
      { sights: [seen('Event')], notices: [open] },
      ['update -100900: unseen shop Pod 04:02-04:10'],
    ],
    [
      'after a restart, not listed yet: nobody knows',
      { sights: [seen('Pod', 'shop', { synced: false })], notices: [open] },
      [],
    ],
    [
      'after a restart, refused from the start where that is allowed',
      { sights: [seen('Pod', 'shop', { isOptedOut: true })], notices: [open] },
      [],
    ],
    [
      'while nothing at all is seen it stays as it is',
      { sights: [refused('Pod', 'shop'), refused('Event', 'shop')], notices: [open] },
      [],
    ],
    [
      'refused again soon after: the same message',
      { sights: [refused('Pod', 'shop', '04:08:00'), seen('Event', 'shop')], notices: [over('04:05:00')] },
      ['update -100900: unseen shop Pod 04:08-'],
    ],
    [
      'refused again long after: another',
      { sights: [refused('Pod', 'shop', '04:08:00'), seen('Event', 'shop')], notices: [over('03:59:00')] },
      ['create -100900: unseen shop Pod 04:08-'],
    ],
    [
      'a day after its end the Notice goes',
      { nowMs: nowMs + 86_400_000, notices: [over('04:05:00')] },
      ['delete -100900'],
    ],
    ['not before', { nowMs: nowMs + 86_000_000, notices: [over('04:05:00')] }, []],
    [
      'nor while it could not be sent',
      { nowMs: nowMs + 86_400_000, notices: [{ ...over('04:05:00'), status: {} }] },
      [],
    ],
    [
      'but if there is no such chat any more',
      { nowMs: nowMs + 86_400_000, notices: [{ ...over('04:05:00'), status: {} }], addressesOf: () => [team] },
      ['delete -100900'],
    ],
    [
      'a configuration that is refused is said in every chat',
      { refusal },
      ['create -100500: refused 04:05-', 'create -100900: refused 04:05-'],
    ],
    [
      'and is over when it is no longer there',
      { notices: [refusedAt('04:05:00')] },
      ['update -100500: refused 04:05-04:10'],
    ],
    [
      'another one is refused: that one is over, this one is said',
      { refusal, notices: [refusedAt('04:01:00')], addressesOf: () => [team] },
      ['update -100500: refused 04:01-04:10', 'create -100500: refused 04:05-'],
    ],
    [
      'a refusal that lasts keeps its Notice',
      { refusal, nowMs: nowMs + 90_000_000, notices: [refusedAt('04:05:00')], addressesOf: () => [] },
      [],
    ],
    [
      'one that is over does not',
      { nowMs: nowMs + 90_000_000, notices: [refusedAt('04:05:00', '04:06:00')] },
      ['delete -100500'],
    ],
    [
      'what another version wrote is left alone',
      { nowMs: nowMs + 86_400_000, notices: [aNoticeAbout('{"what":"config"}'), aNoticeAbout('no json')] },
      [],
    ],
  ];
  for (const [name, facts, want] of plans) test(name, () => assert.deepEqual(steps(facts), want));

  test('what this process knows was said is not said again', () => {
    const sights = [away('Pod'), away('Event')];
    const first = planSystem({ sights, notices: [], said: new Set(), addressesOf: () => [team], nowMs });
    const said = new Set(first.map((step) => (step.do === 'create' ? step.name : '')));
    assert.equal(first.length, 1);
    assert.deepEqual(
      planSystem({ sights, notices: [], said, addressesOf: () => [team], nowMs: nowMs + 86_400_000 }),
      [],
    );
  });
});

describe('a bot that somebody else uses as well', () => {
  const here: Address = { channel: 'telegram', chat: '-1' };
  const facts = (over: Partial<SystemFacts>): SystemFacts => ({
    sights: [],
    notices: [],
    said: new Set(),
    addressesOf: () => [here, { channel: 'slack', chat: 'C1' }],
    nowMs: 1_000_000,
    ...over,
  });
  const shared = [{ channel: 'telegram', sign: 'connection', sinceMs: 500_000 }] as const;
  const about: NoticeSubject = {
    what: 'shared',
    channel: 'telegram',
    sign: 'connection',
    from: '1970-01-01T00:08:20.000Z',
  };
  const notice = (subject: NoticeSubject): Notice => {
    const made = aNoticeOf([aNotice()], { channel: 'telegram', chat: '-1', form: 'system' });
    return { ...made, metadata: { ...made.metadata, annotations: { [aboutAnnotation]: JSON.stringify(subject) } } };
  };

  test('is said once, in the chats of that vendor', () => {
    const [step, ...others] = planSystem(facts({ shared }));
    assert.deepEqual([step?.do === 'create' && [step.address, step.about], others], [[here, about], []]);
    assert.deepEqual(planSystem(facts({ shared, notices: [notice(about)] })), []);
    const later = [{ ...shared[0], sinceMs: 700_000 }];
    assert.deepEqual(planSystem(facts({ shared: later, notices: [notice(about)] })), [], 'after a restart');
  });

  test('is over when that is sure, which is not so just after a start', () => {
    const open = notice(about);
    assert.deepEqual(planSystem(facts({ notices: [open] })), []);
    const until = '1970-01-01T00:16:40.000Z';
    assert.deepEqual(planSystem(facts({ notices: [open], isSureOfBots: true })), [
      { do: 'update', notice: open, about: { ...about, until } },
    ]);
    assert.deepEqual(planSystem(facts({ notices: [notice({ ...about, until })], isSureOfBots: true })), []);
  });
});
