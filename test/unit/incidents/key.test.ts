import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incidentKey, numberOf, partsOf, remediationName } from '../../../src/incidents/key.ts';

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
