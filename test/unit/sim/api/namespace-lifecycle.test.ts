import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aPod, aRevision } from '../../../contract/builders.ts';
import { rig } from './rig.ts';

test('a namespace that ends is empty a second later, unless a pod still has to be stopped', async () => {
  const { api, clock, ask } = await rig();
  await api.create({ kind: 'Pod', namespace: 'shop' }, aPod('p', { nodeName: 'n' }));
  await api.create({ kind: 'ControllerRevision', namespace: 'shop' }, aRevision('a'));
  await api.delete({ kind: 'Namespace', name: 'shop' });
  assert.equal((await api.list('ControllerRevision', 'shop')).length, 1);
  await clock.advance(1_000);
  assert.equal((await api.list('ControllerRevision', 'shop')).length, 0);
  assert.ok((await api.get({ kind: 'Pod', namespace: 'shop', name: 'p' }))?.metadata.deletionTimestamp);
  assert.ok(await api.get({ kind: 'Namespace', name: 'shop' }));
  await ask('DELETE', '/api/v1/namespaces/shop/pods/p', { gracePeriodSeconds: 0 });
  assert.equal(await api.get({ kind: 'Namespace', name: 'shop' }), undefined);
});
