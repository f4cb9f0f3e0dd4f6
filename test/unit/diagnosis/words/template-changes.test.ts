import assert from 'node:assert/strict';
import { test } from 'node:test';
import { templateChanges } from '../../../../src/diagnosis/words/template-changes.ts';
import type { PodTemplate } from '../../../../src/kube/views.ts';

const templateOf = (containers: object[], spec: object = {}, metadata: object = {}): PodTemplate =>
  ({ metadata, spec: { containers, ...spec } }) as never;
const app = (over: object = {}): object => ({ name: 'app', image: 'shop/app:1.41', ...over });
const env = (...pairs: [string, string][]): object => ({ env: pairs.map(([name, value]) => ({ name, value })) });
const from = (name: string, key = 'k'): object => ({
  env: [{ name: 'X', valueFrom: { secretKeyRef: { name, key } } }],
});
const memory = (limit?: string): object => ({ resources: { limits: limit ? { memory: limit } : {} } });
const probe = (over: object = {}): object => ({
  readinessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10, ...over },
});

const containers: { name: string; before?: object[]; after: object[]; want: string[] }[] = [
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
  {
    name: 'an image that was not there',
    before: [{ name: 'app' }],
    after: [app()],
    want: ['app image (none) → shop/app:1.41'],
  },
  { name: 'nothing', after: [app()], want: [] },
  {
    name: 'the same in another order',
    before: [app({ resources: { limits: { cpu: '1', memory: '1Gi' } } })],
    after: [app({ resources: { limits: { memory: '1Gi', cpu: '1' } } })],
    want: [],
  },
  {
    name: 'a limit',
    before: [app(memory('256Mi'))],
    after: [app(memory('64Mi'))],
    want: ['app limit memory 256Mi → 64Mi'],
  },
  {
    name: 'a new limit and a request',
    after: [app({ resources: { limits: { memory: '64Mi' }, requests: { cpu: '4' } } })],
    want: ['app limit memory (none) → 64Mi', 'app request cpu (none) → 4'],
  },
  {
    name: 'a plain variable',
    before: [app(env(['LOG_LEVEL', 'info']))],
    after: [app(env(['LOG_LEVEL', 'debug']))],
    want: ['app env LOG_LEVEL changed'],
  },
  {
    name: 'a variable that became empty',
    before: [app(env(['MODE', 'a']))],
    after: [app(env(['MODE', '']))],
    want: ['app env MODE changed'],
  },
  {
    name: 'one that came and one that went',
    before: [app(env(['A', '1']))],
    after: [app(env(['B', '1']))],
    want: ['app env B added', 'app env A removed'],
  },
  {
    name: 'a variable whose name is a secret',
    before: [app(env(['DB_PASSWORD', 'a']))],
    after: [app(env(['DB_PASSWORD', 'b']))],
    want: ['app env DB_PASSWORD changed'],
  },
  {
    name: 'a variable whose value holds one',
    before: [app(env(['DB', 'postgres://a:b@c/d']))],
    after: [app(env(['DB', 'postgres://a:x@c/d']))],
    want: ['app env DB changed'],
  },
  {
    name: 'a variable whose value looks made',
    before: [app(env(['SALT', 'a1b2c3d4e5f6a7b8']))],
    after: [app(env(['SALT', 'x']))],
    want: ['app env SALT changed'],
  },
  {
    name: 'a long value',
    before: [app(env(['TEXT', 'a'.repeat(41)]))],
    after: [app(env(['TEXT', 'b']))],
    want: ['app env TEXT changed'],
  },
  {
    name: 'a variable that is read from elsewhere',
    before: [app(from('a'))],
    after: [app(from('b'))],
    want: ['app env X changed'],
  },
  {
    name: 'where all of them come from',
    before: [app({ envFrom: [{ configMapRef: { name: 'web-5f' } }] })],
    after: [app({ envFrom: [{ configMapRef: { name: 'web-7c' } }] })],
    want: ['app envFrom ConfigMap web-5f → ConfigMap web-7c'],
  },
  {
    name: 'one argument',
    before: [app({ args: ['serve', '--workers=4'] })],
    after: [app({ args: ['serve', '--workers=8'] })],
    want: ['app args changed'],
  },
  {
    name: 'arguments of which one is a secret',
    before: [app({ args: ['--password', 'hunter2'] })],
    after: [app({ args: ['--password', 'hunter3'] })],
    want: ['app args changed'],
  },
  {
    name: 'several arguments',
    before: [app({ args: ['a', 'b'] })],
    after: [app({ args: ['c', 'd'] })],
    want: ['app args changed'],
  },
  {
    name: 'arguments in another order',
    before: [app({ args: ['a', 'b'] })],
    after: [app({ args: ['b', 'a'] })],
    want: ['app args changed'],
  },
  {
    name: 'where a probe asks',
    before: [app(probe())],
    after: [app(probe({ httpGet: { path: '/ready', port: 8080 } }))],
    want: ['app readiness probe path /healthz → /ready'],
  },
  {
    name: 'a query of a probe',
    before: [app(probe())],
    after: [app(probe({ httpGet: { path: '/healthz?key=hunter2', port: 8080 } }))],
    want: ['app readiness probe path /healthz → /healthz?[redacted]'],
  },
  {
    name: 'how often a probe asks',
    before: [app(probe())],
    after: [app(probe({ periodSeconds: 1, timeoutSeconds: 1 }))],
    want: ['app readiness probe periodSeconds 10 → 1, timeoutSeconds (none) → 1'],
  },
  {
    name: 'a probe with a header',
    before: [app(probe())],
    after: [
      app(probe({ httpGet: { path: '/healthz', port: 8080, httpHeaders: [{ name: 'Authorization', value: 'x' }] } })),
    ],
    want: ['app readiness probe changed'],
  },
  { name: 'a new probe', after: [app({ livenessProbe: {} })], want: ['app liveness probe added'] },
  { name: 'anything else', after: [app({ ports: [{ containerPort: 1 }] })], want: ['app ports changed'] },
  { name: 'another container', after: [app(), { name: 'sidecar' }], want: ['container sidecar added'] },
  {
    name: 'a container less',
    before: [app(), { name: 'sidecar' }],
    after: [app()],
    want: ['container sidecar removed'],
  },
  {
    name: 'what matters most first',
    before: [app(probe()), { name: 'b', image: 'b:1' }],
    after: [app({ ...probe({ periodSeconds: 1 }), ...memory('64Mi') }), { name: 'b', image: 'b:2' }],
    want: ['b image 1 → 2', 'app limit memory (none) → 64Mi', 'app readiness probe periodSeconds 10 → 1'],
  },
  {
    name: 'no more than a few',
    after: [app({ a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1 })],
    want: [
      'app a changed',
      'app b changed',
      'app c changed',
      'app d changed',
      'app e changed',
      'app f changed',
      'and 2 more',
    ],
  },
  { name: 'templates without containers', before: [], after: [], want: [] },
];
for (const { name, before = [app()], after, want } of containers)
  test(`what changed of containers: ${name}`, () =>
    assert.deepEqual(templateChanges(templateOf(before), templateOf(after)), want));

