import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aRollout, type PodState } from '../../../support/rollout.ts';

const good: PodState = { ready: true };
const wayOf = async (shop: ReturnType<typeof aRollout>, failureClass: string): Promise<string> => {
  const { action, rationale } = (await shop.ask(failureClass))!;
  return action ? JSON.stringify({ ...action, uid: undefined }).replace(/,"uid":"[^"]*"/, '') : rationale;
};

const noNode = (since = '2026-11-16T03:14:00Z'): PodState => ({
  status: {
    phase: 'Pending',
    containerStatuses: [],
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/2 nodes are available: 2 Insufficient cpu.',
        lastTransitionTime: since,
      },
    ],
  },
});
const booksAt = (time: string | undefined, own: object = {}) => ({
  managedFields: [
    {
      manager: 'kubectl',
      subresource: 'scale',
      ...(time && { time }),
      fieldsV1: { 'f:spec': { 'f:replicas': {}, ...own } },
    },
  ],
});
const scaled = { metadata: { ...booksAt('2026-11-16T03:13:59Z') } };
const applied = { metadata: { ...booksAt('2026-11-16T03:13:59Z', { 'f:template': {} }) } };
const back = (replicas: number) => `{"type":"ScaleDeployment","scaleDeployment":{"name":"web","replicas":${replicas}}}`;
const now = '2026-11-16T03:14:00Z';
const late = (): PodState => noNode(now);
type Say = (words: string, set?: string) => void;
const up = (say: Say) => say('Scaled up replica set web-2 from 1 to 3');

const scalings: {
  name: string;
  deployment?: object;
  pods: PodState[];
  events?: (say: Say) => void;
  hpa?: boolean;
  want: string;
}[] = [
  {
    name: 'two of three since a scale-up',
    deployment: scaled,
    pods: [good, late(), late()],
    events: up,
    want: back(1),
  },
  {
    name: 'in the words of older servers',
    deployment: scaled,
    pods: [good, late(), late()],
    events: (say) => say('Scaled up replica set web-2 to 3 from 1'),
    want: back(1),
  },
  {
    name: 'with kubectl scale, of which the books have no time',
    deployment: { metadata: booksAt(undefined) },
    pods: [good, late(), late()],
    events: up,
    want: back(1),
  },
  {
    name: 'with kubectl scale, and a rollout',
    deployment: { metadata: booksAt(undefined) },
    pods: [good, late(), late()],
    events: (say) => (say('Scaled down replica set web-1 from 3 to 2'), up(say)),
    want: 'no recent scale-up',
  },
  {
    name: 'it was only made',
    deployment: applied,
    pods: [late(), late(), late()],
    events: (say) => say('Scaled up replica set web-2 from 0 to 3'),
    want: 'no recent scale-up',
  },
  {
    name: 'by an apply of all of it, and no rollout',
    deployment: applied,
    pods: [good, late(), late()],
    events: up,
    want: back(1),
  },
  {
    name: 'by an apply that was a rollout as well',
    deployment: applied,
    pods: [good, late(), late()],
    events: (say) => (say('Scaled down replica set web-1 from 3 to 2'), up(say)),
    want: 'no recent scale-up',
  },
  {
    name: 'no event tells from how many',
    deployment: scaled,
    pods: [good, late(), late()],
    want: 'it was scaled at 2026-11-16T03:13:59.000Z, but it is not known that this was a scale-up',
  },
  {
    name: 'it was scaled down',
    deployment: scaled,
    pods: [good, late(), late()],
    events: (say) => say('Scaled down replica set web-2 from 6 to 3'),
    want: 'it was scaled 6 → 3 at 2026-11-16T03:13:59.000Z, which was no scale-up',
  },
  {
    name: 'the event is of another time than the scaling',
    deployment: { metadata: { ...booksAt('2026-11-16T03:13:10Z') } },
    pods: [good, late(), late()],
    events: up,
    want: 'it was scaled at 2026-11-16T03:13:10.000Z, but it is not known that this was a scale-up',
  },
  {
    name: 'a pod waited before',
    deployment: scaled,
    pods: [good, late(), noNode('2026-11-16T03:13:30Z')],
    events: up,
    want: 'it was scaled 1 → 3 at 2026-11-16T03:13:59.000Z, but pods waited for a node before that',
  },
  {
    name: 'more wait than were added',
    deployment: scaled,
    pods: [late(), late(), late()],
    events: up,
    want: 'it was scaled 1 → 3 at 2026-11-16T03:13:59.000Z, but fewer than 1 of its pods have a node',
  },
  {
    name: 'it was started',
    deployment: scaled,
    pods: [late(), late(), late()],
    events: (say) => say('Scaled up replica set web-2 from 0 to 3'),
    want: 'it was scaled 0 → 3 at 2026-11-16T03:13:59.000Z: back would be none at all',
  },
  {
    name: 'an autoscaler owns it',
    deployment: scaled,
    pods: [good, late(), late()],
    events: up,
    hpa: true,
    want: 'it was scaled 1 → 3 at 2026-11-16T03:13:59.000Z, and an autoscaler owns the replicas',
  },
  {
    name: 'Flux owns it',
    deployment: { metadata: { ...scaled.metadata, labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } } },
    pods: [good, late(), late()],
    events: up,
    want: 'Deployment web belongs to Flux (Kustomization apps), which would put it back.',
  },
];
for (const { name, deployment, pods, events, hpa, want } of scalings)
  test(`Unschedulable, ${name}: ${want}`, async () => {
    const shop = aRollout({ pods, ...(deployment && { deployment }) });
    await shop.clock.advance(120_000);
    events?.((words) => shop.say('ScalingReplicaSet', words, { kind: 'Deployment', name: 'web' }));
    if (hpa)
      shop.server.seed('HorizontalPodAutoscaler', 'shop', {
        metadata: { name: 'web' },
        spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } },
      });
    assert.equal(await wayOf(shop, 'Unschedulable'), want);
  });

