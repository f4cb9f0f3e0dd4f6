import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSubjectAccess } from '../../../src/approvals/subject-access.ts';
import type { Api } from '../../../src/kube/api.ts';
import { aConfig } from '../../support/fixes.ts';

test('RBAC is asked for the verb approve on remediations in that namespace', async () => {
  const asked: object[] = [];
  const api = { create: async (_ref: object, body: object) => (asked.push(body), { status: { allowed: true } }) };
  const subjectAccess = createSubjectAccess(api as unknown as Pick<Api, 'create'>);
  assert.equal(await subjectAccess(aConfig().approval.approvers[3]!, 'shop'), true);
  assert.deepEqual(asked, [
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: {
        user: 'dee@example.com',
        groups: ['sre'],
        resourceAttributes: { group: 'tapfix.dev', resource: 'remediations', verb: 'approve', namespace: 'shop' },
      },
    },
  ]);
});

for (const answer of [{}, { status: {} }, { status: { allowed: false } }, { status: { allowed: 'true' } }])
  test(`no clear yes is a no: ${JSON.stringify(answer)}`, async () => {
    const api = { create: async () => answer };
    const subjectAccess = createSubjectAccess(api as unknown as Pick<Api, 'create'>);
    assert.equal(await subjectAccess(aConfig().approval.approvers[3]!, 'shop'), false);
  });
