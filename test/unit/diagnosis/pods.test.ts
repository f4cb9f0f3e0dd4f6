import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksOf, readImagesInUse } from '../../../src/diagnosis/pods.ts';
import { aPodOf, aShop, ownedBy } from './support.ts';

test('images in use are those of containers that are ready, by the workload that a person knows', async () => {
  const shop = aShop();
  const running = { name: 'app', ready: true, restartCount: 0, state: { running: {} } };
  for (const [name, image, owner, ready] of [
    ['web-7d9-a', 'shop/web:1.41', { kind: 'ReplicaSet', name: 'web-7d9', uid: 'r' }, true],
    ['db-0', 'postgres:15', { kind: 'StatefulSet', name: 'db', uid: 's' }, true],
    ['bad', 'shop/web:9', undefined, false],
  ] as const)
    shop.server.seed('Pod', 'shop', {
      metadata: { name, labels: { 'pod-template-hash': '7d9' }, ...(owner && ownedBy(owner)) },
      spec: { containers: [{ name: 'app', image }] },
      status: { containerStatuses: [{ ...running, ready }] },
    });
  aPodOf(shop, 'nameless', undefined, { ...running, name: 'injected' });
  assert.deepEqual(await readImagesInUse(shop.reader, 'shop'), [
    { image: 'postgres:15', workload: 'db' },
    { image: 'shop/web:1.41', workload: 'web' },
  ]);
});

const container = (requests: object, over: object = {}) => ({ resources: { requests }, ...over });
const pods: { name: string; spec: Record<string, unknown>; want: [string, string][] }[] = [
  {
    name: 'one container, in its own words',
    spec: { containers: [container({ cpu: '250m', memory: '64Mi' })] },
    want: [
      ['cpu', '250m'],
      ['memory', '64Mi'],
    ],
  },
  {
    name: 'several together',
    spec: { containers: [container({ cpu: '1500m' }), container({ cpu: '0.5', memory: '1Gi' })] },
    want: [
      ['cpu', '2'],
      ['memory', '1Gi'],
    ],
  },
  {
    name: 'memory is added in whole words',
    spec: { containers: [container({ memory: '512Mi' }), container({ memory: '512Mi' })] },
    want: [['memory', '1Gi']],
  },
  {
    name: 'a sidecar counts with them',
    spec: {
      containers: [container({ cpu: '1' })],
      initContainers: [container({ cpu: '1' }, { restartPolicy: 'Always' })],
    },
    want: [['cpu', '2']],
  },
  {
    name: 'what runs before counts if it is larger',
    spec: { containers: [container({ cpu: '1' })], initContainers: [container({ cpu: '3' }), container({ cpu: '2' })] },
    want: [['cpu', '3']],
  },
  {
    name: 'the pod as a whole',
    spec: { containers: [container({ cpu: '1' })], resources: { requests: { cpu: '8' } } },
    want: [['cpu', '8']],
  },
  { name: 'nothing', spec: { containers: [{}] }, want: [] },
];
for (const { name, spec, want } of pods)
  test(`what a pod asks for: ${name}`, () => assert.deepEqual([...asksOf(spec)], want));
