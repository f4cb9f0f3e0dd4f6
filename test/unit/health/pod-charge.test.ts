import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultsIn, isLeftToDefaults, noDefaults, podCharge } from '../../../src/health/pod-charge.ts';
import { quantity } from '../../../src/lib/quantity.ts';

type Stated = { requests?: Record<string, string>; limits?: Record<string, string> };
const runs = (resources: Stated, more: object = {}) => ({ name: 'app', resources, ...more });
const mem = (memory: string) => runs({ requests: { memory } });
const sidecar = (memory: string) => ({ ...mem(memory), restartPolicy: 'Always' });
const range = (...limits: object[]) => ({ metadata: {}, spec: { limits } }) as never;
const byDefault = (request: string, limit: string) => ({
  type: 'Container',
  defaultRequest: { memory: request },
  default: { memory: limit },
});

const rows: { name: string; spec: object; ranges?: never[]; want: Record<string, string | undefined> }[] = [
  { name: 'a pod is one pod, whatever it asks', spec: {}, want: { pods: '1', 'count/pods': '1', memory: undefined } },
  {
    name: 'containers add up',
    spec: { containers: [mem('64Mi'), mem('1Gi')] },
    want: { memory: '1088Mi', 'requests.memory': '1088Mi', 'limits.memory': undefined, cpu: undefined },
  },
  {
    name: 'the largest init container, if it is larger',
    spec: { containers: [mem('64Mi')], initContainers: [mem('100Mi'), mem('32Mi')] },
    want: { 'requests.memory': '100Mi' },
  },
  {
    name: 'not the init containers, if the others ask more together',
    spec: { containers: [mem('64Mi'), mem('64Mi')], initContainers: [mem('100Mi')] },
    want: { 'requests.memory': '128Mi' },
  },
  {
    name: 'a sidecar runs beside the containers',
    spec: { containers: [mem('64Mi')], initContainers: [sidecar('16Mi')] },
    want: { 'requests.memory': '80Mi' },
  },
  {
    name: 'a sidecar runs beside the init containers that come after it, not before it',
    spec: { containers: [mem('1Mi')], initContainers: [mem('110Mi'), sidecar('16Mi'), mem('100Mi')] },
    want: { 'requests.memory': '116Mi' },
  },
  {
    name: 'a request that is not stated is the limit',
    spec: { containers: [runs({ limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '100m' } })] },
    want: {
      'requests.cpu': '100m',
      cpu: '100m',
      'limits.cpu': '500m',
      'requests.memory': '1Gi',
      'limits.memory': '1Gi',
    },
  },
  {
    name: 'the overhead is requested as well, and added to limits that exist',
    spec: { containers: [runs({ limits: { memory: '64Mi' } })], overhead: { memory: '8Mi', cpu: '10m' } },
    want: { 'requests.memory': '72Mi', 'limits.memory': '72Mi', 'requests.cpu': '10m', 'limits.cpu': undefined },
  },
  {
    name: 'what the pod states as a whole counts instead of its containers',
    spec: { containers: [mem('64Mi')], resources: { requests: { memory: '200Mi' }, limits: { memory: '300Mi' } } },
    want: { 'requests.memory': '200Mi', 'limits.memory': '300Mi' },
  },
  {
    name: 'a pod with limits as a whole only: its containers’ requests, or else these limits',
    spec: { containers: [mem('64Mi')], resources: { limits: { memory: '300Mi', cpu: '2' } } },
    want: { 'requests.memory': '64Mi', 'limits.memory': '300Mi', 'requests.cpu': '2', 'limits.cpu': '2' },
  },
  {
    name: 'ephemeral storage and huge pages, by both names of a request',
    spec: { containers: [runs({ limits: { 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi' } })] },
    want: {
      'ephemeral-storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
      'limits.ephemeral-storage': '1Gi',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'limits.hugepages-2Mi': undefined,
    },
  },
  {
    name: 'a device, as requests only',
    spec: { containers: [runs({ limits: { 'example.com/gpu': '2' } })] },
    want: { 'requests.example.com/gpu': '2', 'example.com/gpu': undefined, 'limits.example.com/gpu': undefined },
  },
  {
    name: 'what a LimitRange gives to each container that is silent',
    spec: { containers: [mem('1Mi'), runs({})] },
    ranges: [range(byDefault('64Mi', '128Mi'), { type: 'Pod', max: { memory: '1Ti' } })],
    want: { 'requests.memory': '65Mi', 'limits.memory': '256Mi' },
  },
  {
    name: 'a limit of its own is its request, before a LimitRange is asked',
    spec: { containers: [runs({ limits: { memory: '1Gi' } })] },
    ranges: [range(byDefault('64Mi', '128Mi'))],
    want: { 'requests.memory': '1Gi', 'limits.memory': '1Gi' },
  },
  {
    name: 'the smallest of several LimitRanges, whose order is not defined',
    spec: { containers: [runs({})] },
    ranges: [range(byDefault('64Mi', '128Mi')), range(byDefault('16Mi', '512Mi'))],
    want: { 'requests.memory': '16Mi', 'limits.memory': '128Mi' },
  },
];
for (const { name, spec, ranges = [], want } of rows)
  test(`what a quota is charged for a pod: ${name}`, () => {
    const { amounts } = podCharge(spec as never, defaultsIn(ranges));
    const found = Object.fromEntries(Object.keys(want).map((resource) => [resource, amounts.get(resource)]));
    const amount = (text: string | undefined) => (text === undefined ? undefined : quantity(text));
    assert.deepEqual(found, Object.fromEntries(Object.entries(want).map(([key, text]) => [key, amount(text)])));
  });

const two = { containers: [mem('1Mi'), { name: 'second' }], initContainers: [{ name: 'setup' }] };
const silences: [string, object, string, string[]][] = [
  ['memory that one states', two, 'requests.memory', ['second', 'setup']],
  ['memory by its other name', two, 'memory', ['second', 'setup']],
  ['limits that nobody states', two, 'limits.cpu', ['app', 'second', 'setup']],
  ['what a quota does not demand', two, 'requests.ephemeral-storage', []],
  ['pods', two, 'pods', []],
  ['a pod that states it as a whole', { ...two, resources: { requests: { cpu: '1' } } }, 'limits.cpu', []],
];
for (const [name, spec, limited, want] of silences)
  test(`which containers do not state what a quota demands: ${name}`, () =>
    assert.deepEqual(podCharge(spec as never, noDefaults).silentOn(limited), want));

test('a LimitRange speaks for those who are silent', () => {
  const defaults = defaultsIn([range(byDefault('64Mi', '128Mi'))]);
  assert.deepEqual(podCharge(two as never, defaults).silentOn('limits.memory'), []);
});

const qualities: [string, object, boolean][] = [
  ['nothing stated', { containers: [runs({})] }, true],
  ['zero stated', { containers: [runs({ requests: { cpu: '0' } })] }, true],
  ['only a device', { containers: [runs({ limits: { 'example.com/gpu': '1' } })] }, true],
  ['a request', { containers: [mem('1Mi')] }, false],
  ['only an init container asks', { containers: [runs({})], initContainers: [mem('1Mi')] }, false],
  ['the pod as a whole asks', { containers: [runs({})], resources: { limits: { cpu: '1' } } }, false],
];
for (const [name, spec, want] of qualities)
  test(`best effort: ${name}: ${want}`, () => assert.equal(podCharge(spec as never, noDefaults).isBestEffort, want));

test('a LimitRange matters only where a container is silent', () => {
  const spec = { containers: [runs({ limits: { memory: '1Mi' } })] } as never;
  const asked = [
    'requests.memory',
    'memory',
    'limits.memory',
    'requests.cpu',
    'pods',
    'count/pods',
    'requests.storage',
  ];
  assert.deepEqual(
    asked.filter((limited) => isLeftToDefaults(spec, limited)),
    ['requests.cpu'],
  );
});
