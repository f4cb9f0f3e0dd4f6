import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HealthSubject, readHealth } from '../../../src/diagnosis/health.ts';
import type { LiveHealth } from '../../../src/health/trouble.ts';
import { ApiError } from '../../../src/kube/api.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import { aShop, aWorkload, ownedBy, type Owner, type Shop } from './support.ts';

/* Nodes, StorageClasses, claims and autoscalers, by a fresh reading. */

const nowMs = Date.parse('2026-11-16T03:12:00Z');
const condition = (type: string, status: string, reason = 'R') => ({ type, status, reason, message: `${reason}.` });

function verdict({ gone, healthy, ended, why, troubles, affected }: LiveHealth): string {
  if (gone) return 'gone';
  if (healthy) return ended ? `ended: ${ended}` : 'healthy';
  const words = troubles.length > 0 ? troubles.join() : `nothing: ${why}`;
  return affected.length > 0 ? `${words} of ${affected.join(' ')}` : words;
}

function aNode({ server }: Shop, status?: string, name = 'n-1'): Owner {
  const conditions = status === undefined ? [] : [condition('Ready', status, 'NodeStatusUnknown')];
  const { metadata } = server.seed('Node', undefined, { metadata: { name }, status: { conditions } });
  return { kind: 'Node', name, uid: metadata.uid };
}

function aPodOn(
  { server }: Shop,
  name: string,
  owner: Owner | undefined,
  spec: object,
  namespace = 'shop',
  phase = 'Running',
) {
  server.seed('Pod', namespace, { metadata: { name, ...(owner && ownedBy(owner)) }, spec, status: { phase } });
}

const onNode = { nodeName: 'n-1' };
function aNodeWithPods(shop: Shop): Owner {
  const deployment = aWorkload(shop, 'Deployment', {}, {});
  const set = aWorkload(shop, 'ReplicaSet', {}, {}, deployment);
  const rollout = { kind: 'Rollout', name: 'canary', uid: 'r-1' };
  const cronJob = aWorkload(shop, 'CronJob', {}, {});
  for (const name of ['p-1', 'p-2']) aPodOn(shop, name, set, onNode);
  aPodOn(shop, 'p-3', rollout, onNode);
  aPodOn(shop, 'p-4', aWorkload(shop, 'Job', {}, {}, cronJob), onNode);
  aPodOn(shop, 'alone', undefined, onNode);
  aPodOn(shop, 'done', undefined, onNode, 'shop', 'Succeeded');
  aPodOn(shop, 'elsewhere', undefined, { nodeName: 'n-2' });
  aPodOn(shop, 'not-ours', undefined, onNode, 'other');
  return aNode(shop, 'Unknown');
}
const theirs = 'shop/CronJob/a-cronjob shop/Deployment/a-deployment shop/Pod/alone shop/Rollout/canary';

function aClaim({ server }: Shop, phase = 'Pending', spec: object = { storageClassName: 'fast' }): Owner {
  const { metadata } = server.seed('PersistentVolumeClaim', 'shop', {
    metadata: { name: 'data' },
    spec,
    status: { phase },
  });
  return { kind: 'PersistentVolumeClaim', name: 'data', uid: metadata.uid };
}
const aClass = ({ server }: Shop, volumeBindingMode = 'Immediate') =>
  void server.seed('StorageClass', undefined, { metadata: { name: 'fast' }, volumeBindingMode });
const mounting = { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] };
const fast: Owner = { kind: 'StorageClass', name: 'fast', uid: '' };
function anEvent({ server }: Shop, object: Owner, reason: string, message: string): void {
  server.seed('Event', 'shop', {
    metadata: { name: `e-${server.list('Event').length}` },
    reason,
    message,
    involvedObject: object,
  });
}
const notFound = 'storageclass.storage.k8s.io "fast" not found';

