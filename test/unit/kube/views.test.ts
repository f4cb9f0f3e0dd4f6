import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { viewEvent, viewPod } from '../../../src/kube/views.ts';

test('a static pod is its node`s, and yet nobody`s workload', () => {
  const owned = (kind: string) =>
    viewPod({
      metadata: {
        name: 'p',
        uid: 'p',
        ownerReferences: [{ apiVersion: 'v1', kind, name: 'n', uid: 'u', controller: true }],
      },
    } as never)?.owner?.kind;
  assert.deepEqual([owned('Node'), owned('ReplicaSet')], [undefined, 'ReplicaSet']);
});

test('what a recorder has put together is what it was', () => {
  const raw = { metadata: { name: 'e', uid: 'e', namespace: 'shop' }, involvedObject: { kind: 'Pod', name: 'p' } };
  const view = (message: string) => viewEvent({ ...raw, message } as never)?.message;
  assert.equal(view('(combined from similar events): Error: ImagePullBackOff'), 'Error: ImagePullBackOff');
  assert.equal(view('not (combined from similar events): at all'), 'not (combined from similar events): at all');
});

/** Old recorders (kubelet, controllers) count up, new ones (the scheduler) keep a series; either leaves the other's fields out or null. */
const created = { metadata: { name: 'e', uid: 'e', creationTimestamp: '2026-11-16T03:00:00Z' } };
const times: [string, object, [count: number, last: string]][] = [
  ['an old one, once', { count: 1, lastTimestamp: '2026-11-16T03:00:01Z' }, [1, '03:00:01']],
  ['an old one, counted up', { count: 7, firstTimestamp: '2026-11-16T03:00:00Z', lastTimestamp: '2026-11-16T03:10:00Z', eventTime: null }, [7, '03:10:00']],
  ['a new one, once', { eventTime: '2026-11-16T03:00:02.123456Z', lastTimestamp: null, firstTimestamp: null }, [1, '03:00:02']],
  ['a new one, in a series', { eventTime: '2026-11-16T03:00:02.123456Z', series: { count: 9, lastObservedTime: '2026-11-16T03:20:00.654321Z' } }, [9, '03:20:00']],
  ['a new one that also counts as old', { count: 2, series: { count: 9, lastObservedTime: '2026-11-16T03:20:00Z' } }, [9, '03:20:00']],
  ['one without any time of its own', { count: null }, [1, '03:00:00']],
  ['absurd ones', { count: -1e300, series: { count: 'many', lastObservedTime: 'soon' }, lastTimestamp: 7 }, [1, '03:00:00']],
]; // prettier-ignore
for (const [name, over, want] of times)
  test(`how often and when last: ${name}`, () => {
    const view = viewEvent({ ...created, involvedObject: { kind: 'Pod', name: 'p' }, ...over } as never)!;
    assert.deepEqual([view.count, new Date(view.lastSeenMs).toISOString().slice(11, 19)], want);
  });

test('a megabyte of words costs four kilobytes, and keeps nothing else alive', () => {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as () => void;
  const view = (n: number) =>
    viewEvent({
      metadata: { name: 'e', uid: 'e' },
      reason: 'r',
      message: `${n}`.padEnd(1 << 20, 'x'),
      involvedObject: { kind: 'Pod', name: 'p' },
    } as never)!;
  gc();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 100 }, (_, n) => view(n));
  gc();
  assert.ok(kept.every(({ message }) => message.length === 4096));
  assert.ok(process.memoryUsage().heapUsed - before < 10 << 20, 'a piece of a string keeps all of it');
});

test('names that nobody checks, and lists that a tenant makes long, are cut', () => {
  const long = 'n'.repeat(1 << 20);
  const about = { kind: long, apiVersion: long, name: long, namespace: long, uid: long };
  const event = viewEvent({ metadata: { name: 'e', uid: 'e' }, type: long, involvedObject: about } as never)!;
  assert.ok(JSON.stringify(event).length < 3_000);
  const volumes = Array.from({ length: 5_000 }, (_, n) => ({ persistentVolumeClaim: { claimName: `claim-${n}` } }));
  const containerStatuses = Array.from({ length: 5_000 }, (_, n) => ({ name: `c-${n}` }));
  const pod = viewPod({ metadata: { name: 'p', uid: 'p' }, spec: { volumes }, status: { containerStatuses } } as never);
  assert.deepEqual([pod?.claims?.length, pod?.containers.length], [100, 100]);
});

const containerWith = (status: object) =>
  viewPod({ metadata: { name: 'p', uid: 'p' }, status: { containerStatuses: [{ name: 'app', ...status }] } } as never)!
    .containers[0]!;

const uptimes: { name: string; startedAt?: unknown; want: number }[] = [
  { name: 'it ran', startedAt: '2026-11-18T03:12:00Z', want: 20_000 },
  { name: 'it was never started: the kubelet writes 1970', startedAt: '1970-01-01T00:00:00Z', want: 0 },
  { name: 'it was never started: the zero time of Go', startedAt: '0001-01-01T00:00:00Z', want: 0 },
  { name: 'nobody says when it was started', want: 0 },
  { name: 'its end is before its start', startedAt: '2026-11-18T03:13:00Z', want: 0 },
];
for (const { name, startedAt, want } of uptimes)
  test(`how long a container ran: ${name}`, () => {
    const terminated = { reason: 'StartError', exitCode: 128, startedAt, finishedAt: '2026-11-18T03:12:20Z' };
    for (const status of [{ state: { terminated } }, { state: {}, lastState: { terminated } }])
      assert.equal(containerWith(status).ended?.uptimeMs, want);
  });

test('a container that runs since 1970 runs, and nobody knows since when', () => {
  const { runningSinceMs } = containerWith({ state: { running: { startedAt: '0001-01-01T00:00:00Z' } } });
  assert.equal(runningSinceMs, 0);
});
