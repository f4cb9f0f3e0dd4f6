import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incidentKey, numberOf, partsOf, remediationName } from '../../../src/incidents/key.ts';
import { ownerByName, ownersByName } from '../../../src/kube/owners.ts';

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const all = (base: string) => [`ReplicaSet/${base}`, `DaemonSet/${base}`, `Job/${base}`];

/** Everybody who could have named it so; then whom it names where there is no cluster to ask. */
const names: [kind: string, name: string, owners: string[], alone?: string][] = [
  ['Pod', 'checkout-7d9f8b6c5d-x2x4z', all('checkout-7d9f8b6c5d'), 'Deployment/checkout'],
  ['ReplicaSet', 'checkout-7d9f8b6c5d', ['Deployment/checkout'], 'Deployment/checkout'],
  ['ReplicaSet', 'checkout-4d9f8b6c5d', []], // no number begins with 0
  ['ReplicaSet', 'checkout-9d9f8b6c5d', []], // more than 32 bits
  ['ReplicaSet', 'checkout-7d9f8', []],
  ['Pod', 'payments-worker', []],
  ['ReplicaSet', 'payments-server', []],
  ['Pod', 'fluentd-x2x4z', all('fluentd')],
  ['Pod', 'fluentd-x2x4', []],
  ['Pod', 'fluentd-x2x4a', []],
  ['Pod', 'web-0', ['StatefulSet/web'], 'StatefulSet/web'],
  ['Pod', 'web-07', []],
  ['Pod', 'web-24567', [...all('web'), 'StatefulSet/web'], 'StatefulSet/web'],
  ['Pod', 'train-12-x2x4z', [...all('train-12'), 'Job/train indexed']],
  ['Pod', 'train-012-x2x4z', all('train-012')],
  ['Job', 'backup-29913000', ['CronJob/backup'], 'CronJob/backup'],
  ['Pod', 'backup-29913000-x2x4z', all('backup-29913000'), 'CronJob/backup'],
  ['Job', 'backup-29915000', []], // due more than a day from now
  ['Job', 'backup-10000000', []], // in 1989
  ['Job', 'backup-20261116', []], // a date, which would be a minute of 2008
  ['Deployment', 'checkout-7d9f8b6c5d', []],
  ['__proto__', 'checkout-7d9f8b6c5d', []],
];
for (const [kind, name, owners, alone] of names)
  test(`${kind} ${name} could be of ${owners.join(', ') || 'nobody'}`, () => {
    const said = ownersByName(kind, name, nowMs).map((it) => `${it.kind}/${it.name}${it.indexed ? ' indexed' : ''}`);
    assert.deepEqual(said, owners);
    const named = ownerByName(kind, name, nowMs);
    assert.equal(named && `${named.kind}/${named.name}`, alone);
  });

test('the name of a Remediation is the same for the same key, fits, and counts', () => {
  const key = incidentKey('shop', { kind: 'Deployment', name: 'checkout' });
  assert.equal(remediationName(key, 1), remediationName(key, 1));
  assert.match(remediationName(key, 3), /^checkout-[0-9a-f]{6}-3$/);
  assert.equal(numberOf(remediationName(key, 12)), 12);
  assert.notEqual(
    remediationName(key, 1),
    remediationName(incidentKey('pay', { kind: 'Deployment', name: 'checkout' }), 1),
  );
  const long = remediationName(
    incidentKey('shop', { kind: 'ResourceQuota', name: `${'q'.repeat(80)}.${'x'.repeat(160)}` }),
    1,
  );
  assert.ok(long.length <= 63 && /^[a-z0-9-]+$/.test(long));
  assert.deepEqual(partsOf(key), { namespace: 'shop', kind: 'Deployment', name: 'checkout' });
});
