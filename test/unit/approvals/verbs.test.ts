import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import { createApprovals } from '../../../src/approvals/press.ts';
import { type Api, ApiError } from '../../../src/kube/api.ts';
import {
  acknowledgedBy,
  acknowledgedUntil,
  type Again,
  type Remediation,
  snoozedUntil,
} from '../../../src/kube/remediation.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNotice, aNoticeOf, at, condition } from '../../support/fixes.ts';
import { aBooth } from './booth.ts';

const words = (booth: ReturnType<typeof aBooth>): unknown[] =>
  booth.audit.map(({ decision, reason }) => reason ?? decision);

test('“I’m on it” names who, once; whoever says it later takes over', async () => {
  const booth = aBooth();
  assert.deepEqual(await booth.press('k'), { say: 'You are on it; nobody is reminded for two hours.', alert: false });
  assert.deepEqual(booth.annotations(), {
    [acknowledgedBy]: 'telegram:123456789',
    [acknowledgedUntil]: '2026-11-16T04:14:10.000Z',
  });
  assert.deepEqual(await booth.press('k'), { say: 'You are on it already.', alert: true });
  assert.deepEqual(await booth.press('k', 222), { say: 'You took this over from Ada.', alert: false });
  assert.deepEqual(words(booth), ['Acknowledged', 'AlreadyDecided', 'Acknowledged']);
  assert.equal(booth.approval().state, 'Pending');
});

test('“Snooze 1h” is an hour from now', async () => {
  const booth = aBooth();
  assert.deepEqual(await booth.press('z'), { say: 'Silent until 04:14 CET.', alert: false });
  assert.deepEqual(booth.annotations(), { [snoozedUntil]: at('03:14:10').replace('Z', '.000Z') });
});

const people = [
  { name: 'a stranger', id: 666, say: "You are not on the approvers' list for shop (your id is 666).", reason: 'NotAnApprover' },
  { name: 'an approver of another namespace', id: 333, say: "You are not on the approvers' list for shop (your id is 333).", reason: 'NotAllowedHere' },
]; // prettier-ignore
for (const verb of ['k', 'z'] as const)
  for (const { name, id, say, reason } of people)
    test(`refused: ${verb} by ${name}`, async () => {
      const booth = aBooth();
      assert.deepEqual(await booth.press(verb, id), { say, alert: true });
      assert.deepEqual([booth.annotations(), words(booth)], [undefined, [reason]]);
    });

test('RBAC rules these as well where a person is mapped, and what only shows is nobody’s right', async () => {
  const booth = aBooth();
  booth.hooks.rbac = false;
  assert.match((await booth.press('k', 444)).say, /^Kubernetes does not let dee@example.com/);
  assert.equal((await booth.press('d', 444)).alert, false);
});

test('a conflict is judged again, a refusing cluster is quoted', async () => {
  const booth = aBooth();
  let changes = 0;
  booth.hooks.beforePatch = () => void (changes++ < 1 && booth.change(booth.live()));
  assert.equal((await booth.press('k')).alert, false);
  booth.hooks.patch = async () => Promise.reject(new ApiError('must name who sets it', 403, 'Forbidden'));
  assert.equal((await booth.press('z')).say, 'The cluster refused it: must name who sets it');
});

const over = aFix({ phase: 'Recovered', conditions: [condition('Recovered', '02:14:00')] });
for (const verb of ['k', 'z'] as const)
  test(`what is over needs nobody: ${verb}`, async () => {
    const booth = aBooth(over);
    assert.equal((await booth.press(verb)).say, 'This is over; there is nothing to do any more.');
  });

test('what nothing can be done about, and what ran out, can still be taken', async () => {
  for (const fix of [aNotice(), aFix({ phase: 'Expired', conditions: [condition('Expired', '02:14:00')] })])
    assert.equal((await aBooth(fix).press('k')).alert, false);
});

const event = (name: string, message: string, minute: string): object => ({
  metadata: {
    name: `${name}.1`,
    namespace: 'shop',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: at('02:00:00'),
  },
  involvedObject: { kind: 'Pod', name, namespace: 'shop' },
  type: 'Warning',
  reason: 'BackOff',
  message,
  count: 3,
  lastTimestamp: at(`02:${minute}:00`),
});

