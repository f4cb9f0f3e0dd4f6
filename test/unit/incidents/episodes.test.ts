import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEpisodes } from '../../../src/incidents/episodes.ts';
import { fold } from '../../../src/incidents/incident.ts';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { aConfig } from '../../support/config.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aFix, condition, uidOf } from '../../support/fixes.ts';
import { fixStore } from '../../support/stores.ts';

const version = (fix: Remediation, resourceVersion: string): Remediation => ({
  ...fix,
  metadata: { ...fix.metadata, resourceVersion },
});
const over = { conditions: [condition('IncidentCleared', '02:50:00')] };
const key = aFix().spec.incident.key;

test('the newest Remediation whose episode is not over holds the key', () => {
  const { store, list } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  list([aFix({ n: 2 }), aFix({ n: 10 }), aFix({ n: 11, ...over })]);
  assert.equal(episodes.holderOf(key)?.metadata.uid, uidOf(10));
  assert.deepEqual(
    episodes.ofKey(key).map(({ metadata }) => metadata.uid),
    [11, 10, 2].map(uidOf),
  );
  assert.deepEqual(
    episodes.open().map(({ metadata }) => metadata.uid),
    [2, 10].map(uidOf),
  );
});

test('an older view does not take back what is known', () => {
  const { store } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  episodes.remember(version(aFix(over), '10'));
  episodes.remember(version(aFix(), '9'));
  assert.equal(episodes.holderOf(key), undefined);
  episodes.remember(version(aFix(), '11'));
  assert.equal(episodes.holderOf(key)?.metadata.uid, uidOf(1));
});

test('what is missing from a list was deleted while nobody looked', () => {
  const { store, list } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  list([aFix()]);
  list([]);
  assert.equal(episodes.holderOf(key), undefined);
});

const signal = (failureClass: string) => ({
  class: failureClass,
  namespace: 'shop',
  object: { kind: 'Pod', name: 'p', uid: 'p' },
  reason: 'R',
  message: failureClass,
});
const object = { kind: 'Deployment', name: 'checkout', uid: 'd' };
const seen = (failureClass: string, specificity: number, atMs: number, forMs = 30_000) =>
  ({
    key,
    namespace: 'shop',
    object,
    signal: signal(failureClass),
    row: { severity: 'critical', readable: true, specificity, forMs },
    nowMs: atMs,
  }) as const;

test('after a restart a signal goes on counting, and what is more specific is known to be so', () => {
  const { store, list } = fixStore(fakeClock());
  const episodes = createEpisodes(store, store.put);
  list([aFix()]);
  const rowOf = (name: string) => classOf(name, aConfig());
  const again = fold(episodes.incidentOf(key, rowOf), { ...seen('RolloutStuck', 1, 0), row: rowOf('RolloutStuck') });
  assert.deepEqual([again.seen[0].class, again.count], ['CrashLoop', aFix().status!.sightings!.count + 1]);
  const specific = fold(again, { ...seen('OOMKilled', 1, 0), row: rowOf('OOMKilled') });
  assert.equal(specific.seen[0].class, 'OOMKilled');
});
