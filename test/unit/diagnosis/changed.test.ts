import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastRollout, lastWriterOf, templateChanges } from '../../../src/diagnosis/changed.ts';
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

const template = { 'f:spec': { 'f:template': { 'f:spec': {} } } };
const replicas = { 'f:spec': { 'f:replicas': {} } };

test('the last writer of the template is named, not who scaled it, annotated it or writes the status', () => {
  const fields = [
    { manager: 'kubectl-create', time: '2026-11-16T01:00:00Z', fieldsV1: template },
    { manager: 'kubectl-set', time: '2026-11-16T02:00:00Z', fieldsV1: template },
    { manager: 'hpa', time: '2026-11-16T03:00:00Z', fieldsV1: replicas },
    { manager: 'kubectl-annotate', time: '2026-11-16T03:00:00Z', fieldsV1: { 'f:metadata': { 'f:annotations': {} } } },
    { manager: 'kube-controller-manager', time: '2026-11-16T03:00:00Z', subresource: 'status', fieldsV1: template },
  ];
  const at = (hour: number): number => Date.parse(`2026-11-16T0${hour}:00:00Z`);
  assert.deepEqual(lastWriterOf(object(fields), ['spec', 'template']), { by: 'kubectl-set', atMs: at(2) });
  assert.deepEqual(lastWriterOf(object(fields), ['spec']), { by: 'hpa', atMs: at(3) });
  assert.equal(lastWriterOf(object(), ['spec']), undefined);
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
    name: 'the newest against the one before it',
    revisions: [revision(42, 'a:3'), revision(41, 'a:2'), revision(40, 'a:1')],
    want: ['2026-11-16T02:11:40.000Z rollout 42: app image 2 → 3'],
  },
  {
    name: 'a change that has no words',
    revisions: [revision(2, 'a:1'), revision(1, 'a:1')],
    want: ['2026-11-16T02:11:40.000Z rollout 2: pod template changed'],
  },
];
for (const { name, revisions, want } of rollouts)
  test(`the last rollout in words: ${name}`, () => assert.deepEqual(lastRollout(object(), revisions), want));

test('a rollout names who made it and when, even to an old ReplicaSet, and stays short', () => {
  const by = object([{ manager: 'kubectl-rollout', time: '2026-11-16T03:00:00Z', fieldsV1: template }]);
  const long = { ...revision(2, 'a:2'), template: templateOf(...Array.from({ length: 99 }, (_, n) => app({ name: `c${n}` }))) }; // prettier-ignore
  const [line] = lastRollout(by, [long, revision(1, 'a:1')]);
  assert.match(line!, /^2026-11-16T03:00:00.000Z rollout 2 \(kubectl-rollout\): container c0 added/);
  assert.equal(line!.length, 512);
});
