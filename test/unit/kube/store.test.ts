import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../src/kube/api.ts';
import { hearing } from '../../../src/kube/store.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aFix, aNoticeOf } from '../../support/fixes.ts';
import { noticeStore } from '../../support/stores.ts';

const object = (name: string, namespace: string): KubeObject => ({
  metadata: { name, namespace, uid: `${namespace}-${name}`, resourceVersion: '1', creationTimestamp: '' },
});

test('a listener that is told only of its own still hears that something is gone', () => {
  const heard: string[] = [];
  const { onList, onChange } = hearing<KubeObject>(({ metadata }) => metadata.namespace === 'a', {
    onList: (views) => heard.push(`list ${views.map(({ metadata }) => metadata.name).join()}`),
    onChange: (change) => heard.push(change.type === 'gone' ? `gone ${change.name}` : change.view.metadata.name),
  });
  onList([object('one', 'a'), object('two', 'b')], []);
  onChange({ type: 'upsert', view: object('three', 'a') });
  onChange({ type: 'upsert', view: object('four', 'b') });
  onChange({ type: 'gone', namespace: 'b', name: 'two', uid: 'b-two' });
  assert.deepEqual(heard, ['list one', 'three', 'gone two']);
});

test('a list proves the absence of a Notice that is older than a minute, and knows one that was made anew', async () => {
  const clock = fakeClock();
  const { store, list, apply } = noticeStore(clock);
  const gone: string[] = [];
  store.subscribe({ onList: (_, those) => gone.push(...those.map(({ metadata }) => metadata.name)), onChange() {} });
  list([]);
  const notice = aNoticeOf([aFix()]);
  const { name, namespace = '' } = notice.metadata;
  store.put({ ...notice, metadata: { ...notice.metadata, resourceVersion: '9' } });
  list([]);
  assert.deepEqual(gone, []);
  apply({ type: 'upsert', view: { ...notice, metadata: { ...notice.metadata, uid: 'anew', resourceVersion: '5' } } });
  assert.equal(store.named(namespace, name)?.metadata.uid, 'anew');
  await clock.advance(60_000);
  list([]);
  assert.deepEqual(gone, [name]);
});
