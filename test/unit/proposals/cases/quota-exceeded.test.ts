import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../../src/health/history.ts';
import { viewReplicaSet } from '../../../../src/kube/views.ts';
import { limitsInWords } from '../../../../src/proposals/cases/quota-exceeded.ts';
import { derive, type Subject } from '../../../../src/proposals/derive.ts';
import { aConfig } from '../../../support/config.ts';
import { fakeServer } from '../../../support/fake-api.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { blockedByQuota, crashLoop } from '../../../support/street.ts';

/** A quota that blocks two workloads, and a crash loop whose first revision this process saw healthy. */
function aCluster() {
  const clock = fakeClock();
  const server = fakeServer(clock);
  blockedByQuota({ server }, ['api', 'web']);
  crashLoop({ server });
  const history = createHistory();
  const first = viewReplicaSet(server.get('ReplicaSet', 'shop', 'checkout-7d9f8b6c5d')!)!;
  history.observe({ ...first, desired: 1, available: 1 }, clock.now() - 600_000);
  history.observe({ ...first, desired: 0, available: 0 }, clock.now());
  const ask = (subject: Partial<Subject>, config = aConfig()) =>
    derive(
      { namespace: 'shop', class: 'CrashLoop', object: { kind: 'Deployment', name: 'checkout', uid: '' }, ...subject },
      { reader: server.client(), history, config, nowMs: clock.now() },
    );
  return { server, ask };
}
const quota = { class: 'QuotaExceeded', object: { kind: 'ResourceQuota', name: 'tight', uid: '' } };

test('a quota in words: its limits, who made it, whom it blocks, and how to put it back', async () => {
  const { server, ask } = aCluster();
  server.change('ResourceQuota', 'shop', 'tight', {
    metadata: { managedFields: [{ manager: 'gitops-bot', time: '2026-11-16T03:12:00Z', fieldsV1: { 'f:spec': {} } }] },
    spec: { hard: { 'requests.memory': '50Mi' } },
    status: { used: { 'requests.memory': '48Mi' } },
  });
  const derived = await ask(quota);
  assert.equal(derived?.diagnosis, 'pods 1, already used 1, a pod asks 1');
  assert.deepEqual(derived?.changed, ['2026-11-16T03:12:00.000Z ResourceQuota created by gitops-bot']);
  assert.deepEqual(derived?.evidence, ['ready when noticed: api 0/2, web 0/2']);
  assert.match(
    derived?.rationale ?? '',
    /^The namespace has no such limit afterwards; 2 workloads can start pods again\. Put it back with:\n/,
  );
});

test('a quota with room for one of two that it refused still stands in the way of the other', async () => {
  const { server, ask } = aCluster();
  const message = 'exceeded quota: tight, requested: services=1, used: services=1, limited: services=1'; // no limit of it by now
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message }];
  server.change('ReplicaSet', 'shop', 'web-7d9f8b6c5d', { status: { conditions } });
  assert.equal((await ask(quota))?.action?.type, 'DeleteResourceQuota');
});

/** What the ReplicaSet of `name` was told at its last tries, newest first. */
function refusedBy(server: ReturnType<typeof fakeServer>, name: string, quotas: readonly string[]): void {
  const { uid, name: set } = server.get('ReplicaSet', 'shop', `${name}-7d9f8b6c5d`)!.metadata;
  const involvedObject = { kind: 'ReplicaSet', namespace: 'shop', name: set, uid };
  for (const [n, quota] of quotas.entries()) {
    const message = `pods "x" is forbidden: exceeded quota: ${quota}, requested: pods=1, used: pods=1, limited: pods=1`;
    const lastTimestamp = `2026-11-16T03:11:${50 - n}Z`;
    server.seed('Event', 'shop', {
      metadata: { name: `${set}.${quota}` },
      reason: 'FailedCreate',
      message,
      involvedObject,
      lastTimestamp,
    });
  }
}

for (const [who, want] of [
  [['api'], '1 workload can start pods again, 1 is refused by ResourceQuota full as well.'],
  [['api', 'web'], 'ResourceQuota full refuses the same pods, which start when that is out of the way as well.'],
] as const)
  test(`a second quota that refuses ${who.join(' and ')} as well: nobody is promised what one deletion does not bring`, async () => {
    const { server, ask } = aCluster();
    for (const name of ['full', 'roomy'])
      server.seed('ResourceQuota', 'shop', {
        metadata: { name },
        spec: { hard: { pods: name === 'full' ? '1' : '9' } },
      });
    for (const name of who) refusedBy(server, name, ['tight', 'full', 'roomy']);
    const derived = await ask(quota);
    assert.equal(derived?.action?.type, 'DeleteResourceQuota');
    assert.equal(derived.rationale.split(' Put it back')[0], `The namespace has no such limit afterwards; ${want}`);
  });

const refused = (refusal: string) =>
  ({
    kind: 'ReplicaSet',
    name: 'n',
    uid: 'u',
    workload: 'Deployment/n',
    ready: 0,
    desired: 1,
    refusal,
    fits: false,
  }) as const;
const limits: { name: string; refusals: string[]; want: string }[] = [
  {
    name: 'only what was in the way, with what was asked for',
    refusals: ['64Mi', '256Mi', '64Mi'].map(
      (ask) =>
        `exceeded quota: q, requested: requests.memory=${ask}, used: requests.memory=1Mi, limited: requests.memory=50Mi`,
    ),
    want: 'requests.memory 50Mi, already used 48Mi, pods ask 64Mi to 256Mi',
  },
  {
    name: 'two limits at once',
    refusals: [
      'exceeded quota: q, requested: pods=1,requests.memory=9Mi, used: pods=2,requests.memory=48Mi, limited: pods=2,requests.memory=50Mi',
    ],
    want: 'pods 2, already used 0, a pod asks 1; requests.memory 50Mi, already used 48Mi, a pod asks 9Mi',
  },
  {
    name: 'words that nobody understands: all limits',
    refusals: ['exceeded quota: q'],
    want: 'pods 2, already used 0; requests.memory 50Mi, already used 48Mi',
  },
];
for (const { name, refusals, want } of limits)
  test(`the limits of a quota in words: ${name}`, () => {
    const spec = { hard: { pods: '2', 'requests.memory': '50Mi' } };
    const status = { used: { 'requests.memory': '48Mi' } };
    assert.equal(limitsInWords({ metadata: {} as never, spec, status }, refusals.map(refused)), want);
  });

test('a quota that was changed after its creation: both are said, and the creator is not guessed', async () => {
  const { server, ask } = aCluster();
  const time = '2026-11-16T03:20:00Z';
  const managedFields = [{ manager: 'kubectl-edit', time, fieldsV1: { 'f:spec': {} } }];
  server.change('ResourceQuota', 'shop', 'tight', { metadata: { managedFields } });
  assert.deepEqual((await ask(quota))?.changed, [
    '2026-11-16T03:20:00.000Z ResourceQuota changed by kubectl-edit',
    '2026-11-16T03:12:00.000Z ResourceQuota created',
  ]);
});
