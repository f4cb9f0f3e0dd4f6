import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createStreams } from '../../../../src/kube/streams/streams.ts';
import { type FakePod, startPortForward } from '../../../support/fake-port-forward.ts';

const pod = { namespace: 'tapfix', name: 'tapfix-watcher-a' };

async function forwarding(t: TestContext, fake: FakePod) {
  const { kubeConfig, seen, open } = await startPortForward(t, { [pod.name]: fake });
  const streams = createStreams(kubeConfig as never);
  t.after(() => streams.close());
  return { streams, seen, open };
}

test('a forwarded port: bytes go there and come back, without the port in front', async (t) => {
  const { streams, seen } = await forwarding(t, { answer: (text) => `you wrote ${text}` });
  const heard = Promise.withResolvers<string>();
  const ended = Promise.withResolvers<void>();
  const far = await streams.forward(pod, 8080, {
    data: (bytes) => heard.resolve(Buffer.from(bytes).toString()),
    problem: heard.reject,
    end: ended.resolve,
  });
  far.send(Buffer.from('GET /'));
  assert.equal(await heard.promise, 'you wrote GET /');
  assert.deepEqual(seen, ['tapfix-watcher-a:8080']);
  far.end();
  await ended.promise;
});

test('a port where nobody answers: the reason of the kubelet', async (t) => {
  const { streams } = await forwarding(t, { problem: 'connection refused' });
  const heard = Promise.withResolvers<string>();
  const far = await streams.forward(pod, 8080, { data() {}, problem: heard.resolve, end() {} });
  far.send(Buffer.from('x'));
  assert.equal(await heard.promise, 'connection refused');
  far.end();
});

test('who may not forward a port reads the refusal of the API server', async (t) => {
  const refused = { code: 403, reason: 'Forbidden', message: 'User "ada" cannot create resource "pods/portforward"' };
  const { streams } = await forwarding(t, { refused });
  const hears = { data() {}, problem() {}, end() {} };
  await assert.rejects(streams.forward(pod, 8080, hears), { name: 'ApiError', code: 403, message: refused.message });
});

test('a log that is followed: whole lines as they come, also the last one without a newline', async (t) => {
  const server = createServer((request, response) => {
    assert.equal(
      request.url,
      '/api/v1/namespaces/tapfix/pods/tapfix-watcher-a/log?container=tapfix&tailLines=5&follow=true',
    );
    response.write('{"level":"info"}\nsec');
    response.end('ond');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kubeConfig = {
    getCurrentCluster: () => ({ name: 'x', server: url }),
    applyToHTTPSOptions: async () => undefined,
  };
  const streams = createStreams(kubeConfig as never);
  const lines: string[] = [];
  for await (const line of streams.log(
    pod,
    { container: 'tapfix', tailLines: 5, follow: true },
    new AbortController().signal,
  ))
    lines.push(line);
  assert.deepEqual(lines, ['{"level":"info"}', 'second']);
  await streams.close();
});
