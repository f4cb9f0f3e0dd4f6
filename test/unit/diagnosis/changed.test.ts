import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastManager, lastRollout, templateChanges } from '../../../src/diagnosis/changed.ts';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { PodTemplate } from '../../../src/kube/views.ts';
import { aReplicaSet } from '../../support/views.ts';

const templateOf = (...containers: object[]): PodTemplate => ({ spec: { containers: containers as never } });
const app = (over: object = {}): object => ({ name: 'app', image: 'shop/app:1.41', ...over });

const changes = [
  { name: 'the tag alone', after: [app({ image: 'shop/app:1.42' })], want: ['app image 1.41 → 1.42'] },
  {
    name: 'another image of the same tag',
    after: [app({ image: 'shop/api:1.41' })],
    want: ['app image shop/app:1.41 → shop/api:1.41'],
  },
  {
    name: 'a registry with a port is no tag',
    before: [app({ image: 'registry:5000/app' })],
    after: [app({ image: 'registry:5000/app:2' })],
    want: ['app image registry:5000/app → registry:5000/app:2'],
  },
  {
    name: 'a digest is shown in full',
    after: [app({ image: 'shop/app@sha256:abc' })],
    want: ['app image shop/app:1.41 → shop/app@sha256:abc'],
  },
  { name: 'an image that was not there', before: [{ name: 'app' }], after: [app()], want: ['app image (none) → shop/app:1.41'] },
  { name: 'nothing', after: [app()], want: [] },
  {
    name: 'the same in another order',
    before: [app({ resources: { limits: { cpu: '1', memory: '1Gi' } } })],
    after: [app({ resources: { limits: { memory: '1Gi', cpu: '1' } } })],
    want: [],
  },
  {
    name: 'environment, limits and probe',
    after: [app({ env: [{ name: 'A', value: 'b' }], resources: { limits: {} }, readinessProbe: {} })],
    want: ['app env changed', 'app resources changed', 'app readinessProbe changed'],
  },
  { name: 'another container', after: [app(), { name: 'sidecar' }], want: ['container sidecar added'] },
  { name: 'a container less', before: [app(), { name: 'sidecar' }], after: [app()], want: ['container sidecar removed'] },
  { name: 'templates without containers', before: [], after: [], want: [] },
]; // prettier-ignore
for (const { name, before = [app()], after, want } of changes)
  test(`what changed between two templates: ${name}`, () =>
    assert.deepEqual(templateChanges(templateOf(...before), templateOf(...after)), want));

const object = (managedFields?: KubeObject['metadata']['managedFields']): KubeObject => ({
  metadata: { name: 'a', uid: 'd', resourceVersion: '1', creationTimestamp: '', ...(managedFields && { managedFields }) },
}); // prettier-ignore

test('the last writer of the spec is named, not who writes the status', () => {
  const fields = [
    { manager: 'kubectl-create', time: '2026-11-16T01:00:00Z' },
    { manager: 'kubectl-set', time: '2026-11-16T02:00:00Z' },
    { manager: 'kube-controller-manager', time: '2026-11-16T03:00:00Z', subresource: 'status' },
  ];
  assert.equal(lastManager(object(fields as never)), 'kubectl-set');
  assert.equal(lastManager(object()), undefined);
});

const createdAtMs = Date.parse('2026-11-16T02:11:40Z');
const revision = (n: number, image: string) => ({
  view: aReplicaSet({ revision: n, createdAtMs }),
  template: templateOf(app({ image })),
});
const rollouts = [
  { name: 'no revision', revisions: [], want: [] },
  { name: 'one revision is no change', revisions: [revision(1, 'a:1')], want: [] },
  {
    name: 'the newest against the one before it, in the zone that is asked for',
    revisions: [revision(42, 'a:3'), revision(41, 'a:2'), revision(40, 'a:1')],
    want: ['03:11:40 CET rollout 42: app image 2 → 3'],
  },
  {
    name: 'a change that has no words',
    revisions: [revision(2, 'a:1'), revision(1, 'a:1')],
    want: ['03:11:40 CET rollout 2: pod template changed'],
  },
];
for (const { name, revisions, want } of rollouts)
  test(`the last rollout in words: ${name}`, () =>
    assert.deepEqual(
      lastRollout(object(), revisions, 'Europe/Berlin').map((line) => line.replace('GMT+1', 'CET')),
      want,
    ));

test('a rollout names who made it, and stays short', () => {
  const by = object([{ manager: 'kubectl-set', time: '2026-11-16T02:00:00Z' }] as never);
  const long = { ...revision(2, 'a:2'), template: templateOf(...Array.from({ length: 99 }, (_, n) => app({ name: `c${n}` }))) }; // prettier-ignore
  const [line] = lastRollout(by, [long, revision(1, 'a:1')], 'UTC');
  assert.match(line!, /^02:11:40 UTC rollout 2 \(kubectl-set\): container c0 added/);
  assert.equal(line!.length, 512);
});
