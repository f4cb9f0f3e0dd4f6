import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Prepared } from '../../../src/actions/action.ts';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import { createApprovals } from '../../../src/approvals/press.ts';
import type { Answer, Press } from '../../../src/channels/channel.ts';
import { type Api, ApiError, Unreachable } from '../../../src/kube/api.ts';
import type { Notice } from '../../../src/kube/notice.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { contextFor } from '../../../src/notices/outbox/notice-body.ts';
import { renderingOf } from '../../../src/notices/outbox/rendering.ts';
import { encodePress, type Verb } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNoticeOf, approvedByAda, aQuotaFix, at, condition, uidOf } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

test('an approval is recorded with who, when and how, and is one audit line', async () => {
  const booth = aBooth();
  assert.deepEqual(await booth.press('a'), { say: 'Approved; it starts now.', alert: false });
  assert.deepEqual(booth.approval(), {
    state: 'Approved',
    by: 'telegram:123456789',
    at: '2026-11-16T02:14:10.000Z',
    via: 'telegram',
  });
  assert.deepEqual(booth.audit, [
    {
      audit: true,
      decision: 'Approved',
      by: 'telegram:123456789',
      name: 'somebody',
      channel: 'telegram',
      namespace: 'shop',
      fix: 'checkout-3f9a1c-1',
      action: 'RolloutUndo',
      reason: undefined,
    },
  ]);
});

test('a target that is no longer as it was shown is not approved, and may still be rejected', async () => {
  const booth = aBooth();
  booth.target.prepared = { ok: true, targetHash: 'another' } as never;
  assert.equal(
    (await booth.press('a')).say,
    'checkout has changed since this card was posted; nothing was done. A new proposal follows.',
  );
  booth.target.prepared = { ok: false, reason: 'Paused', say: 'Deployment checkout is paused.' };
  assert.equal((await booth.press('a')).say, 'Deployment checkout is paused. Nothing was done.');
  assert.equal(booth.approval().state, 'Pending');
  await booth.press('r');
  assert.equal(booth.approval().state, 'Rejected');
});

test('a rejection is recorded', async () => {
  const booth = aBooth();
  assert.equal((await booth.press('r')).say, 'Rejected; nothing is changed.');
  assert.equal(booth.approval().state, 'Rejected');
});

test('two people at once: one wins, the other is told who', async () => {
  const booth = aBooth();
  const [ada, ben] = await Promise.all([booth.press('a'), booth.press('a', 222)]);
  assert.deepEqual(ada, { say: 'Approved; it starts now.', alert: false });
  assert.deepEqual(ben, { say: 'Ada approved this 0 s ago.', alert: true });
  assert.equal(booth.approval().by, 'telegram:123456789');
  assert.deepEqual(
    booth.audit.map(({ decision, reason }) => [decision, reason]),
    [
      ['Approved', undefined],
      ['Refused', 'AlreadyDecided'],
    ],
  );
});

test('a conflict by a status change alone is tried again', async () => {
  const booth = aBooth();
  let changes = 0;
  booth.hooks.beforePatch = () => void (changes++ < 2 && booth.change(booth.live()));
  assert.equal((await booth.press('a')).alert, false);
  assert.equal(booth.approval().state, 'Approved');
});

test('after three conflicts the presser is asked to press again', async () => {
  const booth = aBooth();
  booth.hooks.beforePatch = () => booth.change(booth.live());
  assert.match((await booth.press('a')).say, /could not be recorded, press again/);
  assert.equal(booth.approval().state, 'Pending');
});

test('a target that changed between reading and patching is judged again', async () => {
  const booth = aBooth();
  let once = true;
  booth.hooks.beforePatch = () => {
    const { preview } = booth.live().status!;
    if (once)
      booth.change({
        ...booth.live(),
        status: { ...booth.live().status, preview: { ...preview!, targetHash: 'other' } },
      });
    once = false;
  };
  assert.match((await booth.press('a')).say, /has changed since this card was posted/);
});

