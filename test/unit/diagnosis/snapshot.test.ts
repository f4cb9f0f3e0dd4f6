import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAffected } from '../../../src/diagnosis/health.ts';
import { createSnapshot } from '../../../src/diagnosis/readers.ts';
import { blockedByQuota } from '../../support/street.ts';
import { aShop } from './support.ts';

const names = Array.from({ length: 40 }, (_, n) => `w${n}`);

test('many workloads are read from one list of each kind, and judged as if read singly', async () => {
  const shop = aShop();
  blockedByQuota(shop, names);
  const live = await readAffected(
    shop.reader,
    'shop',
    names.map((name) => `Deployment/${name}`),
    0,
  );
  assert.deepEqual([live.healthy, live.desired], [false, 80]);
  assert.deepEqual(shop.server.calls.map(({ verb, kind }) => `${verb} ${kind}`).sort(), [
    'list Deployment',
    'list Pod',
    'list ReplicaSet',
  ]);
  const two = await readAffected(shop.reader, 'shop', ['Deployment/w1', 'Deployment/w2'], 0);
  assert.deepEqual([two.healthy, two.desired], [false, 4]);
});

test('a snapshot answers as the reader does', async () => {
  const shop = aShop();
  blockedByQuota(shop, ['api', 'web']);
  const snapshot = createSnapshot(shop.reader, 'shop');
  for (const [name, namespace] of [
    ['api', 'shop'],
    ['nobody', 'shop'],
    ['api', 'other'],
  ] as const)
    assert.deepEqual(
      await snapshot.get({ kind: 'Deployment', namespace, name }),
      await shop.reader.get({ kind: 'Deployment', namespace, name }),
    );
  for (const labelSelector of ['app=api', 'app=api,tier=x', ''])
    assert.deepEqual(
      await snapshot.list('ReplicaSet', 'shop', { labelSelector }),
      await shop.reader.list('ReplicaSet', 'shop', labelSelector ? { labelSelector } : {}),
    );
  const fieldSelector = 'reason=FailedCreate';
  assert.deepEqual(await snapshot.list('Event', 'shop', { fieldSelector }), []);
});
