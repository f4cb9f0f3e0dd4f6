import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDryRun, parseAuditLog } from '../../cluster/audit.ts';

const aLine = (over: object = {}): string =>
  JSON.stringify({
    stage: 'ResponseComplete',
    verb: 'patch',
    requestURI: '/apis/apps/v1/namespaces/shop/deployments/api?dryRun=All',
    user: { username: 'admin' },
    userAgent: 'kubectl',
    objectRef: { resource: 'deployments', namespace: 'shop', name: 'api', subresource: 'scale' },
    responseStatus: { code: 200 },
    requestObject: { spec: { replicas: 2 } },
    requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
    ...over,
  });

test('an audit line becomes an event', () => {
  assert.deepEqual(parseAuditLog(`${aLine()}\n`), [
    {
      verb: 'patch',
      user: 'admin',
      resource: 'deployments',
      subresource: 'scale',
      namespace: 'shop',
      name: 'api',
      dryRun: true,
      code: 200,
      at: '2026-01-01T00:00:00.000000Z',
      requestObject: { spec: { replicas: 2 } },
      userAgent: 'kubectl',
    },
  ]);
});

test('other stages and a line still being written are left out', () => {
  const text = `${aLine({ stage: 'Panic' })}\n${aLine()}\n${aLine().slice(0, 40)}`;
  assert.equal(parseAuditLog(text).length, 1);
  assert.deepEqual(parseAuditLog('{"stage":'), []);
});

const dryRuns = [
  { name: 'in the query', uri: '/x?fieldManager=a&dryRun=All', body: undefined, want: true },
  { name: 'in the options of a delete', uri: '/x', body: { dryRun: ['All'] }, want: true },
  { name: 'in an eviction', uri: '/x', body: { deleteOptions: { dryRun: ['All'] } }, want: true },
  { name: 'nowhere', uri: '/x?fieldManager=a', body: { spec: {} }, want: false },
  { name: 'in an empty list', uri: '/x', body: { dryRun: [] }, want: false },
];
for (const { name, uri, body, want } of dryRuns) {
  test(`dry run asked for ${name}: ${want}`, () => assert.equal(isDryRun(uri, body), want));
}
