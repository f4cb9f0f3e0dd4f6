import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { authorise as judge } from '../../../src/approvals/press.ts';
import type { PressFacts } from '../../../src/approvals/rules.ts';
import { verbs } from '../../../src/approvals/verbs.ts';
import type { Press } from '../../../src/channels/channel.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { shownHash, type Verb } from '../../../src/notices/payload.ts';
import { aConfig, aFix, aNotice, aNoticeOf, approvedByAda, aQuotaFix, at, condition } from '../../support/fixes.ts';

const nowMs = Date.parse(at('02:14:14'));

function facts(
  over: { fix?: Remediation; verb?: Verb; by?: string; channel?: Press['channel'] } & Partial<
    Omit<PressFacts, 'fix'>
  > = {},
): PressFacts {
  const { fix = aFix(), verb = 'a', by = 'telegram:123456789', channel = 'telegram', ...rest } = over;
  return {
    press: { channel, by, name: 'x', place: { chat: '-100500' }, message: '4711', data: '' },
    payload: { verb, uid: fix.metadata.uid, shown: shownHash(fix) },
    fix,
    notice: aNoticeOf([fix]),
    armed: undefined,
    config: aConfig(),
    nowMs,
    timeZone: 'Europe/Berlin',
    ...rest,
  };
}

const authorise = (of: PressFacts) => judge(of, verbs[of.payload.verb].rules);
const asked = {
  by: 'telegram:123456789',
  name: 'Ada',
  untilMs: nowMs + 20_000,
  channel: 'telegram',
  notice: 'one',
  shown: shownHash(aQuotaFix()),
} as const;
const failedRehearsal = [condition('Rehearsed', '02:12:36', { status: 'False', message: 'revision 41 is gone' })];
const unconfirmed = aFix();
unconfirmed.status!.conditions = [
  condition('Rehearsed', '02:12:36'),
  condition('Confirmed', '02:12:36', { status: 'False', message: 'not seen healthy' }),
];
const unchecked = aFix();
unchecked.status!.conditions = [condition('Rehearsed', '02:12:36')];

const resolved = (reason: string, message: string) =>
  aFix({ phase: 'Resolved', conditions: [condition('Resolved', '02:14:00', { reason, message })] });

const refusals: { name: string; facts: PressFacts; reason: string; say: string }[] = [
  {
    name: 'the message is not one of ours',
    facts: facts({ notice: undefined }),
    reason: 'UnknownMessage',
    say: 'tapfix does not know this message here; nothing was done.',
  },
  {
    name: 'the message is about something else',
    facts: facts({ notice: aNoticeOf([aFix({ n: 9 })]) }),
    reason: 'UnknownMessage',
    say: 'tapfix does not know this message here; nothing was done.',
  },
  {
    name: 'the Remediation is gone',
    facts: { ...facts(), fix: undefined },
    reason: 'Gone',
    say: 'This proposal is gone; nothing was done.',
  },
  {
    name: 'a stranger',
    facts: facts({ by: 'telegram:666' }),
    reason: 'NotAnApprover',
    say: "You are not on the approvers' list for shop (your id is 666).",
  },
  {
    name: 'a stranger with an approver’s number on another channel',
    facts: facts({ by: 'slack:123456789', channel: 'slack' }),
    reason: 'NotAnApprover',
    say: "You are not on the approvers' list for shop (your id is 123456789).",
  },
  {
    name: 'an approver of another namespace',
    facts: facts({ by: 'telegram:333' }),
    reason: 'NotAllowedHere',
    say: "You are not on the approvers' list for shop (your id is 333).",
  },
  {
    name: 'somebody else was first',
    facts: facts({ by: 'telegram:222', fix: aFix({ approval: approvedByAda }) }),
    reason: 'AlreadyDecided',
    say: 'Ada approved this 4 s ago.',
  },
  {
    name: 'the same person tapped twice',
    facts: facts({ fix: aFix({ approval: approvedByAda }) }),
    reason: 'AlreadyDecided',
    say: 'You approved this 4 s ago.',
  },
  {
    name: 'a Kubernetes user rejected it',
    facts: facts({ fix: aFix({ approval: { state: 'Rejected', by: 'ben@example.com', at: at('02:14:00') } }) }),
    reason: 'AlreadyDecided',
    say: 'ben@example.com rejected this 14 s ago.',
  },
  {
    name: 'it healed meanwhile',
    facts: facts({ fix: aFix({ phase: 'Resolved' }) }),
    reason: 'AlreadyOver',
    say: 'It is healthy again by itself; nothing was done.',
  },
  {
    name: 'it is gone meanwhile',
    facts: facts({ fix: resolved('Gone', 'it is no longer there, nothing was changed') }),
    reason: 'AlreadyOver',
    say: 'It is no longer there; nothing was done.',
  },
  {
    name: 'it came to another end meanwhile',
    facts: facts({ fix: resolved('Ended', 'it was scaled to zero, nothing was changed') }),
    reason: 'AlreadyOver',
    say: 'It is over: it was scaled to zero; nothing was done.',
  },
  {
    name: 'it is no longer seen',
    facts: facts({ fix: resolved('NoLongerSeen', '') }),
    reason: 'AlreadyOver',
    say: 'It is no longer seen; nothing was done.',
  },
  {
    name: 'it was replaced',
    facts: facts({ fix: aFix({ phase: 'Superseded' }) }),
    reason: 'AlreadyOver',
    say: 'A newer proposal has replaced this one; nothing was done.',
  },
  {
    name: 'there is no action to approve',
    facts: facts({ fix: aNotice() }),
    reason: 'AlreadyOver',
    say: 'There is nothing to decide any more; nothing was done.',
  },
  {
    name: 'the controller let it expire',
    facts: facts({ fix: aFix({ phase: 'Expired' }) }),
    reason: 'TooLate',
    say: 'This expired at 03:42; nothing was changed.',
  },
  {
    name: 'the time is over and the controller has not said so yet',
    facts: facts({ nowMs: Date.parse(at('02:42:35')) }),
    reason: 'TooLate',
    say: 'This expired at 03:42; nothing was changed.',
  },
  {
    name: 'rejecting too late',
    facts: facts({ verb: 'r', nowMs: Date.parse(at('02:42:35')) }),
    reason: 'TooLate',
    say: 'This expired at 03:42; nothing was changed.',
  },
  {
    name: 'not rehearsed yet',
    facts: facts({ fix: aFix({ unrehearsed: true }) }),
    reason: 'NotRehearsed',
    say: 'The dry run is still under way; try again in a moment.',
  },
  {
    name: 'the rehearsal failed',
    facts: facts({ fix: aFix({ unrehearsed: true, conditions: failedRehearsal }) }),
    reason: 'NotRehearsed',
    say: 'The dry run failed: revision 41 is gone',
  },
  {
    name: 'the controller came to another fix',
    facts: facts({ fix: unconfirmed }),
    reason: 'NotConfirmed',
    say: 'This fix is not confirmed: not seen healthy',
  },
  {
    name: 'the controller has not checked it yet',
    facts: facts({ fix: unchecked }),
    reason: 'NotConfirmed',
    say: 'The controller is still checking it; try again in a moment.',
  },
  {
    name: 'the action was switched off',
    facts: facts({ config: aConfig({ actions: { allow: [] } }) }),
    reason: 'ActionNotAllowed',
    say: 'RolloutUndo is switched off in the configuration; nothing was done.',
  },
  {
    name: 'it is not what was on screen',
    facts: facts({ payload: { verb: 'a', uid: aFix().metadata.uid, shown: '0123456789' } }),
    reason: 'NotAsShown',
    say: 'checkout has changed since this card was posted; nothing was done. A new proposal follows.',
  },
  {
    name: 'yes, without having been asked',
    facts: facts({ verb: 'c', fix: aQuotaFix() }),
    reason: 'NotAsked',
    say: 'The 30 s to say yes are over; nothing was done. Press it again.',
  },
  {
    name: 'yes to a question that was put to somebody else',
    facts: facts({ verb: 'c', fix: aQuotaFix(), by: 'telegram:222', armed: asked }),
    reason: 'SomeoneElseIsAsked',
    say: 'Ada is being asked about this right now.',
  },
  {
    name: 'back from a question that was put to somebody else',
    facts: facts({ verb: 'b', fix: aQuotaFix(), by: 'telegram:222', armed: asked }),
    reason: 'SomeoneElseIsAsked',
    say: 'Ada is being asked about this right now.',
  },
];
for (const { name, facts, reason, say } of refusals) {
  test(`refused: ${name}`, () => assert.deepEqual(authorise(facts), { ok: false, reason, say }));
}

