import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classNames } from '../../../src/config/schema.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { aConfig } from '../../support/config.ts';

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