test('Details shows everybody in the chat what the card has no room for', async () => {
  const booth = aBooth();
  booth.events.push(
    event('checkout-1', 'password=hunter2 refused', '10'),
    event('checkout-2', 'restarting', '11'),
    event('cart-1', 'restarting', '12'),
  );
  const { say, alert, show } = await booth.press('d', 666);
  assert.deepEqual([say, alert, show?.silent], ['', false, true]);
  const [card] = show!.cards;
  const text = JSON.stringify(card);
  assert.match(card!.subtitle!, /Deployment checkout · CrashLoop \(critical\)/);
  assert.deepEqual(card!.rows.find(({ label }) => label === 'Events')!.lines, [
    '03:11:00 Pod checkout-2: BackOff (3 times): restarting',
    '03:10:00 Pod checkout-1: BackOff (3 times): password=[redacted] refused',
  ]);
  for (const part of [
    '14 restarts of 3 pods',
    'shop/checkout:1.42',
    'kubectl -n shop get fix checkout-3f9a1c-1 -o yaml',
    'patch fix',
  ])
    assert.ok(text.includes(part), part);
  assert.deepEqual(card!.buttons, []);
  assert.deepEqual(words(booth), ['Shown']);
});

test('Details hides in the diff what the card hides in it', async () => {
  const preview = { diff: 'env DB_PASSWORD  hunter2 → password=hunter3', targetHash: 'abc', at: at('02:12:36') };
  const { show } = await aBooth(aFix({ status: { preview } })).press('d');
  assert.doesNotMatch(JSON.stringify(show), /hunter3/);
  assert.match(JSON.stringify(show), /password=\[redacted\]/);
});

test('Details in another chat shows nothing, and without events it says so', async () => {
  const booth = aBooth();
  assert.match((await booth.press('d', 123456789, { place: { chat: '-1' } })).say, /does not know this message/);
  const blind = aBooth(aFix(), {
    api: {
      get: async () => aFix(),
      page: async () => Promise.reject(new Error('no')),
      patch: async () => aFix(),
    } as never,
  });
  const { show } = await blind.press('d');
  assert.match(JSON.stringify(show), /they could not be read/);
});

test('what an answer showed is as good as the card in the same chat, and nowhere else', async () => {
  const shown = { message: '9999', ours: true } as const;
  assert.equal((await aBooth().press('a', 123456789, shown)).alert, false);
  assert.match((await aBooth().press('a', 123456789, { ...shown, place: { chat: '-1' } })).say, /does not know/);
  assert.match((await aBooth().press('a', 123456789, { message: '9999' })).say, /does not know/);
});

const expired = aFix({ phase: 'Expired' });
const done: Again = { ok: true, name: 'checkout-3f9a1c-2' };

/** A press on "Propose again" of a message that shows `fix`, and the audit lines that came of it. */
async function pressed(fix: Remediation, again: Again = done, { id = 123456789, rbac = true, shown = fix } = {}) {
  const clock = fakeClock(Date.parse(at('02:50:00')));
  const audit: Record<string, unknown>[] = [];
  const asked: string[] = [];
  const config = aConfig();
  const approvers = [
    ...config.approval.approvers,
    { name: 'Eve', telegram: 666, namespaces: ['other'], kubernetesGroups: [] },
    { name: 'Kai', telegram: 777, kubernetesUser: 'kai', kubernetesGroups: [] },
  ];
  const approvals = createApprovals({
    api: { get: async () => structuredClone(fix) } as unknown as Api,
    clock,
    log: { debug() {}, warn() {}, error() {}, info: (fields) => void audit.push(fields as Record<string, unknown>) },
    current: () => ({ ...config, approval: { ...config.approval, approvers } }),
    fixByUid: () => fix,
    noticeAt: () => aNoticeOf([shown]),
    confirms: createConfirms({ clock, signal: new AbortController().signal }),
    subjectAccess: async () => rbac,
    prepare: async () => assert.fail('nothing is approved here'),
    proposeAgain: async ({ metadata }) => (asked.push(metadata.name), again),
    noticesWith: () => [aNoticeOf([shown])],
    ownNamespace: 'tapfix',
    timeZone: 'Europe/Berlin',
  });
  const place = { chat: '-100500' };
  const data = encodePress('g', fix);
  const answer = await approvals.onPress({
    channel: 'telegram',
    by: `telegram:${id}`,
    name: 'x',
    place,
    message: '4711',
    data,
  });
  return { ...answer, asked, audit: audit.map(({ decision, reason, by }) => ({ decision, reason, by })) };
}