test('a server that does not answer: said after 3 s, and a patch that lands late decides the next press', async () => {
  const booth = aBooth();
  booth.hooks.patch = () => booth.clock.sleep(5_000);
  const answer = booth.press('a');
  await booth.clock.advance(3_000);
  assert.deepEqual(await answer, {
    say: 'The cluster did not answer in time; if the decision was recorded this message will say so, else press again.',
    alert: true,
  });
  await booth.clock.advance(2_000);
  assert.equal((await booth.press('a')).say, 'You approved this 5 s ago.');
  assert.deepEqual(
    booth.audit.map(({ decision }) => decision),
    ['Refused', 'Approved', 'Refused'],
  );
});

test('a reading that comes too late starts no patch', async () => {
  const booth = aBooth();
  booth.hooks.get = () => booth.clock.sleep(5_000);
  const answer = booth.press('a');
  await booth.clock.advance(10_000);
  assert.equal((await answer).alert, true);
  assert.equal(booth.approval().state, 'Pending');
});

test('a comparison with the live target that comes too late starts no patch and asks nothing', async () => {
  for (const fix of [aFix(), aQuotaFix()]) {
    const booth = aBooth(fix);
    booth.hooks.prepare = () => booth.clock.sleep(5_000);
    const answer = booth.press('a');
    await booth.clock.advance(10_000);
    assert.equal((await answer).alert, true);
    assert.equal(booth.approval().state, 'Pending');
    assert.deepEqual(
      booth.audit.map(({ decision }) => decision),
      ['Refused'],
    );
  }
});

test('an unreachable server and a refusing one are said', async () => {
  const booth = aBooth();
  booth.hooks.patch = async () => Promise.reject(new Unreachable('reset'));
  assert.match(
    (await booth.press('a')).say,
    /could not be reached; if the decision was recorded this message will say so/,
  );
  booth.hooks.patch = async () => Promise.reject(new ApiError('admission: needs approve', 403, 'Forbidden'));
  assert.equal((await booth.press('a')).say, 'The cluster refused it: admission: needs approve');
});

test('something destructive is asked once more, of that presser, for 30 s', async () => {
  const booth = aBooth(aQuotaFix());
  assert.deepEqual(await booth.press('a'), {
    say: 'Really delete quota platform-hardening? You have 30 s to say yes.',
    alert: false,
  });
  assert.equal(booth.approval().state, 'Pending');
  assert.match((await booth.press('c', 222)).say, /Ada is being asked/);
  assert.equal((await booth.press('c')).say, 'Approved; it starts now.');
  assert.match(
    (await booth.press('c', 222)).say,
    /^Ada approved this/,
    'the question that is still open matters no more',
  );
});

test('a decision asks for no edit of its own: the card changes once, with the Remediation', async () => {
  const booth = aBooth(aQuotaFix());
  await booth.press('a');
  let changes = 0;
  booth.confirms.onChange(() => changes++);
  await booth.press('c');
  assert.equal(changes, 0);
});

test('the question runs out after 30 s, and Back takes it back', async () => {
  const booth = aBooth(aQuotaFix());
  await booth.press('a');
  await booth.clock.advance(30_000);
  assert.match((await booth.press('c')).say, /^The 30 s to say yes are over/);
  await booth.press('a');
  assert.equal((await booth.press('b')).say, 'Nothing was done.');
  assert.match((await booth.press('c')).say, /^The 30 s to say yes are over/);
});

test('who is mapped to a Kubernetes user needs its right as well', async () => {
  const booth = aBooth();
  booth.hooks.rbac = false;
  assert.equal((await booth.press('a', 444)).say, 'Kubernetes does not let dee@example.com approve in shop.');
  assert.equal(booth.audit[0]?.['reason'], 'RefusedByRbac');
  booth.hooks.rbac = true;
  assert.equal((await booth.press('a', 444)).alert, false);
});

const notNow: [string, Remediation][] = [
  ['expired', aFix({ phase: 'Expired', conditions: [condition('Expired', '02:14:00')] })],
  ['decided', aFix({ approval: approvedByAda })],
  ['not rehearsed', aFix({ unrehearsed: true })],
];
for (const [name, fix] of notNow)
  test(`who may not decide is told so, whatever became of it: ${name}`, async () => {
    const booth = aBooth(fix);
    booth.hooks.rbac = false;
    assert.match((await booth.press('a', 444)).say, /^Kubernetes does not let dee@example.com approve in shop/);
    booth.hooks.rbac = true;
    assert.doesNotMatch((await booth.press('a', 444)).say, /^Kubernetes does not let/);
  });

