import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classNames } from '../../../src/config/schema.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { detectEvent, detectPod } from '../../../src/signals/detect.ts';
import { filterOutcome } from '../../../src/signals/filter.ts';
import { identityOf, type Signal } from '../../../src/signals/signal.ts';
import { aConfig } from '../../support/config.ts';
import { anEvent, aPod, crashing } from '../../support/views.ts';

/* Noticing, at its edges. */

const quota = 'Error creating: pods "a" is forbidden: exceeded quota: small, requested: pods=1';
const job = { kind: 'Job', name: 'nightly', namespace: 'shop', uid: 'j-1' };
const nothing: [string, ReturnType<typeof anEvent>][] = [
  ['a quota in a Normal event', anEvent({ type: 'Normal', reason: 'FailedCreate', message: quota })],
  ['a quota in an event about something else', anEvent({ reason: 'FailedUpdate', message: quota })],
  ['a back-off of what is no pod', anEvent({ object: job })],
];
for (const [name, event] of nothing) test(`no failure: ${name}`, () => assert.equal(detectEvent(event), undefined));

for (const phase of ['Failed', 'Succeeded'])
  test(`a pod that is ${phase} is no crash loop, whatever it went through`, () =>
    assert.deepEqual(detectPod(aPod({ phase, ready: false, containers: [crashing] }), 0), []));

const subject = { class: 'CrashLoop', namespace: 'shop', kind: 'Deployment', name: 'mail' };
for (const rule of [{ namespace: 'pay-*' }, { kind: 'StatefulSet' }, { name: 'web' }, { class: 'OOMKilled' }])
  test(`a rule that fits but for ${Object.keys(rule)[0]} ignores nothing`, () => {
    const ignore = [{ namespace: 'shop', kind: 'Deployment', name: 'mail', class: 'CrashLoop', ...rule }];
    assert.equal(filterOutcome(aConfig({ ignore }), subject, 'tapfix'), 'Kept');
  });

test('patience and severity are those of the table, unless the configuration says otherwise', () => {
  const said = (name: string, config = aConfig()) => {
    const { severity, forMs, readable } = classOf(name, config);
    return `${severity} ${forMs / 1000}s${readable ? '' : ' (events only)'}`;
  };
  assert.deepEqual(Object.fromEntries(classNames.map((name) => [name, said(name)])), {
    QuotaExceeded: 'critical 10s',
    CreateRejected: 'critical 10s',
    ImagePull: 'critical 30s',
    ConfigMissing: 'critical 30s',
    OOMKilled: 'critical 0s',
    CrashLoop: 'critical 30s',
    ProbeFailing: 'warning 120s',
    RolloutStuck: 'warning 0s',
    Unschedulable: 'warning 120s',
    SandboxFailed: 'warning 120s',
    VolumeStuck: 'warning 180s',
    StorageFailed: 'warning 180s',
    Evicted: 'warning 60s',
    JobFailed: 'warning 0s',
    NodeDown: 'critical 60s',
    AutoscalerBlind: 'info 300s',
  });
  const classes = { CrashLoop: { enabled: true, for: 1_000, severity: 'warning' as const } };
  assert.equal(said('CrashLoop', aConfig({ classes })), 'warning 1s');
  const extraReasons = [
    { reason: 'BackupFailed', class: 'BackupFailed', severity: 'info' as const, for: 60_000 },
    { reason: 'Oomph', class: 'OOMKilled', severity: 'info' as const, for: 60_000 },
  ];
  assert.equal(said('BackupFailed', aConfig({ extraReasons })), 'info 60s (events only)');
  assert.equal(said('OOMKilled', aConfig({ extraReasons })), 'critical 0s', 'of a known class the table speaks');
  assert.equal(said('constructor'), 'warning 120s (events only)');
});

test('what says more about the cause names the incident', () => {
  const order = ['QuotaExceeded', 'CreateRejected', 'ConfigMissing', 'ImagePull', 'OOMKilled', 'CrashLoop', 'VolumeStuck', 'SandboxFailed', 'Unschedulable', 'ProbeFailing', 'RolloutStuck', 'Evicted']; // prettier-ignore
  const ranks = order.map((name) => classOf(name, aConfig()).specificity);
  assert.deepEqual(
    ranks,
    ranks.toSorted((a, b) => b - a),
  );
  assert.equal(new Set(classNames.map((name) => classOf(name, aConfig()).specificity)).size, classNames.length);
});

const signal: Signal = { class: 'QuotaExceeded', namespace: 'shop', object: { kind: 'ReplicaSet', name: 'a', uid: 'u' }, cause: { kind: 'ResourceQuota', name: 'q' }, reason: 'r', message: 'm' }; // prettier-ignore
const others: [string, Partial<Signal>, boolean][] = [
  ['in other words', { reason: 'x', message: 'y', listed: true }, true],
  ['of another quota', { cause: { kind: 'ResourceQuota', name: 'p' } }, false],
  ['of another object of the same name', { object: { ...signal.object, uid: 'v' } }, false],
  ['of another class', { class: 'CrashLoop' }, false],
  ['in another namespace', { namespace: 'pay' }, false],
];
for (const [name, over, isSame] of others)
  test(`the same trouble ${name} is ${isSame ? 'one observation' : 'two'}`, () =>
    assert.equal(identityOf({ ...signal, ...over }) === identityOf(signal), isSame));