function anAutoscaler({ server }: Shop, ...conditions: object[]): Owner {
  const { metadata } = server.seed('HorizontalPodAutoscaler', 'shop', {
    metadata: { name: 'web' },
    status: { conditions },
  });
  return { kind: 'HorizontalPodAutoscaler', name: 'web', uid: metadata.uid };
}

interface Case {
  make(shop: Shop): Owner;
  subject?: Partial<HealthSubject>;
  forbidden?: Kind;
  want: string;
}
const isShop = (namespace: string): boolean => namespace === 'shop';
const cases: Record<string, Case> = {
  'a node that is ready': { make: (shop) => aNode(shop, 'True'), want: 'healthy' },
  'a node that is silent, and whose pods are whose': {
    make: aNodeWithPods,
    subject: { reach: { scopes: [undefined], isSelected: isShop } },
    want: `NodeDown of ${theirs}`,
  },
  'the same where two namespaces are watched': {
    make: aNodeWithPods,
    subject: { reach: { scopes: ['shop', 'pay'], isSelected: () => true } },
    want: `NodeDown of ${theirs}`,
  },
  'the same where pods may not be listed': { make: aNodeWithPods, forbidden: 'Pod', want: 'NodeDown' },
  'a node that never spoke': { make: (shop) => aNode(shop), want: 'nothing: it has not said that it is ready' },
  'a node that is gone': { make: () => ({ kind: 'Node', name: 'n-1', uid: 'x' }), want: 'gone' },
  'another node of that name': { make: (shop) => ({ ...aNode(shop, 'False'), uid: 'before' }), want: 'gone' },
  'a node that may not be read: neither broken nor over': {
    make: (shop) => aNode(shop, 'False'),
    forbidden: 'Node',
    want: 'nothing: it may not be read',
  },

  'a claim that is bound': { make: (shop) => aClaim(shop, 'Bound'), want: 'healthy' },
  'a claim that is gone': { make: () => ({ kind: 'PersistentVolumeClaim', name: 'data', uid: 'x' }), want: 'gone' },
  'a claim that nobody makes a volume for': {
    make: (shop) => {
      aClass(shop);
      aPodOn(shop, 'web', undefined, mounting);
      return aClaim(shop);
    },
    want: 'StorageFailed of Pod/web',
  },
  'a claim whose class is not there: the class`s trouble': {
    make: aClaim,
    want: 'nothing: StorageClass fast does not exist of PersistentVolumeClaim/data',
  },
  'a claim that waits for its first consumer': {
    make: (shop) => {
      aClass(shop, 'WaitForFirstConsumer');
      return aClaim(shop);
    },
    want: 'ended: it waits for a pod that wants it',
  },
  'a claim whose provisioner fails': {
    make: (shop) => {
      aClass(shop, 'WaitForFirstConsumer');
      const claim = aClaim(shop);
      anEvent(shop, claim, 'ProvisioningFailed', 'rpc error');
      return claim;
    },
    want: 'StorageFailed of PersistentVolumeClaim/data',
  },
  'a claim whose class may not be read': {
    make: (shop) => aClaim(shop),
    forbidden: 'StorageClass',
    want: 'nothing: it is not bound yet',
  },
  'a claim whose class may not be read, but its events': {
    make: (shop) => {
      const claim = aClaim(shop);
      anEvent(shop, claim, 'ProvisioningFailed', notFound);
      return claim;
    },
    forbidden: 'StorageClass',
    want: `nothing: ${notFound} of PersistentVolumeClaim/data`,
  },

  'a class that is not there': {
    make: (shop) => {
      aClaim(shop);
      aPodOn(shop, 'web', undefined, mounting);
      return fast;
    },
    want: 'StorageFailed of shop/Pod/web',
  },
  'a class that is not there, and nobody mounts the claim': {
    make: (shop) => {
      aClaim(shop);
      return fast;
    },
    want: 'StorageFailed of shop/PersistentVolumeClaim/data',
  },
  'a class that may not be read, and its claim says that it is not there': {
    make: (shop) => {
      anEvent(shop, aClaim(shop), 'ProvisioningFailed', notFound);
      return fast;
    },
    forbidden: 'StorageClass',
    want: 'StorageFailed of shop/PersistentVolumeClaim/data',
  },
  'a class that may not be read, and nobody says anything': {
    make: (shop) => {
      aClaim(shop);
      return fast;
    },
    forbidden: 'StorageClass',
    want: 'nothing: it may not be read',
  },
  'a class that is there by now': {
    make: (shop) => {
      aClass(shop);
      aClaim(shop);
      return fast;
    },
    want: 'healthy',
  },
  'a class that nobody asks for any more': {
    make: (shop) => {
      aClaim(shop, 'Bound');
      return fast;
    },
    want: 'ended: no claim asks for it any more',
  },
  'a class whose only claim is another namespace`s': {
    make: (shop) => {
      aClaim(shop);
      return fast;
    },
    subject: { reach: { scopes: [undefined], isSelected: () => false } },
    want: 'ended: no claim asks for it any more',
  },

  'an autoscaler without metrics': {
    make: (shop) =>
      anAutoscaler(
        shop,
        condition('AbleToScale', 'True'),
        condition('ScalingActive', 'False', 'FailedGetResourceMetric'),
      ),
    want: 'AutoscalerBlind',
  },
  'an autoscaler that sees': {
    make: (shop) => anAutoscaler(shop, condition('AbleToScale', 'True'), condition('ScalingActive', 'True')),
    want: 'healthy',
  },
  'an autoscaler whose target is off': {
    make: (shop) =>
      anAutoscaler(shop, condition('AbleToScale', 'True'), condition('ScalingActive', 'False', 'ScalingDisabled')),
    want: 'ended: its target was scaled to zero',
  },
  'an autoscaler that has not spoken yet': {
    make: (shop) => anAutoscaler(shop),
    want: 'nothing: it has not said anything yet',
  },
};