test('the cluster is asked once about a press, and only about people who are mapped and may decide otherwise', async () => {
  let asked = 0;
  const booth = aBooth(aFix(), { subjectAccess: async () => (asked++, true) });
  for (const id of [123456789, 333, 666]) await booth.press('k', id);
  await booth.press('a', 444, { message: '1' });
  await booth.press('d', 444);
  assert.equal(asked, 0);
  let changes = 0;
  booth.hooks.beforePatch = () => void (changes++ < 2 && booth.change(booth.live()));
  assert.equal((await booth.press('a', 444)).say, 'Approved; it starts now.');
  assert.equal(asked, 1);
});

test('what ran out while the cluster was asked is too late', async () => {
  const fix = aFix();
  const booth = aBooth(fix, { subjectAccess: async () => (await booth.clock.advance(2_000), true) });
  await booth.clock.advance(Date.parse(fix.metadata.creationTimestamp) + 30 * 60_000 - 1_000 - booth.clock.now());
  assert.match((await booth.press('a', 444)).say, /^This expired at/);
  assert.equal(booth.approval().state, 'Pending');
});

const strange: { name: string; over: Partial<Press>; say: RegExp }[] = [
  { name: 'a button of another bot', over: { data: 'vote:1' }, say: /does not know this button/ },
  {
    name: 'the same button forwarded to another chat',
    over: { place: { chat: '-1' } },
    say: /does not know this message/,
  },
  { name: 'another message of the chat', over: { message: '1' }, say: /does not know this message/ },
  { name: 'a Remediation nobody knows', over: { data: encodePress('a', aFix({ n: 99 })) }, say: /is gone/ },
];
for (const { name, over, say } of strange) {
  test(`refused and audited: ${name}`, async () => {
    const booth = aBooth();
    const answer = await booth.press('a', 123456789, over);
    assert.match(answer.say, say);
    assert.equal(answer.alert, true);
    assert.equal(booth.audit.length, 1);
    assert.equal(booth.approval().state, 'Pending');
  });
}

/* Each way in which a press can come to nothing, the same for both vendors: one sentence to the presser, one audit line. */

const people = {
  telegram: { ada: 'telegram:123456789', ben: 'telegram:222', cleo: 'telegram:333', eve: 'telegram:666', chat: '-100500' },
  slack: { ada: 'slack:U0ADA', ben: 'slack:U0BEN', cleo: 'slack:U0CLEO', eve: 'slack:U0EVE', chat: 'C0123456789' },
} as const; // prettier-ignore
type Vendor = keyof typeof people;
type Who = 'ada' | 'ben' | 'cleo' | 'eve';

const approvers = [
  { name: 'Ada', telegram: 123456789, slack: 'U0ADA', kubernetesGroups: [] },
  { name: 'Ben', telegram: 222, slack: 'U0BEN', kubernetesGroups: [] },
  { name: 'Cleo', telegram: 333, slack: 'U0CLEO', namespaces: ['payments'], kubernetesGroups: [] },
];

function aTeam(vendor: Vendor, fix: Remediation = aFix()) {
  const { chat, ...ids } = people[vendor];
  const approval = { ...aConfig().approval, approvers: [...approvers] };
  const card = aNoticeOf([fix], { channel: vendor, chat }, { message: '1.1' });
  const booth = aBooth(fix, {
    current: () => aConfig({ approval }),
    noticeAt: (channel, place, message) =>
      channel === vendor && place.chat === chat && message === '1.1' ? card : undefined,
    noticesWith: () => [card],
  });
  const tap = (who: Who, verb: Verb = 'a', over: Partial<Press> = {}) =>
    booth.approvals.onPress({
      channel: vendor,
      by: ids[who],
      name: who,
      place: { chat },
      message: '1.1',
      data: encodePress(verb, fix),
      ...over,
    });
  return { ...booth, tap, approval: booth.approval, approvers: approval.approvers };
}
type Team = ReturnType<typeof aTeam>;

interface Row {
  name: string;
  fix?: Remediation;
  press(team: Team): Promise<{ say: string; alert: boolean }>;
  say: string;
  reason: string;
}

