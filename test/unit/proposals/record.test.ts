import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Remediation, remediationSpecSchema } from '../../../src/kube/remediation.ts';
import { recurrence, remediationBody, remediationSpec, type RecordFacts } from '../../../src/proposals/record.ts';
import { aFix, at, condition, aConfig } from '../../support/fixes.ts';

const nowMs = Date.parse(at('03:00:00'));
const action = { type: 'RolloutUndo', rolloutUndo: { kind: 'Deployment', name: 'checkout', uid: 'd', toRevision: 1 } };
const facts = (over: Partial<RecordFacts> = {}): RecordFacts => ({
  incident: {
    key: 'shop/Deployment/checkout',
    class: 'CrashLoop',
    severity: 'critical',
    reason: 'CrashLoopBackOff',
    object: { kind: 'Deployment', name: 'checkout', uid: 'd' },
    message: 'back-off',
    firstSeenMs: nowMs - 30_000,
  },
  derived: { diagnosis: 'it crashes', changed: ['a'], evidence: ['b'], rationale: 'safe', action },
  earlier: [],
  notifyOnly: false,
  proposedBy: 'watcher',
  config: aConfig(),
  nowMs,
  ...over,
});
const applied = (clock: string, n = 1) => aFix({ n, phase: 'Recovered', conditions: [condition('Applied', clock)] });
/** Told without a fix, and over. */
const noticed = (clock: string, n = 1): Remediation => {
  const { action: _, ...spec } = aFix().spec;
  const fix = aFix({ n, phase: 'Resolved', conditions: [condition('IncidentCleared', clock)] });
  return { ...fix, spec, metadata: { ...fix.metadata, creationTimestamp: at(clock) } };
};
const followed = (fix: Remediation): Remediation => ({
  ...fix,
  spec: { ...fix.spec, follows: { name: aFix().metadata.name, uid: aFix().metadata.uid } },
});

test('a spec says everything, pending and with its ttl, and fits the resource', () => {
  const spec = remediationSpec(facts());
  assert.deepEqual(spec.action, action);
  assert.deepEqual(spec.approval, { state: 'Pending' });
  assert.equal(spec.incident.firstSeen, '2026-11-16T02:59:30.000Z');
  assert.equal(spec.ttlMinutes, 30);
  remediationSpecSchema.parse(spec);
});

const offered: { name: string; facts: Partial<RecordFacts>; want: string }[] = [
  { name: 'nothing came before', facts: {}, want: 'offered' },
  {
    name: 'nothing is derived',
    facts: { derived: { ...facts().derived, action: undefined as never, rationale: 'x' } },
    want: 'x',
  },
  { name: 'the namespace is notify-only', facts: { notifyOnly: true }, want: 'nothing is changed in this namespace' },
  {
    name: 'it was applied 50 minutes ago',
    facts: { earlier: [applied('02:10:00')] },
    want: 'the same fix was applied at 2026-11-16T02:10:00Z and did not last (second time in an hour)',
  },
  {
    name: 'it was applied twice within the hour',
    facts: { earlier: [applied('02:40:00', 2), applied('02:10:00')] },
    want: 'the same fix was applied at 2026-11-16T02:40:00Z and did not last (third time in an hour)',
  },
  {
    name: 'it was applied, came again without a fix, and comes a third time',
    facts: { earlier: [noticed('02:30:00', 2), applied('02:10:00')] },
    want: 'the same fix was applied at 2026-11-16T02:10:00Z and did not last (third time in an hour)',
  },
  {
    name: 'another card of the same time followed the first',
    facts: { earlier: [followed(noticed('02:30:00', 2)), applied('02:10:00')] },
    want: 'the same fix was applied at 2026-11-16T02:10:00Z and did not last (second time in an hour)',
  },
  {
    name: 'it came before that as well, more than an hour ago',
    facts: { earlier: [applied('02:10:00', 2), noticed('01:50:00')] },
    want: 'the same fix was applied at 2026-11-16T02:10:00Z and did not last (second time in an hour)',
  },
  { name: 'it was applied 61 minutes ago', facts: { earlier: [applied('01:59:00')] }, want: 'offered' },
  {
    name: 'it was proposed before, but never applied',
    facts: { earlier: [aFix({ phase: 'Rejected' })] },
    want: 'offered',
  },
  {
    name: 'another type of fix was applied before',
    facts: {
      earlier: [
        { ...applied('02:40:00'), spec: { ...applied('02:40:00').spec, action: { type: 'DeleteResourceQuota' } } },
      ],
    },
    want: 'offered',
  },
];
for (const { name, facts: over, want } of offered)
  test(`${name}: ${want === 'offered' ? 'the fix is offered' : 'notify only, and the reason is said'}`, () => {
    const spec = remediationSpec(facts(over));
    assert.equal(spec.action ? 'offered' : spec.rationale, want);
  });

test('what is not offered carries no action at all: the resource would refuse an empty one', () =>
  assert.ok(!Object.hasOwn(remediationSpec(facts({ notifyOnly: true })), 'action')));

for (const [ttl, minutes] of [
  [30_000, 1],
  [90_000, 2],
  [600_000, 10],
  [86_400_000, 60],
] as const)
  test(`a ttl of ${ttl / 1000} s is ${minutes} min in the resource`, () => {
    const config = aConfig();
    const spec = remediationSpec(facts({ config: { ...config, approval: { ...config.approval, ttl } } }));
    assert.equal(spec.ttlMinutes, minutes);
  });

test('words of the cluster that are too long, too many or not for eyes are made to fit', () => {
  const nasty = `\u0007\u001b[31m${'x'.repeat(5000)}`;
  const spec = remediationSpec(
    facts({
      incident: { ...facts().incident, reason: nasty, message: nasty },
      derived: { diagnosis: nasty, changed: Array(30).fill(nasty), evidence: Array(30).fill(nasty), rationale: nasty },
    }),
  );
  remediationSpecSchema.parse(spec);
  assert.equal(spec.context.changed.length, 10);
});

test('whoever says it, a secret is not recorded', () => {
  const secret = 'hunter2';
  const leak = `password=${secret}`;
  const derived = { diagnosis: leak, changed: [leak], evidence: [leak], rationale: 'safe' };
  const spec = remediationSpec(facts({ incident: { ...facts().incident, message: leak }, derived }));
  assert.ok(!JSON.stringify(spec).includes(secret));
  assert.equal(spec.diagnosis, 'password=[redacted]');
});

test('the hour counts from when it was applied, not from when it was over', () => {
  const fix = aFix({
    phase: 'Recovered',
    conditions: [condition('Applied', '01:50:00'), condition('Recovered', '02:59:00')],
  });
  assert.equal(recurrence([fix], 'RolloutUndo', nowMs), undefined);
});

test('a body is a Remediation in that namespace, without a status', () =>
  assert.deepEqual(remediationBody('shop', 'n', remediationSpec(facts())), {
    apiVersion: 'tapfix.dev/v1alpha1',
    kind: 'Remediation',
    metadata: { name: 'n', namespace: 'shop' },
    spec: remediationSpec(facts()),
  }));
