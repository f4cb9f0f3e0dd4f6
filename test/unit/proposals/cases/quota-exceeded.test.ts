import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../../src/health/history.ts';
import type { Shortfall } from '../../../../src/health/quota-room.ts';
import { ApiError } from '../../../../src/kube/api.ts';
import { viewReplicaSet } from '../../../../src/kube/views.ts';
import { limitsInWords } from '../../../../src/proposals/cases/quota-exceeded.ts';
import { derive, type Subject } from '../../../../src/proposals/derive.ts';
import { aConfig } from '../../../support/config.ts';
import { fakeServer, type Hook } from '../../../support/fake-api.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { blockedByQuota, crashLoop } from '../../../support/street.ts';

/** A quota that blocks two workloads, and a crash loop whose first revision this process saw healthy. */
function aCluster(before?: Hook) {
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
      { reader: server.client(before && { before }), history, config, nowMs: clock.now() },
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
  assert.equal(derived?.diagnosis, 'pods 1, used 1, a pod asks 1');
  assert.deepEqual(derived?.changed, ['2026-11-16T03:12:00.000Z ResourceQuota created by gitops-bot']);
  assert.deepEqual(derived?.evidence, ['ready when noticed: api 0/2, web 0/2']);
  assert.match(
    derived?.rationale ?? '',
    /^The namespace has no such limit afterwards; 2 workloads can start pods again\. To undo:\n/,
  );
});

test('a quota with room for one of two that it refused still stands in the way of the other', async () => {
  const { server, ask } = aCluster();
  const message = 'exceeded quota: tight, requested: services=1, used: services=1, limited: services=1'; // no limit of it by now
  const conditions = [{ type: 'ReplicaFailure', status: 'True', message }];
  server.change('ReplicaSet', 'shop', 'web-7d9f8b6c5d', { status: { conditions } });
  assert.equal((await ask(quota))?.action?.type, 'DeleteResourceQuota');
});

for (const isLastTry of [false, true])
  test(`refused although the template fits, as with an injected sidecar: ${isLastTry ? 'posted without a fix' : 'read again'}`, async () => {
    const { server, ask } = aCluster();
    server.change('ResourceQuota', 'shop', 'tight', {
      spec: { hard: { pods: '9' } },
      status: { hard: { pods: '9' } },
    });
    if (!isLastTry) return assert.rejects(ask(quota), { name: 'RetryLater' });
    const derived = await ask({ ...quota, isLastTry });
    assert.equal(derived?.action, undefined);
    assert.match(derived?.rationale ?? '', /by its template the next pod fits: something adds to it \(a sidecar\?\)/);
  });

/** Its pods ask for a device, which the other quotas limit. */
function asksForDevice(server: ReturnType<typeof fakeServer>, name: string): void {
  const resources = { limits: { 'example.com/gpu': '1' } };
  const containers = [{ name: 'app', image: 'shop/app:1', resources }];
  server.change('ReplicaSet', 'shop', `${name}-7d9f8b6c5d`, { spec: { template: { spec: { containers } } } });
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
        spec: { hard: { 'requests.example.com/gpu': name === 'full' ? '0' : '9' } },
      });
    for (const name of who) asksForDevice(server, name);
    const derived = await ask(quota);
    assert.equal(derived?.action?.type, 'DeleteResourceQuota');
    assert.equal(derived.rationale.split(' To undo:')[0], `The namespace has no such limit afterwards; ${want}`);
  });

const refused = (shortfalls: Shortfall[]) =>
  ({
    kind: 'ReplicaSet',
    name: 'n',
    uid: 'u',
    workload: 'Deployment/n',
    ready: 0,
    desired: 1,
    shortfalls,
    fits: false,
  }) as const;
const memory = (asked: string): Shortfall => ({ resource: 'requests.memory', asked });
const limits: { name: string; owners: Shortfall[][]; want: string }[] = [
  {
    name: 'only what is in the way, with what is asked for',
    owners: [[memory('64Mi')], [memory('256Mi')], [memory('64Mi')]],
    want: 'requests.memory 50Mi, used 48Mi, pods ask 64Mi to 256Mi',
  },
  {
    name: 'two limits at once',
    owners: [[{ resource: 'pods', asked: '1' }, memory('9Mi')]],
    want: 'pods 2, used 0, a pod asks 1; requests.memory 50Mi, used 48Mi, a pod asks 9Mi',
  },
  {
    name: 'pods that do not say how much they ask',
    owners: [[{ resource: 'requests.memory' }], [memory('9Mi')]],
    want: 'requests.memory 50Mi, used 48Mi, a pod asks 9Mi, and pods must state how much they ask',
  },
  {
    name: 'what is in the way is not known: all limits',
    owners: [[]],
    want: 'pods 2, used 0; requests.memory 50Mi, used 48Mi',
  },
];
for (const { name, owners, want } of limits)
  test(`the limits of a quota in words: ${name}`, () => {
    const spec = { hard: { pods: '2', 'requests.memory': '50Mi' } };
    const status = { used: { 'requests.memory': '48Mi' } };
    assert.equal(limitsInWords({ metadata: {} as never, spec, status }, owners.map(refused)), want);
  });

/** Only its Event says so; the template is silent, so that it depends on what a LimitRange adds. */
async function silentTemplate(limitRanges: 'forbidden' | object[]) {
  const { server, ask } = aCluster(
    limitRanges === 'forbidden'
      ? ({ kind }) => {
          if (kind === 'LimitRange') throw new ApiError('limitranges is forbidden', 403, 'Forbidden');
        }
      : undefined,
  );
  if (limitRanges !== 'forbidden')
    for (const [n, limits] of limitRanges.entries())
      server.seed('LimitRange', 'shop', { metadata: { name: `range-${n}` }, spec: { limits: [limits] } });
  const hard = { 'requests.memory': '50Mi' };
  server.remove('ResourceQuota', 'shop', 'tight');
  server.seed('ResourceQuota', 'shop', { metadata: { name: 'tight' }, spec: { hard }, status: { hard, used: hard } });
  return ask(quota);
}
const gives = (memory: string) => ({ type: 'Container', defaultRequest: { memory } });
for (const [name, ranges, action, words] of [
  ['no LimitRange: the quota refuses those who do not state it', [], 'DeleteResourceQuota', /must state how much/],
  ['a LimitRange that gives them 64Mi', [gives('64Mi')], 'DeleteResourceQuota', /a pod asks 64Mi/],
  [
    'LimitRanges that may not be read: told, and nothing is offered',
    'forbidden',
    undefined,
    /^requests.memory 50Mi, used 50Mi$/,
  ],
] as const)
  test(`pods that do not state what they ask, and ${name}`, async () => {
    const derived = await silentTemplate(ranges as never);
    assert.equal(derived?.action?.type, action);
    assert.match(derived?.diagnosis ?? '', words);
    if (!action)
      assert.equal(
        derived?.rationale,
        'what its pods ask is not known: its template leaves it to LimitRanges, which tapfix may not read',
      );
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