const rows: Row[] = [
  {
    name: 'a double press',
    press: async (team) => (await team.tap('ada'), team.tap('ada')),
    say: 'You approved this 0 s ago.',
    reason: 'AlreadyDecided',
  },
  {
    name: 'two people at once',
    press: async (team) => (await Promise.all([team.tap('ada'), team.tap('ben')]))[1],
    say: 'Ada approved this 0 s ago.',
    reason: 'AlreadyDecided',
  },
  {
    name: 'one rejected it before',
    press: async (team) => (await team.tap('ben', 'r'), team.tap('ada')),
    say: 'Ben rejected this 0 s ago.',
    reason: 'AlreadyDecided',
  },
  {
    name: 'it has expired, though the controller has not said so yet',
    press: async (team) => (await team.clock.advance(30 * 60_000), team.tap('ada')),
    say: 'This expired at 03:42; nothing was changed.',
    reason: 'TooLate',
  },
  {
    name: 'made while tapfix was down, and handled too late',
    fix: aFix({ phase: 'Expired', conditions: [condition('Expired', '02:42:35')] }),
    press: (team) => team.tap('ada'),
    say: 'This expired at 03:42; nothing was changed.',
    reason: 'TooLate',
  },
  {
    name: 'the preview has changed',
    press(team) {
      const { preview } = team.live().status!;
      team.change({ ...team.live(), status: { ...team.live().status, preview: { ...preview!, diff: 'another' } } });
      return team.tap('ada');
    },
    say: 'checkout has changed since this card was posted; nothing was done. A new proposal follows.',
    reason: 'NotAsShown',
  },
  {
    name: 'the live target has changed',
    press: (team) => ((team.target.prepared = { ok: true, targetHash: 'other' } as never), team.tap('ada')),
    say: 'checkout has changed since this card was posted; nothing was done. A new proposal follows.',
    reason: 'NotAsShown',
  },
  {
    name: 'on a message that was forwarded within the chat',
    press: (team) => team.tap('ada', 'a', { message: '9.9' }),
    say: 'tapfix does not know this message here; nothing was done.',
    reason: 'UnknownMessage',
  },
  {
    name: 'in another chat, though tapfix wrote there',
    press: (team) => team.tap('ada', 'a', { place: { chat: 'elsewhere' }, message: '9.9', ours: true }),
    say: 'tapfix does not know this message here; nothing was done.',
    reason: 'UnknownMessage',
  },
  {
    name: 'an unknown person',
    press: (team) => team.tap('eve'),
    say: "You are not on the approvers' list for shop (your id is EVE).",
    reason: 'NotAnApprover',
  },
  {
    name: 'an approver of another namespace',
    press: (team) => team.tap('cleo'),
    say: "You are not on the approvers' list for shop (your id is CLEO).",
    reason: 'NotAllowedHere',
  },
  {
    name: 'an approver whom a reload removed after the card was shown',
    press: (team) => (team.approvers.splice(0, 1), team.tap('ada')),
    say: "You are not on the approvers' list for shop (your id is ADA).",
    reason: 'NotAnApprover',
  },
  {
    name: 'a button that is none of ours',
    press: (team) => team.tap('ada', 'a', { data: 'vote:1' }),
    say: 'tapfix does not know this button; nothing was done.',
    reason: 'Unreadable',
  },
];

for (const vendor of ['telegram', 'slack'] as const)
  for (const { name, fix, press, say, reason } of rows)
    test(`${vendor}: ${name}`, async () => {
      const team = aTeam(vendor, fix);
      const idOf = (who: string): string => people[vendor][who.toLowerCase() as Who].split(':')[1]!;
      const theirs = say.replace(/EVE|CLEO|ADA/, idOf);
      assert.deepEqual(await press(team), { say: theirs, alert: true });
      const refused = team.audit.filter(({ decision }) => decision === 'Refused');
      assert.deepEqual(
        refused.map((line) => [line['audit'], line['channel'], line['reason']]),
        [[true, vendor, reason]],
      );
    });

for (const vendor of ['telegram', 'slack'] as const) {
  test(`${vendor}: made while tapfix was down, and in time, it counts`, async () => {
    const team = aTeam(vendor);
    await team.clock.advance(20 * 60_000);
    assert.equal((await team.tap('ada')).alert, false);
    assert.deepEqual([team.approval().by, team.approval().via], [people[vendor].ada, vendor]);
  });

  test(`${vendor}: whoever a reload adds may decide on what was shown before`, async () => {
    const team = aTeam(vendor);
    team.approvers.push({ name: 'Eve', telegram: 666, slack: 'U0EVE', kubernetesGroups: [] });
    assert.equal((await team.tap('eve')).alert, false);
  });
}