test('back to more than a tap may set is not offered', async () => {
  const shop = aRollout({
    pods: [...Array.from({ length: 60 }, () => good), late()],
    deployment: { ...scaled, spec: { replicas: 61 } },
  });
  await shop.clock.advance(120_000);
  shop.say('ScalingReplicaSet', 'Scaled up replica set web-2 from 60 to 61', { kind: 'Deployment', name: 'web' });
  assert.match(
    await wayOf(shop, 'Unschedulable'),
    /^it was scaled 60 → 61 at \S+, and 50 are the most that tapfix sets$/,
  );
});

test('scaling back says who scaled it when, and who stays', async () => {
  const shop = aRollout({ pods: [good, late(), late()], deployment: scaled });
  await shop.clock.advance(120_000);
  shop.say('ScalingReplicaSet', 'Scaled up replica set web-2 from 1 to 3', { kind: 'Deployment', name: 'web' });
  assert.equal(
    (await shop.ask('Unschedulable'))?.rationale,
    'It was scaled 1 → 3 at 2026-11-16T03:13:59.000Z (kubectl), and 2 pods have found no node since; those that wait go first, those that run stay. To undo:\nkubectl -n shop scale deploy/web --replicas=3',
  );
});

for (const { claimed, want } of [
  { claimed: 4, want: back(4) },
  {
    claimed: 1,
    want: 'it was scaled 1 → 6 at 2026-11-16T03:14:00.000Z, as an Event says, but 4 of its pods are older than those that wait',
  },
])
  test(`an Event that says there were ${claimed} pods before, when 4 older ones run: ${want}`, async () => {
    const shop = aRollout({
      pods: [good, good, good, good, late(), late()],
      deployment: { metadata: booksAt(undefined), spec: { replicas: 6 } },
    });
    await shop.clock.advance(120_000);
    for (const { metadata, status } of shop.server.list('Pod', 'shop')) {
      const isOld = (status as { phase: string }).phase === 'Running';
      const creationTimestamp = isOld ? '2026-11-16T02:00:00Z' : now;
      shop.server.change('Pod', 'shop', metadata.name, { metadata: { creationTimestamp } });
    }
    shop.say('ScalingReplicaSet', `Scaled up replica set web-2 from ${claimed} to 6`, {
      kind: 'Deployment',
      name: 'web',
    });
    assert.equal(await wayOf(shop, 'Unschedulable'), want);
  });
