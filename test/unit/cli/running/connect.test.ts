import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runConnect } from '../../../../src/cli/running/connect.ts';
import type { KubeObject } from '../../../../src/kube/api.ts';
import { createStreams } from '../../../../src/kube/streams/streams.ts';
import { startPortForward } from '../../../support/fake-port-forward.ts';
import { aSession } from '../../../support/session.ts';

const pod = (name: string, over: object = {}): KubeObject =>
  ({
    metadata: { name, namespace: 'tapfix', uid: `uid-${name}` },
    spec: { containers: [{ ports: [{ name: 'http', containerPort: 8080 }] }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    ...over,
  }) as unknown as KubeObject;

const deployment = { metadata: { name: 'tapfix-watcher' }, spec: { replicas: 1 }, status: {} } as unknown as KubeObject;

async function connecting(t: TestContext, start: KubeObject[], port = 0) {
  const world = { pods: start };
  const page = (name: string) => ({
    answer: () => `HTTP/1.1 200 OK\r\ncontent-length: ${name.length}\r\nconnection: close\r\n\r\n${name}`,
  });
  const { kubeConfig, seen } = await startPortForward(t, { a: page('a'), b: page('b') });
  const streams = createStreams(kubeConfig as never);
  t.after(() => streams.close());
  const api = {
    get: async ({ kind }: { kind: string }) => (kind === 'Deployment' ? deployment : undefined),
    list: async () => world.pods,
  };
  const stop = new AbortController();
  const { session, out, err } = aSession({ api: api as never, streams, signal: stop.signal });
  const done = runConnect({ role: 'watcher', port }, session);
  done.catch(() => undefined);
  t.after(() => stop.abort());
  const printed = async (pattern: RegExp): Promise<string> => {
    for (let tried = 0; tried < 400; tried++) {
      const found = [...out, ...err].find((line) => pattern.test(line));
      if (found) return found;
      await sleep(20);
    }
    throw new Error(`nothing like ${pattern} in ${JSON.stringify([out, err])}`);
  };
  return { world, printed, seen, done, stop, err };
}

const get = async (line: string): Promise<string> => (await fetch(/http:\S+/.exec(line)![0])).text();

test('connect: prints the address, and Ctrl-C ends it with exit code 0', async (t) => {
  const { printed, seen, done, stop } = await connecting(t, [pod('a')]);
  const line = await printed(/leads to pod a, port 8080; Ctrl-C ends it$/);
  assert.equal(await get(line), 'a');
  assert.deepEqual(seen, ['a:8080']);
  stop.abort();
  assert.equal(await done, 0);
  await assert.rejects(get(line));
});

test('connect: a port that is taken is replaced by a free one, and that is printed', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => void other.close());
  const { port } = other.address() as AddressInfo;
  const { printed, err } = await connecting(t, [pod('a')], port);
  assert.equal(await get(await printed(/leads to pod a/)), 'a');
  assert.match(err.join('\n'), new RegExp(`^port ${port} of this machine is taken, so it is \\d+$`));
});

test('connect: when the pod is replaced, the same address leads to the new one', async (t) => {
  const { world, printed } = await connecting(t, [pod('a')]);
  const line = await printed(/leads to pod a/);
  world.pods = [pod('a', { metadata: { name: 'a', uid: 'uid-a', deletionTimestamp: 'now' } })];
  await printed(/^pod a is no longer ready; looking for another one$/);
  await printed(/^waiting: there is no pod of tapfix-watcher yet$/);
  world.pods = [pod('b')];
  await printed(/^connected to pod b$/);
  assert.equal(await get(line), 'b');
});

test('connect: waits for a pod that is starting, and fails as soon as it crashes', async (t) => {
  const { world, printed, done } = await connecting(t, [pod('a', { status: { phase: 'Pending' } })]);
  await printed(/^waiting: pod a is Pending$/);
  const terminated = { exitCode: 2, message: 'config.yaml does not exist' };
  const containerStatuses = [
    { state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } }, lastState: { terminated } },
  ];
  world.pods = [pod('a', { status: { phase: 'Running', containerStatuses } })];
  await assert.rejects(done, {
    message: 'the watcher is not ready: pod a: CrashLoopBackOff: it exited with 2: config.yaml does not exist',
  });
});