describe('the question before something destructive', () => {
  /* "Really?" is asked on the message that was pressed, and of who pressed it. */

  const approvers = [
    { name: 'Ada', telegram: 123456789, slack: 'U0ADA', kubernetesGroups: [] },
    { name: 'Ben', telegram: 222, slack: 'U0BEN', kubernetesGroups: [] },
  ];
  const [ada, ben] = [
    { telegram: 'telegram:123456789', slack: 'slack:U0ADA' },
    { telegram: 'telegram:222', slack: 'slack:U0BEN' },
  ] as const;
  type Vendor = 'telegram' | 'slack';

  /** The same fix on a card in Telegram and on one in Slack, and a reminder of it that was there before. */
  function twoCards() {
    const fix = aQuotaFix();
    const base = aConfig().approval;
    const channels = { telegram: { chat: 'telegram', routes: [], apiRoot: '' }, slack: { channel: 'slack', routes: [], apiUrl: '' } }; // prettier-ignore
    const config = aConfig({ approval: { ...base, approvers }, channels });
    const card = (name: string, channel: Vendor, form: Notice['spec']['form'] = 'card'): Notice => {
      const notice = aNoticeOf([fix], { channel, chat: channel, form }, { message: name });
      return { ...notice, metadata: { ...notice.metadata, name } };
    };
    const cards = { telegram: card('one', 'telegram'), slack: card('two', 'slack') };
    const all = [card('reminder', 'telegram', 'reminder'), ...Object.values(cards)];
    const booth = aBooth(fix, {
      current: () => config,
      noticeAt: (channel, { chat }, message) =>
        all.find(({ spec, status }) => spec.channel === channel && spec.chat === chat && status?.message === message),
      noticesWith: () => all,
    });
    const press = (verb: Verb, channel: Vendor, by: typeof ada | typeof ben, message?: string): Promise<Answer> =>
      booth.approvals.onPress({
        channel,
        by: by[channel],
        name: 'x',
        place: { chat: channel },
        message: message ?? cards[channel].status!.message!,
        data: encodePress(verb, fix),
        ours: true,
      });
    const shown = (channel: Vendor): string => {
      const facts = {
        config,
        nowMs: booth.clock.now(),
        timeZone: 'UTC',
        confirms: booth.confirms,
        namespace: 'tapfix',
      };
      const { wanted, message } = renderingOf(cards[channel], { members: [fix] }, contextFor(cards[channel], facts));
      const labels = message()
        .cards[0]!.buttons.flat()
        .map(({ label }) => label);
      return `${wanted.shown} ${labels.join()}`;
    };
    return { ...booth, press, shown };
  }

  test('only the message that was pressed asks', async () => {
    const booth = twoCards();
    const before = booth.shown('slack');
    assert.match(before, /Delete quota/);
    assert.match((await booth.press('a', 'telegram', ada)).say, /^Really delete/);
    assert.match(booth.shown('telegram'), /Yes, delete/);
    assert.equal(booth.shown('slack'), before);
  });

  test('pressed on what an answer showed, no card asks: the answer to it does', async () => {
    const booth = twoCards();
    const before = [booth.shown('telegram'), booth.shown('slack')];
    const { show } = await booth.press('a', 'telegram', ada, '9999');
    assert.match(JSON.stringify(show), /"Yes, delete/);
    assert.deepEqual([booth.shown('telegram'), booth.shown('slack')], before);
  });

  test('who is asked in one chat and presses in another reads where', async () => {
    const booth = twoCards();
    await booth.press('a', 'telegram', ada);
    const say = 'You are being asked about this in Telegram right now; answer there.';
    assert.deepEqual(await booth.press('a', 'slack', ada), { say, alert: true });
    assert.equal(booth.audit.at(-1)?.['reason'], 'AskedElsewhere');
    assert.equal((await booth.press('a', 'slack', ben)).say, 'Ada is being asked about this right now.');
    assert.equal(booth.approval().state, 'Pending');
    assert.equal((await booth.press('c', 'telegram', ada)).say, 'Approved; it starts now.');
  });

  test('and the other way round', async () => {
    const booth = twoCards();
    await booth.press('a', 'slack', ada);
    assert.match((await booth.press('a', 'telegram', ada)).say, /^You are being asked about this in Slack right now/);
  });
});

describe('the record on the server', () => {
  const nowMs = Date.parse(at('02:14:14'));
  const by = 'telegram:123456789';
  const place = { chat: '-100500' };

  /** What the server does to a press; everything else goes well. */
  interface Server {
    get?(live: Remediation): Promise<Remediation | undefined> | Remediation | undefined;
    patch?(tries: number): void;
    rbac?(): Promise<void>;
  }

  function aBooth(fix: Remediation, server: Server = {}) {
    const clock = fakeClock(nowMs);
    const confirms = createConfirms({ clock, signal: new AbortController().signal });
    const counted: string[] = [];
    let patches = 0;
    const api = {
      get: async () => (server.get ? server.get(structuredClone(fix)) : structuredClone(fix)),
      patch: async () => server.patch?.(++patches),
    } as unknown as Api;
    const { onPress } = createApprovals({
      api,
      clock,
      log: { debug() {}, warn() {}, error() {}, info() {} },
      current: () => aConfig(),
      fixByUid: () => fix,
      noticeAt: () => aNoticeOf([fix]),
      noticesWith: () => [],
      confirms,
      subjectAccess: async () => (await server.rbac?.(), true),
      prepare: async () => ({ ok: true, targetHash: fix.status?.preview?.targetHash }) as Prepared,
      onDecision: (channel, result) => void counted.push(`${channel} ${result}`),
      ownNamespace: 'tapfix',
      proposeAgain: async () => ({ ok: false, because: 'over' }),
      timeZone: 'UTC',
    });
    const press = (verb: 'a' | 'r' | 'c' | 'b', who = by) =>
      onPress({ channel: 'telegram', by: who, name: 'x', place, message: '4711', data: encodePress(verb, fix) });
    return { clock, confirms, counted, press, patched: () => patches };
  }

  test('a Remediation of the same name that came later is not the one on the card', async () => {
    const another = (live: Remediation) => ({ ...live, metadata: { ...live.metadata, uid: uidOf(77) } });
    const booth = aBooth(aFix(), { get: another });
    assert.match((await booth.press('a')).say, /is gone/);
    assert.equal(booth.patched(), 0);
  });

  test('deleted between reading and recording: it is judged again, and gone', async () => {
    let isThere = true;
    const booth = aBooth(aFix(), {
      get: (live) => (isThere ? live : undefined),
      patch: () => {
        isThere = false;
        throw new ApiError('not found', 404, 'NotFound');
      },
    });
    assert.match((await booth.press('a')).say, /is gone/);
  });

  for (const code of [403, 422])
    test(`a cluster that answers ${code} has refused it, in its own words`, async () => {
      const patch = () => {
        throw new ApiError('already Approved by ada: a decision is made once', code, 'Invalid');
      };
      const booth = aBooth(aFix(), { patch });
      assert.match((await booth.press('a')).say, /^The cluster refused it: already Approved by ada/);
      assert.equal(booth.patched(), 1, 'and is not asked again');
    });

  test('every press is counted once, by what became of it', async () => {
    const booth = aBooth(aQuotaFix());
    await booth.press('a');
    await booth.press('c', 'telegram:666');
    await booth.press('b');
    await booth.press('r');
    const wanted = ['Asked', 'NotAnApprover', 'Back', 'Rejected'];
    assert.deepEqual(
      booth.counted,
      wanted.map((result) => `telegram ${result}`),
    );
  });

  test('Back that comes through too late takes nothing back: its presser was told that it may not have', async () => {
    const fix = aQuotaFix();
    const slow: Server = {};
    const booth = aBooth(fix, slow);
    const dee = 'telegram:444';
    await booth.press('a', dee);
    slow.rbac = () => booth.clock.sleep(5_000);
    const answer = booth.press('b', dee);
    await booth.clock.advance(6_000);
    assert.equal((await answer).alert, true);
    assert.equal(booth.confirms.armedFor(fix.metadata.uid, booth.clock.now())?.by, dee);
  });
});