for (const phase of ['Expired', 'Failed'] as const)
  test(`${phase}: an approver of the namespace proposes it again, and that is one audit line`, async () => {
    const answer = await pressed(aFix({ phase }));
    assert.deepEqual(answer, {
      say: 'Proposed again; this message shows it.',
      alert: false,
      asked: ['checkout-3f9a1c-1'],
      audit: [{ decision: 'ProposedAgain', reason: undefined, by: 'telegram:123456789' }],
    });
  });

const cleared = aFix({ phase: 'Expired', conditions: [condition('IncidentCleared', '02:45:00')] });
const before: { name: string; press: () => ReturnType<typeof pressed>; reason: string; say: RegExp }[] = [
  {
    name: 'a stranger',
    press: () => pressed(expired, done, { id: 5 }),
    reason: 'NotAnApprover',
    say: /^You are not on the approvers' list for shop \(your id is 5\)\.$/,
  },
  {
    name: 'an approver of another namespace',
    press: () => pressed(expired, done, { id: 666 }),
    reason: 'NotAllowedHere',
    say: /list for shop/,
  },
  {
    name: 'one whom Kubernetes does not let approve',
    press: () => pressed(expired, done, { id: 777, rbac: false }),
    reason: 'RefusedByRbac',
    say: /does not let kai/,
  },
  {
    name: 'a message that shows another',
    press: () => pressed(expired, done, { shown: aFix({ n: 7 }) }),
    reason: 'UnknownMessage',
    say: /does not know this message/,
  },
  {
    name: 'one that can still be decided',
    press: () => pressed(aFix()),
    reason: 'NotToBeRepeated',
    say: /^Only a proposal that expired or failed can/,
  },
  {
    name: 'one that was rejected',
    press: () => pressed(aFix({ phase: 'Rejected' })),
    reason: 'NotToBeRepeated',
    say: /^Only a proposal that expired or failed can/,
  },
  {
    name: 'one that is over',
    press: () => pressed(cleared),
    reason: 'AlreadyOver',
    say: /^It is over; there is nothing to propose\.$/,
  },
];
for (const { name, press, reason, say } of before)
  test(`${name} is refused before anything is read: ${reason}`, async () => {
    const answer = await press();
    assert.match(answer.say, say);
    assert.equal(answer.alert, true);
    assert.deepEqual(answer.asked, []);
    assert.deepEqual(
      answer.audit.map(({ decision, reason: why }) => [decision, why]),
      [['Refused', reason]],
    );
  });

const why = 'the same fix was applied at 2026-11-16T02:14:12.000Z and did not help';
const after: { again: Again; reason: string; say: string }[] = [
  { again: { ok: false, because: 'gone' }, reason: 'Gone', say: 'It is no longer there; nothing was proposed.' },
  { again: { ok: false, because: 'replaced' }, reason: 'AlreadyProposed', say: 'It was proposed again already; nothing was done.' },
  { again: { ok: false, because: 'over' }, reason: 'AlreadyOver', say: 'It is over; there is nothing to propose.' },
  { again: { ok: false, because: 'healthy' }, reason: 'NothingToPropose', say: 'It looks healthy at this moment; nothing was proposed.' },
  { again: { ok: false, because: 'too often' }, reason: 'NothingToPropose', say: 'It was proposed ten times already; nothing was proposed.' },
  { again: { ok: false, because: 'nothing', why }, reason: 'NothingToPropose', say: 'Nothing was proposed: the same fix was applied at 03:14:12 and did not help' },
]; // prettier-ignore
for (const { again, reason, say } of after)
  test(`nothing comes of it: ${say}`, async () => {
    const answer = await pressed(expired, again);
    assert.deepEqual(
      [answer.say, answer.alert, answer.audit],
      [say, true, [{ decision: 'Refused', reason, by: 'telegram:123456789' }]],
    );
  });
