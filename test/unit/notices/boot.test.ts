import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../../../src/kube/notice.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { planMessages } from '../../../src/notices/plan/coalesce.ts';
import type { Address } from '../../../src/notices/plan/route.ts';
import type { GroupFacts } from '../../../src/notices/plan/waiting.ts';
import { aFix, aNotice, aNoticeOf, at } from '../../support/fixes.ts';
import { aDesk, upsert } from './desk.ts';

/* What was broken when tapfix came is one message. */

const foundAt = (fix: Remediation, start: string): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, annotations: { 'tapfix.dev/found-at-start': start } },
});
const start = at('02:12:00');
const api = foundAt(aFix({ name: 'api' }), start);
const web = foundAt(aFix({ n: 2, name: 'web' }), start);
const reports = foundAt(aNotice(), start);
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

test('five that were broken at the start, with three patiences: one sound, then edits; a restart says nothing', async () => {
  const desk = aDesk();
  const { outbox, kill } = desk.startWith([api, web]);
  await desk.clock.advance(6_000);
  const more = [
    reports,
    foundAt(aNotice({ n: 7, name: 'mail' }), start),
    foundAt(aNotice({ n: 8, name: 'sync' }), start),
  ];
  outbox.onFix(upsert(more[0]!));
  await desk.clock.advance(60_000);
  for (const fix of more.slice(1)) outbox.onFix(upsert(fix));
  await desk.clock.advance(60_000);
  assert.equal(desk.posts().length, 1);
  assert.equal(desk.edits().at(-1)?.length, 5);
  assert.deepEqual(
    desk.server.all().map(({ spec }) => spec.form),
    ['boot'],
  );
  kill();
  const before = desk.said.length;
  desk.startWith([api, web, ...more]);
  await desk.clock.advance(120_000);
  assert.equal(desk.said.length, before);
});
