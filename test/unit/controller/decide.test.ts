import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ActionPlan } from '../../../src/actions/action.ts';
import type { Config } from '../../../src/config/schema.ts';
import { beginExecution, type ControlFacts, type ControlStep, decide } from '../../../src/controller/decide.ts';
import { type Condition, type Phase, type Remediation, transitions } from '../../../src/kube/remediation.ts';
import { iso } from '../../../src/lib/clock.ts';
import { aChat, aConfig } from '../../support/config.ts';
import { aFix as aWholeFix, condition } from '../../support/fixes.ts';
import { aFix, health, undoWorld } from './world.ts';

/** Ada, Telegram's 7, may approve everywhere; Ben, Slack's U012AB3CD, in team-b and in shop. */
const ben = { name: 'Ben', slack: 'U012AB3CD', namespaces: ['team-b', 'shop'], kubernetesGroups: [] };
const slack = { channel: 'C0123456789', routes: [], apiUrl: 'https://slack.com/api/' };
const { approval } = aConfig();
const bothListed = { ...approval, approvers: [...approval.approvers, ben] };
const inChat = (over: Partial<Config> = {}): Config =>
  aConfig({ channels: { ...aChat, slack }, approval: bothListed, ...over });

const bornMs = Date.parse('2026-11-16T03:12:00Z');
const minute = 60_000;

const is = (type: string, status: 'True' | 'False' = 'True', atMs = bornMs): Condition => ({
  type,
  status,
  reason: 'R',
  message: `about ${type}`,
  lastTransitionTime: iso(atMs),
});

const plan: { ok: true } & ActionPlan = {
  ok: true,
  targetHash: 'h',
  before: '{}',
  diff: 'd',
  undo: 'u',
  blocked: [],
  write: { do: 'delete', ref: { kind: 'ResourceQuota', name: 'q' }, preconditions: {} },
};

interface Case {
  phase?: Phase;
  approval?: object;
  proposedBy?: string;
  conditions?: Condition[];
  action?: false;
  status?: object;
  metadata?: object;
  facts?: Partial<ControlFacts>;
  afterMs?: number;
  want: string;
}

const undo = { type: 'RolloutUndo', rolloutUndo: {} };
const rehearsed = [is('Rehearsed'), is('Confirmed')];
const ready: Partial<ControlFacts> = {
  live: health({ healthy: false, longestUptimeMs: 20_000 }),
  prepared: plan,
};
const unconfirmed = [is('Rehearsed'), is('Confirmed', 'False'), is('Approved')];
const stable = (sinceMs: number) => ({ sinceMs, restarts: 0, readAtMs: sinceMs });

function build({
  phase,
  approval = { state: 'Pending' },
  proposedBy,
  conditions = [],
  action,
  status,
  metadata,
}: Case): Remediation {
  const proposal = { approval, ...(action !== false && { action: undo }), ...(proposedBy && { proposedBy }) };
  const { spec } = aFix(proposal) as Remediation;
  const meta = { name: 'f', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: iso(bornMs) };
  const preview = { diff: '', targetHash: 'h', at: '' };
  return {
    metadata: { ...meta, ...metadata },
    spec: { ...spec, incident: { ...spec.incident, class: 'CrashLoop' } },
    status: { ...(phase && { phase }), conditions, preview, ...status },
  };
}

/** "Failed(TargetChanged)", "rehearse", "wait 1000". */
function spoken(step: ControlStep, nowMs: number): string {
  if (step.do === 'move') return step.phase === step.reason ? step.phase : `${step.phase}(${step.reason})`;
  if (step.do === 'finish' && !step.nudge) return 'finish without a nudge';
  return step.do === 'wait' ? `wait ${step.untilMs - nowMs}` : step.do;
}

const yes = { state: 'Approved', by: 'telegram:7' };
const byUser = { state: 'Approved', by: 'ada@example.com' };
const bySlack = { state: 'Approved', by: 'slack:U012AB3CD' };
const stranger = { state: 'Approved', by: 'telegram:8' };
const short: Partial<ControlFacts> = { patienceMs: 120_000 };
const lasting = (ms: number) => health({ healthy: false, lastingMs: { CrashLoop: ms } });
const no = { state: 'Rejected', by: 'telegram:7', note: 'known' };
const on = (over: Partial<Case>, want: string): Case => ({ want, ...over });
const approved = (want: string, over: Partial<Case> = {}): Case => ({
  phase: 'Approved',
  approval: yes,
  conditions: [...rehearsed, is('Approved')],
  ...over,
  facts: { ...ready, ...over.facts },
  want,
});
const execution = { appliedAt: iso(bornMs), stableSeconds: 40 };
const applying = (want: string, facts: Partial<ControlFacts>, over: Partial<Case> = {}): Case => ({
  phase: 'Applying',
  status: { execution: { startedAt: iso(bornMs) } },
  facts,
  want,
  ...over,
});
const applied = (want: string, over: Partial<Case> = {}): Case => ({
  phase: 'Applied',
  status: { execution },
  want,
  ...over,
});
const late = (want: string, over: Partial<Case> = {}): Case =>
  applied(want, { phase: 'Failed', conditions: [is('Applied'), is('Failed')], ...over });

