import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  annotationsToAdd,
  newReplicaSet,
  outdated,
  sameTemplate,
  shortHash,
  sorted,
} from '../../../../src/sim/controllers/deployment-revisions.ts';
import { aDeployment, aSet } from '../objects.ts';

const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'app', image }] },
});

test('a hash is up to ten letters of the alphabet, the same for the same template', () => {
  const hashes = Array.from({ length: 200 }, (_, n) => shortHash({ n }));
  for (const hash of hashes) assert.match(hash, /^[456789bcdf]{1,10}$/);
  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal(shortHash({ a: 1, b: 2 }), shortHash({ b: 2, a: 1 }));
});

test('templates are the same whatever the hash label says, and whatever is empty', () => {
  const labelled = { metadata: { labels: { app: 'web', 'pod-template-hash': 'x' }, creationTimestamp: null } };
  assert.ok(sameTemplate({ ...labelled, spec: { containers: [] } } as never, { metadata: { labels: { app: 'web' } } }));
  assert.ok(!sameTemplate(template('a'), template('b')));
});

test('a new ReplicaSet is named, labelled and owned as Kubernetes does it', () => {
  const deployment = aDeployment({ template: template('shop/web:1') });
  deployment.metadata.annotations = { team: 'shop', 'deployment.kubernetes.io/revision': '7' };
  const { metadata, spec } = newReplicaSet(deployment, [aSet('old', { size: 3, revision: 6 })]);
  const hash = metadata.labels['pod-template-hash'];
  assert.equal(metadata.name, `web-${hash}`);
  assert.deepEqual(metadata.annotations, {
    team: 'shop',
    'deployment.kubernetes.io/desired-replicas': '3',
    'deployment.kubernetes.io/max-replicas': '4',
    'deployment.kubernetes.io/revision': '7',
  });
  assert.deepEqual(metadata.ownerReferences, [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: 'uid-web',
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  assert.deepEqual(spec.selector, { matchLabels: { app: 'web', 'pod-template-hash': hash } });
  assert.deepEqual(spec.template.metadata.labels, { app: 'web', 'pod-template-hash': hash });
  assert.equal(spec.replicas, 1);
});

test('one that is taken up again becomes the newest revision and remembers what it was', () => {
  const again = aSet('a', { size: 0, revision: 1 });
  again.spec = { ...again.spec, template: template('shop/web:1') };
  const bad = aSet('b', { size: 3, revision: 2 });
  bad.spec = { ...bad.spec, template: template('shop/web:2') };
  const deployment = aDeployment({ template: template('shop/web:1') });
  const { fresh, old } = sorted(deployment, [bad, again]);
  assert.equal(fresh, again);
  assert.deepEqual(old, [bad]);
  assert.deepEqual(annotationsToAdd(deployment, again, old), {
    'deployment.kubernetes.io/revision': '3',
    'deployment.kubernetes.io/revision-history': '1',
  });
  assert.deepEqual(annotationsToAdd(deployment, aSet('b', { size: 3, revision: 2 }), [again]), {});
});

test('old revisions beyond the limit go, the oldest first, never one that may have pods', () => {
  const deployment = aDeployment({ revisionHistoryLimit: 2 });
  const sets = [
    aSet('r4', { size: 0, revision: 4 }),
    aSet('r1', { size: 0, revision: 1, replicas: 1 }),
    aSet('r2', { size: 0, revision: 2 }),
    aSet('r3', { size: 0, revision: 3 }),
  ];
  assert.deepEqual(
    outdated(deployment, sets).map(({ metadata }) => metadata.name),
    ['r2'],
  );
});
