import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Incident } from '../../../src/incidents/incident.ts';
import { isAffectedBy, mayHaveCause } from '../../../src/incidents/pending.ts';
import { aFix } from '../../support/fixes.ts';

/* Which records may say that a workload's trouble is only a symptom. The workload is Deployment api of shop. */

const cause = (namespace: string, kind: string, affected: string[]) =>
  aFix({
    namespace,
    incident: { key: `${namespace}/${kind}/x`, object: { kind, name: 'x', uid: 'u' } },
    status: { sightings: { count: 1, lastSeen: '2026-11-16T03:00:00Z', affected } },
  });

const cases: [string, ReturnType<typeof cause>, boolean][] = [
  ['a quota of its namespace', cause('shop', 'ResourceQuota', ['Deployment/api']), true],
  ['a quota of its namespace that names another workload', cause('shop', 'ResourceQuota', ['Deployment/web']), false],
  ['a node that it ran on', cause('tapfix', 'Node', ['mail/Deployment/api', 'shop/Deployment/api']), true],
  ['a storage class that it waits for', cause('tapfix', 'StorageClass', ['shop/Deployment/api']), true],
  ['a node that names a workload of another namespace', cause('tapfix', 'Node', ['mail/Deployment/api']), false],
  ['a quota of another namespace', cause('mail', 'ResourceQuota', ['shop/Deployment/api']), false],
  [
    'a quota of another namespace with a workload of that name',
    cause('mail', 'ResourceQuota', ['Deployment/api']),
    false,
  ],
  ['what another namespace calls a node', cause('mail', 'Node', ['shop/Deployment/api']), false],
  [
    'what tapfix’s own namespace has that is no cluster-scoped cause',
    cause('tapfix', 'ResourceQuota', ['shop/Deployment/api']),
    false,
  ],
];
for (const [what, fix, want] of cases)
  test(`${what}: ${want ? 'it is a symptom' : 'not believed'}`, () =>
    assert.equal(isAffectedBy(fix, 'shop', { kind: 'Deployment', name: 'api' }, 'tapfix'), want));

const seen = (kind: string, namespace: string, dueMs: number) => ({ object: { kind }, seenIn: [namespace], dueMs });
const undecided: [string, ReturnType<typeof seen>, boolean][] = [
  ['a quota of its namespace that is due in five seconds', seen('ResourceQuota', 'shop', 105_000), true],
  ['a quota of its namespace that is being judged', seen('ResourceQuota', 'shop', 99_000), true],
  ['a node with pods in its namespace', seen('Node', 'shop', 105_000), true],
  ['a quota that was due long ago', seen('ResourceQuota', 'shop', 80_000), false],
  ['a quota of another namespace', seen('ResourceQuota', 'mail', 105_000), false],
  ['another workload of its namespace', seen('Deployment', 'shop', 105_000), false],
];
for (const [what, other, want] of undecided)
  test(`${what} ${want ? 'may be its cause: it is waited for' : 'is not waited for'}`, () =>
    assert.equal(mayHaveCause({ namespace: 'shop' } as Incident, [other as unknown as Incident], 100_000), want));
