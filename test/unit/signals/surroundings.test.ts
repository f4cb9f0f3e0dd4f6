import assert from 'node:assert/strict';
import { test } from 'node:test';
import { viewNode } from '../../../src/kube/views.ts';
import { createSurroundings } from '../../../src/signals/surroundings.ts';
import { aPod } from '../../support/views.ts';
import { meta } from './a-source.ts';

const condition = (type: string, status: string, reason: string) => ({ type, status, reason, message: `${reason}!` });

const node = (name: string, ready: string) => ({
  metadata: { ...meta(name), namespace: undefined },
  status: { conditions: [condition('Ready', ready, 'NodeStatusUnknown')] },
});

test('a list of one namespace says nothing about the pods of another', () => {
  const { around, caches } = createSurroundings();
  const placed = (name: string, namespace: string) => aPod({ name, uid: name, namespace, node: 'n-1', ready: false });
  caches.nodes.set(viewNode(node('n-1', 'False') as never)!);
  caches.pods.replace([placed('a', 'shop'), placed('b', 'shop')], 'shop');
  caches.pods.replace([placed('c', 'pay')], 'pay');
  caches.pods.replace([placed('b', 'shop')], 'shop');
  assert.deepEqual(
    around
      .podsOn('n-1')
      .map(({ name }) => name)
      .sort(),
    ['b', 'c'],
  );
  caches.pods.replace([], undefined);
  assert.deepEqual(around.podsOn('n-1'), []);
});
