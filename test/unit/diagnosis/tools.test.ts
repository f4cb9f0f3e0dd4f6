import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readEvents } from '../../../src/diagnosis/events.ts';
import { jobInWords } from '../../../src/diagnosis/job.ts';
import { readImagesInUse } from '../../../src/diagnosis/pods.ts';
import { createOnce } from '../../../src/diagnosis/readers.ts';
import { closestImage, registryOf, splitImage } from '../../../src/diagnosis/words/images.ts';
import { aPodOf, aShop, ownedBy } from './support.ts';

test('each question is asked once, and another selector is another question', async () => {
  const { server, reader } = aShop();
  const once = createOnce(reader);
  for (let n = 0; n < 2; n++) {
    await once.list('Pod', 'shop', { labelSelector: 'app=a' });
    await once.list('Pod', 'shop');
    await once.get({ kind: 'Pod', namespace: 'shop', name: 'x' });
    await once.get({ kind: 'Pod', namespace: 'shop', name: 'y' });
  }
  assert.deepEqual(
    server.calls.map(({ verb, name }) => `${verb} ${name ?? ''}`.trim()),
    ['list', 'list', 'get x', 'get y'],
  );
});

test('events of these reasons about these objects, newest first, without the preamble of the repeated', async () => {
  const { server, reader } = aShop();
  const seed = (name: string, reason: string, uid: string, message: string, lastTimestamp: string): unknown =>
    server.seed('Event', 'shop', {
      metadata: { name },
      reason,
      message,
      lastTimestamp,
      involvedObject: { kind: 'Pod', name: 'p', uid },
    });
  seed('a', 'FailedMount', 'u1', 'old', '2026-11-16T03:20:00Z');
  seed('b', 'FailedMount', 'u1', '(combined from similar events): new', '2026-11-16T03:30:00Z');
  seed('c', 'FailedMount', 'u2', 'another', '2026-11-16T03:30:00Z');
  seed('d', 'Unhealthy', 'u1', 'other', '2026-11-16T03:30:00Z');
  const events = await readEvents(reader, 'shop', ['FailedMount'], ['u1']);
  assert.deepEqual(
    events.map(({ message }) => message),
    ['new', 'old'],
  );
});

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
  aPodOf(shop, 'nameless');
  assert.deepEqual(await readImagesInUse(shop.reader, 'shop'), [
    { image: 'shop/web:1.41', workload: 'web' },
    { image: 'postgres:15', workload: 'db' },
  ]);
});

const inUse = ['shop/web:1.41', 'shop/web:1.0', 'shop/web@sha256:abc', 'shop/worker:1.0', 'postgres:15'].map(
  (image) => ({ image, workload: 'w' }),
);
const closest: [image: string, want: string | undefined][] = [
  ['shop/web:1.42', 'shop/web:1.41'],
  ['shop/web:1.O', 'shop/web:1.0'],
  ['shop/wbe:1.0', 'shop/web:1.0'],
  ['postgres:15', undefined],
  ['redis:7', undefined],
];
for (const [image, want] of closest)
  test(`closest to ${image}: ${want ?? 'nothing'}`, () => assert.equal(closestImage(image, inUse)?.image, want));

test('the parts of an image name', () => {
  assert.deepEqual(splitImage('r:5000/a/b'), { repository: 'r:5000/a/b', tag: '' });
  assert.deepEqual(splitImage('r:5000/a/b:2'), { repository: 'r:5000/a/b', tag: '2' });
  assert.equal(splitImage('a@sha256:b').tag, '');
  assert.deepEqual(['nginx', 'shop/web', 'localhost/a', 'r:5000/a', 'ghcr.io/a/b'].map(registryOf), [
    'docker.io',
    'docker.io',
    'localhost',
    'r:5000',
    'ghcr.io',
  ]);
});

const jobs: { reason: string; message?: string; spec?: object; status?: object; want: string }[] = [
  { reason: 'BackoffLimitExceeded', status: { failed: 7 }, want: 'gave up after 7 tries' },
  { reason: 'BackoffLimitExceeded', status: { failed: 1 }, want: 'gave up after 1 try' },
  { reason: 'DeadlineExceeded', spec: { activeDeadlineSeconds: 600 }, want: 'was stopped at its deadline of 10 min' },
  { reason: 'PodFailurePolicy', message: 'Container app for pod shop/x failed with exit code 42 matching FailJob rule at index 0', want: 'was ended by its failure policy: Container app for pod shop/x failed with exit code 42 matching FailJob rule at index 0' },
  { reason: 'FailedIndexes', status: { failedIndexes: '1,3-5' }, want: 'failed for the indexes 1,3-5' },
  { reason: 'Odd', message: 'who knows', want: 'who knows' },
]; // prettier-ignore
for (const { reason, message = '', spec = {}, status = {}, want } of jobs)
  test(`a Job that failed: ${want}`, () => {
    const conditions = [{ type: 'Failed', status: 'True', reason, message }];
    const job = { metadata: {} as never, spec, status: { ...status, conditions } };
    assert.equal(jobInWords({ job, pods: [] }), want);
  });