const cases: Record<string, Case> = {
  'a new one with an action is proposed': on({}, 'Proposed'),
  'a new one without an action is noticed': on({ action: false }, 'Noticed(NothingSafeToPropose)'),
  'one that is being deleted is left alone': on({ metadata: { deletionTimestamp: iso(bornMs) } }, 'nothing'),

  'over and cleared: the controller writes down when it saw that': on(
    { phase: 'Recovered', conditions: [is('IncidentCleared')] },
    'note cleared',
  ),
  'whatever became of it': on({ phase: 'Rejected', conditions: [is('IncidentCleared')] }, 'note cleared'),
  once: on({ phase: 'Recovered', conditions: [is('IncidentCleared'), is('SeenCleared')] }, 'nothing'),
  'over, and the trouble lasts': on({ phase: 'Recovered' }, 'nothing'),

  'noticed stays': on({ phase: 'Noticed', action: false }, 'nothing'),
  'noticed has no ttl': on({ phase: 'Noticed', action: false, afterMs: 100 * minute }, 'nothing'),
  'noticed and cleared is resolved': on(
    { phase: 'Noticed', conditions: [is('IncidentCleared')] },
    'Resolved(HealthyAgain)',
  ),
  'noticed and no longer seen is not called healthy': on(
    { phase: 'Noticed', action: false, conditions: [{ ...is('IncidentCleared'), reason: 'NoLongerSeen' }] },
    'Resolved(NoLongerSeen)',
  ),
  'noticed with a successor is superseded': on({ phase: 'Noticed', facts: { successor: 'f-2' } }, 'Superseded'),

  'proposed is rehearsed once': on({ phase: 'Proposed' }, 'rehearse'),
  'a rehearsal without confirmation is not done': on({ phase: 'Proposed', conditions: [is('Rehearsed')] }, 'rehearse'),
  'a failed rehearsal is not repeated': on(
    { phase: 'Proposed', conditions: [is('Rehearsed', 'False'), is('Confirmed')] },
    `wait ${30 * minute}`,
  ),
  'then it waits until it expires': on(
    { phase: 'Proposed', conditions: rehearsed, afterMs: minute },
    `wait ${29 * minute}`,
  ),
  rejected: on({ phase: 'Proposed', approval: no }, 'Rejected'),
  'rejected late is still rejected': on({ phase: 'Proposed', approval: no, afterMs: 31 * minute }, 'Rejected'),
  'nobody decided': on({ phase: 'Proposed', conditions: rehearsed, afterMs: 30 * minute }, 'Expired'),
  'approved in the last moment': on({ phase: 'Proposed', approval: yes, afterMs: 30 * minute - 1 }, 'Approved'),
  'approved too late': on({ phase: 'Proposed', approval: yes, afterMs: 30 * minute }, 'Expired(TooLate)'),
  'proposed and cleared is resolved': on(
    { phase: 'Proposed', conditions: [is('IncidentCleared')] },
    'Resolved(HealthyAgain)',
  ),
  'cleared False is not cleared': on(
    { phase: 'Proposed', conditions: [...rehearsed, is('IncidentCleared', 'False')] },
    `wait ${30 * minute}`,
  ),
  'cleared beats an approval': on(
    { phase: 'Proposed', approval: yes, conditions: [is('IncidentCleared')] },
    'Resolved(HealthyAgain)',
  ),
  'proposed, and it came to its end otherwise than healthy': on(
    { phase: 'Proposed', conditions: [{ ...is('IncidentCleared'), reason: 'Ended' }] },
    'Resolved(Ended)',
  ),
  'proposed with a successor is superseded': on({ phase: 'Proposed', facts: { successor: 'f-2' } }, 'Superseded'),

  'approved and all is well: applying': approved('Applying'),
  'approved before any rehearsal: rehearse first': approved('rehearse', { conditions: [is('Approved')] }),
  'a protected namespace': approved('Failed(ProtectedNamespace)', {
    facts: { guard: { ok: false, reason: 'ProtectedNamespace', say: '' } },
  }),
  'an approval that is ten minutes old': approved('Failed(TooLate)', { afterMs: 10 * minute + 1 }),
  'an approval that is not quite as old': approved('Applying', { afterMs: 10 * minute }),
  'an approval that is older, of what is healthy but has not held: watched to its own end': approved('wait 1000', {
    afterMs: 10 * minute + 1,
    facts: { live: health({ longestUptimeMs: 360_000 }), stable: stable(bornMs + minute) },
  }),
  'an approval by a chat user whom our configuration does not list: wait for its reload': approved('wait 1000', {
    approval: stranger,
    afterMs: minute,
  }),
  'listed after the reload: applying': approved('Applying', { approval: yes, afterMs: 3 * minute }),
  'still not listed after three minutes': approved('Failed(NotAnApprover)', {
    approval: stranger,
    afterMs: 3 * minute,
  }),
  'listed for another namespace only': approved('Failed(NotAnApprover)', {
    approval: bySlack,
    afterMs: 3 * minute,
    facts: { config: inChat({ approval: { ...approval, approvers: [{ ...ben, namespaces: ['team-b'] }] } }) },
  }),
  'listed, but our configuration has no channel of that kind': approved('Failed(NotAnApprover)', {
    approval: bySlack,
    afterMs: 3 * minute,
    facts: { config: inChat({ channels: aChat }) },
  }),
  'the id of an approver in the other channel': approved('Failed(NotAnApprover)', {
    approval: { state: 'Approved', by: 'slack:7' },
    afterMs: 3 * minute,
  }),
  'listed in Slack, and Slack is configured': approved('Applying', { approval: bySlack }),
  'a Kubernetes user is on no list': approved('Applying', { approval: byUser }),

  'attested, and its class is patient: by the object’s own times': approved('wait 1000', {
    facts: { ...short, live: lasting(119_999) },
  }),
  'its patience is over': approved('Applying', { facts: { ...short, live: lasting(120_000) } }),
  'a proposal of long ago does not make a pod that has just started old': approved('wait 1000', {
    conditions: [...rehearsed, is('Approved'), is('Proposed', 'True', bornMs - 60 * minute)],
    facts: { ...short, live: lasting(3_000) },
  }),
  'without a time in its status: from our own first look': approved('wait 1000', {
    conditions: [...rehearsed, is('Approved'), is('Proposed', 'True', bornMs - 119_999)],
    facts: short,
  }),
  'which is long enough ago': approved('Applying', {
    conditions: [...rehearsed, is('Approved'), is('Proposed', 'True', bornMs - 120_000)],
    facts: short,
  }),
  'or from when its pod became unready': approved('Applying', {
    conditions: [...rehearsed, is('Approved'), is('Proposed')],
    facts: { ...short, live: health({ healthy: false, brokenSinceMs: bornMs - 120_000 }) },
  }),
  'patience does not use up the approval': approved('Applying', {
    afterMs: 12 * minute,
    facts: { ...short, live: lasting(120_000) },
  }),
  'but it does not wait for ever': approved('Failed(TooLate)', {
    afterMs: 12 * minute + 1,
    facts: { ...short, live: lasting(1_000) },
  }),
  'a Kubernetes user need not be patient': approved('Applying', {
    approval: byUser,
    facts: { ...short, live: lasting(1_000) },
  }),
  'nor does the patience of a class lengthen a Kubernetes user’s approval': approved('Failed(TooLate)', {
    approval: byUser,
    afterMs: 10 * minute + 1,
    facts: short,
  }),

  'attested but not confirmed': approved('Failed(NotConfirmed)', { conditions: unconfirmed }),
  'an unnamed approver counts as attested': approved('Failed(NotConfirmed)', {
    approval: { state: 'Approved' },
    conditions: unconfirmed,
  }),
  'attested for Telegram but not confirmed, whoever proposed it': approved('Failed(NotConfirmed)', {
    approval: yes,
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
  }),
  'attested for Slack but not confirmed, whoever proposed it': approved('Failed(NotConfirmed)', {
    approval: { state: 'Approved', by: 'slack:U012AB3CD' },
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
  }),
  'an unnamed approver counts as attested, whoever proposed it': approved('Failed(NotConfirmed)', {
    approval: { state: 'Approved' },
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
  }),
  'a Kubernetes user whose name only contains such a word is not attested': approved('Applying', {
    approval: { state: 'Approved', by: 'oidc:telegram:7' },
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
  }),
  'a Kubernetes user needs no confirmation for what another one proposed': approved('Applying', {
    approval: byUser,
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
  }),
  'but for what tapfix itself proposed with the credentials of a person': approved('Failed(NotConfirmed)', {
    approval: byUser,
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
    facts: { self: 'ben@example.com' },
  }),
  'and only for the very failure that it was for': approved('wait 1000', {
    proposedBy: 'ben@example.com',
    facts: { self: 'ben@example.com', live: health({ healthy: false, troubles: ['Evicted'] }) },
  }),
  'and for what a program proposed': approved('Failed(NotConfirmed)', { approval: byUser, conditions: unconfirmed }),
  'and for what was shown only after the approval': approved('Failed(NotConfirmed)', {
    approval: byUser,
    proposedBy: 'ben@example.com',
    conditions: unconfirmed,
    status: { preview: { diff: '', targetHash: 'h', at: iso(bornMs + 1) } },
  }),
  'an action that is no longer allowed': approved('Failed(NotAllowed)', {
    facts: { config: inChat({ actions: { allow: [] } }) },
  }),
  'a failed rehearsal': approved('Failed(RehearsalFailed)', {
    conditions: [is('Rehearsed', 'False'), is('Confirmed'), is('Approved')],
  }),
  'already healthy, and held for the window': approved('Resolved(AlreadyHealthy)', {
    facts: { live: health(), stable: stable(bornMs - 30_000) },
  }),
  'healthy for a moment only, as between two crashes: watched, not claimed': approved('wait 1000', {
    facts: { live: health(), stable: stable(bornMs - 29_000) },
  }),
  'gone, and not said to be healthy': approved('Resolved(Gone)', {
    facts: { live: health({ gone: true }), stable: stable(bornMs - 30_000) },
  }),
  'scaled to zero by somebody, and not said to be healthy': approved('Resolved(Ended)', {
    facts: { live: health({ ended: 'it was scaled to zero' }), stable: stable(bornMs - 30_000) },
  }),
  'healthy by another change is resolved, not failed': approved('Resolved(AlreadyHealthy)', {
    facts: { live: health(), stable: stable(bornMs - 30_000), prepared: { ...plan, targetHash: 'x' } },
  }),
  'the target changed since it was shown': approved('Failed(TargetChanged)', {
    facts: { prepared: { ...plan, targetHash: 'x' } },
  }),
  'the action refuses': approved('Failed(Paused)', { facts: { prepared: { ok: false, reason: 'Paused', say: '' } } }),
  'not crashing at this very moment, and not healthy either': approved('wait 1000', {
    facts: { live: health({ healthy: false, troubles: [] }) },
  }),
  'no plan can be made at this moment': approved('wait 1000', { facts: { prepared: undefined as never } }),
  'no plan could be made for ten minutes': approved('Failed(TooLate)', {
    afterMs: 10 * minute + 1,
    facts: { prepared: undefined as never },
  }),
  'another is at work on the target': approved('wait 1000', { facts: { busy: 'f-0' } }),

  'applying, untouched: act': applying('act', { trace: 'untouched' }),
  'applying, our mark is there: finish': applying('finish', { trace: 'ours', attempts: 9 }),
  'applying, our mark is there, hours later: finish, but nobody is nudged any more': applying(
    'finish without a nudge',
    { trace: 'ours' },
    { afterMs: 300 * minute },
  ),
  'applying, our mark is there, and the rights for a nudge cannot be had': applying('finish without a nudge', {
    trace: 'ours',
    attempts: 10,
  }),
  'applying, changed otherwise: never act': applying('Failed(Interrupted)', { trace: 'other' }),
  'applying, no answer ten times': applying('Failed(NoAnswer)', { trace: 'untouched', attempts: 10 }),
  'applying is not stopped by IncidentCleared': applying(
    'act',
    { trace: 'untouched' },
    { conditions: [is('IncidentCleared')] },
  ),
  'applying, taken up again within ten minutes: act': applying('act', { trace: 'untouched' }, { afterMs: 10 * minute }),
  'applying, taken up again later: too late': applying(
    'Failed(TooLate)',
    { trace: 'untouched' },
    { afterMs: 10 * minute + 1 },
  ),
  'applying, taken up again when it has been healthy for the window': applying(
    'Failed(AlreadyHealthy)',
    { trace: 'untouched', live: health(), stable: stable(bornMs + 90_000) },
    { afterMs: 2 * minute },
  ),
  'applying, taken up again when it looks healthy, as between two crashes': applying(
    'wait 1000',
    { trace: 'untouched', live: health(), stable: stable(bornMs + 91_000) },
    { afterMs: 2 * minute },
  ),
  'applying, taken up again, no longer allowed': applying('Failed(NotAllowed)', {
    trace: 'untouched',
    config: inChat({ actions: { allow: [] } }),
  }),
  'applying, taken up again, protected by now': applying('Failed(ProtectedNamespace)', {
    trace: 'untouched',
    guard: { ok: false, reason: 'ProtectedNamespace', say: '' },
  }),

  'applied, not healthy: look again in a second': applied('wait 1000'),
  'applied, healthy for less than the window': applied('wait 1000', {
    afterMs: 39_999,
    facts: { stable: stable(bornMs) },
  }),
  'applied, healthy for the window': applied('Recovered', { afterMs: 40_000, facts: { stable: stable(bornMs) } }),
  'applied, the watcher says cleared: only our own reading counts': applied('wait 1000', {
    conditions: [is('IncidentCleared')],
  }),
  'applied, within window and timeout': applied('wait 1000', { afterMs: 640_000 }),
  'applied, out of time': applied('Failed(NotRecovered)', { afterMs: 640_001 }),

  'failed after applied is watched on': late('wait 5000'),
  'failed after applied may recover': late('Recovered', { afterMs: 40_000, facts: { stable: stable(bornMs) } }),
  'failed after applied, half an hour later': late('nothing', { afterMs: 30 * minute + 1 }),
  'failed after applied, with a successor': late('nothing', { facts: { successor: 'f-2', stable: stable(0) } }),
  'failed before anything was applied': late('nothing', { conditions: [is('Failed')], facts: { stable: stable(0) } }),
  ...Object.fromEntries(
    (['Recovered', 'Rejected', 'Expired', 'Resolved', 'Superseded'] as const).map((phase) => [
      `${phase} is over`,
      on({ phase, approval: yes, afterMs: 40 * minute }, 'nothing'),
    ]),
  ),
};