for (const [name, { make, subject, forbidden, want }] of Object.entries(cases))
  test(`${name}: ${want}`, async () => {
    const shop = aShop();
    const object = make(shop);
    shop.server.hooks.before = ({ kind }) => {
      if (kind === forbidden) throw new ApiError('no', 403, 'Forbidden');
    };
    const namespace = ['Node', 'StorageClass'].includes(object.kind) ? 'tapfix' : 'shop';
    assert.equal(verdict(await readHealth(shop.reader, { namespace, object, ...subject }, nowMs)), want);
  });

const downCases: [string, object, object, boolean][] = [
  ['has none ready', { replicas: 2 }, { replicas: 2 }, true],
  ['has some', { replicas: 2 }, { replicas: 2, availableReplicas: 1 }, false],
  ['wants none', { replicas: 0 }, {}, false],
];
for (const [name, spec, status, want] of downCases)
  test(`a workload that waits for its storage ${name}: its cause ${want ? 'takes it down' : 'does not take it down'}`, async () => {
    const shop = aShop();
    aPodOn(shop, 'web', aWorkload(shop, 'StatefulSet', spec, status), mounting);
    const claim = aClaim(shop);
    const ofClass = await readHealth(shop.reader, { namespace: 'tapfix', object: fast }, nowMs);
    aClass(shop);
    const ofClaim = await readHealth(shop.reader, { namespace: 'shop', object: claim }, nowMs);
    assert.deepEqual([ofClass.hasOneDown, ofClaim.hasOneDown], [want, want]);
  });

test('a reading that fails for another reason is a failure, never a verdict', async () => {
  const shop = aShop();
  const node = aNode(shop, 'False');
  shop.server.hooks.before = () => {
    throw new Error('connection reset');
  };
  await assert.rejects(readHealth(shop.reader, { namespace: 'tapfix', object: node }, nowMs), /connection reset/);
});