const volume = (source: object): object => ({ volumes: [{ name: 'v', ...source }] });
const pods: { name: string; before?: object; after?: object; marks?: [object, object]; want: string[] }[] = [
  {
    name: 'a ConfigMap that was replaced',
    before: volume({ configMap: { name: 'web-5f' } }),
    after: volume({ configMap: { name: 'web-7c' } }),
    want: ['volume v ConfigMap web-5f → ConfigMap web-7c'],
  },
  {
    name: 'a volume of another kind',
    before: volume({ emptyDir: {} }),
    after: volume({ secret: { secretName: 's' } }),
    want: ['volume v changed'],
  },
  { name: 'a new volume', after: volume({ emptyDir: {} }), want: ['volume v added'] },
  {
    name: 'a scalar of the pod',
    before: { serviceAccountName: 'a', serviceAccount: 'a' },
    after: { serviceAccountName: 'b', serviceAccount: 'b' },
    want: ['serviceAccountName a → b'],
  },
  { name: 'an object of the pod', after: { nodeSelector: { disk: 'ssd' } }, want: ['nodeSelector changed'] },
  {
    name: 'a checksum of its configuration',
    marks: [{ annotations: { 'checksum/config': 'a' } }, { annotations: { 'checksum/config': 'b' } }],
    want: ['annotation checksum/config changed'],
  },
  {
    name: 'a restart',
    marks: [{}, { annotations: { 'kubectl.kubernetes.io/restartedAt': 'now' } }],
    want: ['restarted by hand'],
  },
  {
    name: 'a label, but not the one that Kubernetes sets',
    marks: [{ labels: { v: '1', 'pod-template-hash': 'a' } }, { labels: { v: '2', 'pod-template-hash': 'b' } }],
    want: ['label v changed'],
  },
  {
    name: 'an init container',
    before: { initContainers: [{ name: 'm', image: 'm:1' }] },
    after: { initContainers: [{ name: 'm', image: 'm:2' }] },
    want: ['init m image 1 → 2'],
  },
];
for (const { name, before = {}, after = {}, marks: [old, now] = [{}, {}], want } of pods)
  test(`what changed of a pod: ${name}`, () =>
    assert.deepEqual(templateChanges(templateOf([app()], before, old), templateOf([app()], after, now)), want));

test('what changed in the container that fails comes first', () => {
  const two = (image: string, value: string) =>
    templateOf([app({ image }), { name: 'proxy', env: [{ name: 'PORT', value }] }], {}, {});
  const [before, after] = [two('a:1', '1'), two('a:2', '2')];
  assert.deepEqual(templateChanges(before, after), ['app image 1 → 2', 'proxy env PORT changed']);
  assert.deepEqual(templateChanges(before, after, ['proxy']), ['proxy env PORT changed', 'app image 1 → 2']);
});

test('templates that are none make no words and no trouble', () => {
  for (const odd of [{}, { spec: null }, { spec: { containers: 7 } }, { spec: { containers: [null, 3] }, metadata: 4 }])
    assert.deepEqual(templateChanges(odd as never, odd as never), []);
});
