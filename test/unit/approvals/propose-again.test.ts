import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfirms } from '../../../src/approvals/confirms.ts';
import { createApprovals } from '../../../src/approvals/press.ts';
import type { Again } from '../../../src/kube/remediation.ts';
import type { Api } from '../../../src/kube/api.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { encodePress } from '../../../src/notices/payload.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aConfig, aFix, aNoticeOf, at, condition } from '../../support/fixes.ts';

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
    say: /^You are not on the approvers' list\.$/,
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
    say: /Only what nobody decided in time, or what failed/,
  },
  {
    name: 'one that was rejected',
    press: () => pressed(aFix({ phase: 'Rejected' })),
    reason: 'NotToBeRepeated',
    say: /Only what nobody decided in time/,
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
