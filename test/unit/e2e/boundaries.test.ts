import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WriteSeen } from '../../cluster/cluster.ts';
import { boundariesIn } from '../../e2e/support/boundaries.ts';

const uid = '0b6f2f0a-1111-4222-8333-444455556666';
const status = (namespace: string, status: object): Sent => [
  'PATCH',
  `/apis/tapfix.dev/v1alpha1/namespaces/${namespace}/remediations/api-3f9a1c-1/status`,
  { status },
];
const mint = (namespace: string): Sent => [
  'POST',
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
  {},
];
const revoke = (namespace: string): Sent => [
  'DELETE',
  `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings/tapfix-${uid}`,
  {},
];
const token: Sent = ['POST', '/api/v1/namespaces/tapfix/serviceaccounts/tapfix-writer/token', {}];
const event = (namespace: string, reason: string): Sent => [
  'POST',
  `/api/v1/namespaces/${namespace}/events`,
  { reason },
];
const quota = (namespace: string): Sent => ['DELETE', `/api/v1/namespaces/${namespace}/resourcequotas/tight`, {}];
const dry = (sent: Sent): Sent => [...sent.slice(0, 3), true] as never;

type Sent = [method: string, path: string, body: object, dryRun?: boolean];
const seen = (sent: readonly Sent[]): WriteSeen[] =>
  sent.map(([method, path, body, dryRun = false], index) => ({ n: index + 1, method, path, body, dryRun, at: 0 }));

test('the writes of one fix among those of two: rehearsal and fix apart, what comes again only once', () => {
  const writes = seen([
    status('a', { phase: 'Proposed' }),
    event('a', 'FixProposed'),
    status('b', { phase: 'Proposed' }),
    mint('b'),
    token,
    revoke('b'),
    mint('a'),
    token,
    dry(quota('a')),
    revoke('a'),
    status('a', { conditions: [], preview: {} }),
    status('a', { conditions: [] }),
    status('a', { phase: 'Applying' }),
    event('a', 'FixApplying'),
    event('a', 'FixApplying'),
    mint('a'),
    token,
    mint('a'), // the authorizer did not know it yet
    quota('a'),
    revoke('a'),
    status('a', { phase: 'Applied' }),
  ]);
  const rights = (stage: string): string[] => [
    `POST /apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings: while ${stage}`,
    `POST /api/v1/namespaces/tapfix/serviceaccounts/tapfix-writer/token: while ${stage}`,
  ];
  const back = 'DELETE /apis/rbac.authorization.k8s.io/v1/namespaces/NS/rolebindings/tapfix-UID';
  const said = 'PATCH /apis/tapfix.dev/v1alpha1/namespaces/NS/remediations/NAME/status';
  assert.deepEqual(boundariesIn('a', writes), [
    `${said}: Proposed`,
    'POST /api/v1/namespaces/NS/events: FixProposed',
    ...rights('Proposed'),
    `${back}: while Proposed`,
    `${said}: judged`,
    `${said}: Applying`,
    'POST /api/v1/namespaces/NS/events: FixApplying',
    ...rights('Applying'),
    'DELETE /api/v1/namespaces/NS/resourcequotas/tight: while Applying',
    `${back}: while Applying`,
    `${said}: Applied`,
  ]);
});