describe('decide', () => {
  for (const [name, of] of Object.entries(cases)) {
    test(name, () => {
      const nowMs = bornMs + (of.afterMs ?? 0);
      const step = decide({ fix: build(of), nowMs, config: inChat(), ...of.facts });
      assert.equal(spoken(step, nowMs), of.want);
      if (step.do === 'move') assert.ok(transitions[of.phase ?? ''].includes(step.phase), 'a transition that exists');
    });
  }

  test('applying persists the snapshot and the window, which for a crash loop is twice its uptime', () => {
    const step = decide({ fix: build(approved('')), nowMs: bornMs, config: inChat(), ...ready });
    assert.deepEqual(step.do === 'move' && step.execution, {
      startedAt: iso(bornMs),
      before: '{}',
      blocked: [],
      undo: 'u',
      stableSeconds: 40,
      readyBefore: 3,
    });
  });

  test('a rejection says who and why', () => {
    const step = decide({
      fix: build({ phase: 'Proposed', approval: no, want: '' }),
      nowMs: bornMs,
      config: inChat(),
    });
    assert.equal(step.do === 'move' && step.message, 'rejected by telegram:7: known');
  });
});

const nowMs = Date.parse('2026-11-16T02:14:10Z');

/* decide() */

for (const phase of ['Noticed', 'Proposed'] as const)
  test(`${phase}, and it is no longer there: resolved, but not called healthy`, () => {
    const fix = aWholeFix({ phase, conditions: [condition('IncidentCleared', '02:14:00', { reason: 'Gone' })] });
    const step = decide({ fix, nowMs, config: aConfig() });
    assert.deepEqual(step.do === 'move' && [step.phase, step.reason], ['Resolved', 'Gone']);
  });

for (const [seconds, want] of [
  [119, 'wait'],
  [120, 'move'],
] as const)
  test(`a crash loop with a life of 60 s that looks healed for ${seconds} s: ${want === 'wait' ? 'watched' : 'resolved'}`, () => {
    const fix = aWholeFix({
      phase: 'Approved',
      approval: { state: 'Approved', by: 'ada' },
      conditions: [condition('Approved', '02:14:00')],
    });
    const stable = { sinceMs: nowMs - seconds * 1000, restarts: 0, readAtMs: nowMs };
    assert.equal(decide({ fix, nowMs, config: aConfig(), live: health({ longestUptimeMs: 60_000 }), stable }).do, want);
  });

test('the window that Applying persists fits the resource', () => {
  const plan = { before: '', blocked: [], undo: '' } as unknown as ActionPlan;
  const config = aConfig({ recovery: { stableFor: 3_600_000, timeout: 1 } });
  assert.equal(beginExecution(undoWorld().fix(), plan, health(), config, 0).stableSeconds, 600);
});
