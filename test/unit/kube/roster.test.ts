import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { createRoster } from '../../../src/kube/roster.ts';

const meta = (name: string, uid: string, namespace = 'shop') => ({
  name,
  namespace,
  uid,
  resourceVersion: '1',
  creationTimestamp: '2026-11-17T03:00:00Z',
});
const set = (name: string, uid: string): KubeObject => ({ metadata: meta(name, uid) });
const pod = (name: string, uid: string, ownerUid: string): KubeObject => ({
  metadata: {
    ...meta(name, uid),
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api-1', uid: ownerUid, controller: true }],
  },
});

test('an object that a watch has shown is known with its owner, in its own namespace only', () => {
  const roster = createRoster();
  const roll = roster.roll('Pod', undefined);
  roll.begin();
  roll.saw(pod('api-1-x', 'p1', 'r1'));
  assert.deepEqual(roster.ownerOf('shop', 'p1'), { kind: 'ReplicaSet', name: 'api-1', uid: 'r1' });
  roll.complete();
  assert.deepEqual(roster.ownerOf('shop', 'p1'), { kind: 'ReplicaSet', name: 'api-1', uid: 'r1' });
  assert.equal(roster.ownerOf('other', 'p1'), undefined, 'an Event of another namespace can name any uid');
  assert.equal(roster.ownerOf('shop', 'p2'), undefined);
});

test('the owner of a pod that was deleted is still known, and it may have had none', () => {
  const roster = createRoster();
  const roll = roster.roll('Pod', undefined);
  roll.complete();
  roll.saw(pod('api-1-x', 'p1', 'r1'));
  roll.saw({ metadata: meta('lonely', 'p2') });
  roll.left(meta('api-1-x', 'p1'));
  roll.left(meta('lonely', 'p2'));
  assert.equal(roster.ownerOf('shop', 'p1')?.uid, 'r1');
  assert.equal(roster.ownerOf('shop', 'p2'), null);
});

test('that something does not exist is known only while the list is whole and the watch works', () => {
  const roster = createRoster();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), undefined, 'nobody watches');
  const roll = roster.roll('ReplicaSet', undefined);
  roll.begin();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), undefined, 'the list is being read');
  roll.complete();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), null);
  roll.doubt();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), undefined, 'the watch is broken');
  roll.saw(set('api-2', 'r2'));
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), null, 'it sends lines again');
  roll.skipped();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), undefined, 'one of them was too large to be read');
  roll.begin();
  roll.complete();
  roll.end();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), undefined, 'nobody watches any more');
});

test('what a new list does not show is gone', () => {
  const roster = createRoster();
  const roll = roster.roll('ReplicaSet', 'shop');
  roll.begin();
  roll.saw(set('api-1', 'r1'));
  roll.complete();
  roll.begin();
  roll.saw(set('api-2', 'r2'));
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1')?.uid, 'r1', 'until the list is whole it may still come');
  roll.complete();
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1'), null);
  assert.deepEqual(roster.all('ReplicaSet', 'shop'), [{ name: 'api-2', uid: 'r2' }]);
});

test('an object that was deleted and created again under its name stays known', () => {
  const roster = createRoster();
  const roll = roster.roll('ReplicaSet', undefined);
  roll.complete();
  roll.saw(set('api-1', 'old'));
  roll.saw(set('api-1', 'new'));
  roll.left(meta('api-1', 'old'));
  assert.equal(roster.find('ReplicaSet', 'shop', 'api-1')?.uid, 'new');
});

test('each object that was not known before is announced once', () => {
  const roster = createRoster();
  const heard: string[] = [];
  roster.onNew((uid) => heard.push(uid));
  const roll = roster.roll('Pod', undefined);
  roll.begin();
  roll.saw(pod('a', 'p1', 'r1'));
  roll.complete();
  roll.saw(pod('a', 'p1', 'r1'));
  roll.saw(pod('b', 'p2', 'r1'));
  assert.deepEqual(heard, ['p1', 'p2']);
});