const allowed: { name: string; facts: PressFacts }[] = [
  { name: 'an approver approves', facts: facts() },
  { name: 'an approver of these namespaces approves', facts: facts({ by: 'telegram:222' }) },
  { name: 'an approver rejects', facts: facts({ verb: 'r' }) },
  {
    name: 'rejecting needs no rehearsal',
    facts: facts({ verb: 'r', fix: aFix({ unrehearsed: true }) }),
  },
  {
    name: 'rejecting what looked a little different',
    facts: facts({ verb: 'r', payload: { verb: 'r', uid: aFix().metadata.uid, shown: '0123456789' } }),
  },
  { name: 'something destructive is asked once more', facts: facts({ fix: aQuotaFix() }) },
  { name: 'yes, by who was asked', facts: facts({ verb: 'c', fix: aQuotaFix(), armed: asked }) },
  { name: 'back', facts: facts({ verb: 'b', fix: aQuotaFix(), armed: asked }) },
  {
    name: 'the person at the console',
    facts: facts({ channel: 'console', by: 'kubernetes-admin' }),
  },
  { name: 'a second before it expires', facts: facts({ nowMs: Date.parse(at('02:42:34')) }) },
];
for (const { name, facts } of allowed) {
  test(`allowed: ${name}`, () => {
    const verdict = authorise(facts);
    assert.equal(verdict.ok ? 'allowed' : verdict.reason, 'allowed');
  });
}

describe('a proposal without a preview, and odd messages', () => {
  const nowMs = Date.parse(at('02:14:14'));
  const by = 'telegram:123456789';
  const place = { chat: '-100500' };
  const withoutPreview = aFix();
  delete withoutPreview.status!.preview;

  const refusals: [string, Remediation, string][] = [
    ['rehearsed, but nothing to show for it', withoutPreview, 'NotRehearsed'],
    ['it failed before anybody decided', aFix({ phase: 'Failed' }), 'AlreadyOver'],
    ['it is being applied, whatever the approval says', aFix({ phase: 'Applying' }), 'AlreadyOver'],
    ['there is no action, whatever the phase says', aNotice({ phase: 'Proposed' }), 'AlreadyOver'],
  ];
  for (const [name, fix, reason] of refusals)
    test(`refused: ${name}`, () => {
      const press = { channel: 'telegram', by, name: 'x', place, message: '4711', data: '' } as const;
      const payload = { verb: 'a', uid: fix.metadata.uid, shown: shownHash(fix) } as const;
      const facts = { press, payload, fix, notice: aNoticeOf([fix]), armed: undefined, config: aConfig() };
      const verdict = judge({ ...facts, nowMs, timeZone: 'UTC' }, verbs.a.rules);
      assert.equal(!verdict.ok && verdict.reason, reason);
    });
});
