import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sight } from '../../../src/kube/contact.ts';
import { type NoticeSubject, aboutAnnotation, aboutOf, type Notice } from '../../../src/kube/notice.ts';
import { planSystem, type SystemFacts } from '../../../src/notices/plan/blindness.ts';
import type { Address } from '../../../src/notices/plan/route.ts';
import { aNotice, aNoticeOf, at } from '../../support/fixes.ts';

/* Which messages about tapfix itself there ought to be. */

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
  about.what !== 'unseen'
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
  ['nor while it could not be sent', { nowMs: nowMs + 86_400_000, notices: [{ ...over('04:05:00'), status: {} }] }, []],
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
  assert.deepEqual(planSystem({ sights, notices: [], said, addressesOf: () => [team], nowMs: nowMs + 86_400_000 }), []);
});

test('what cannot be rendered is nobody’s: a hand-written annotation with odd times, kinds, or too many parts', () => {
  const part = { kind: 'Pod', from: at('04:02:00'), why: 'forbidden' };
  const odd = [
    {},
    { what: 'blind', from: 'yesterday', until: at('04:09:00'), why: 'silent' },
    { what: 'unseen', parts: [] },
    { what: 'unseen', parts: Array.from({ length: 51 }, () => part) },
  ];
  for (const about of odd) assert.equal(aboutOf(aNoticeAbout(JSON.stringify(about))), undefined);
  assert.notEqual(aboutOf(open), undefined);
});
