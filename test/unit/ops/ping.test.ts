import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ping } from '../../../src/ops/heartbeat.ts';
import { scriptedServer, type Step } from '../../support/scripted-server.ts';

const answer =
  (status: number, body = ''): Step =>
  (response) =>
    void response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end(body);

const cases: [string, Step, RegExp | undefined][] = [
  ['200 is a yes', answer(200, 'OK'), undefined],
  ['204 is a yes', answer(204), undefined],
  ['a megabyte of answer is a yes, and not kept', answer(200, 'x'.repeat(1_000_000)), undefined],
  ['404 is a no', answer(404), /^answered with HTTP 404$/],
  ['500 is a no', answer(500), /^answered with HTTP 500$/],
  ['a redirect is a no', answer(302), /^answered with HTTP 302$/],
  ['a connection that breaks is a no', (response) => void response.destroy(), /./],
];
for (const [name, step, refusal] of cases)
  test(name, async (t) => {
    const server = await scriptedServer();
    t.after(() => server.close());
    server.script(step);
    const said = await ping(`${server.url}/ping/abc?x=1`, new AbortController().signal).then(
      () => '',
      (error: Error) => error.message,
    );
    if (refusal) assert.match(said, refusal);
    else assert.equal(said, '');
    const [seen, ...others] = server.seen;
    assert.deepEqual([seen?.method, seen?.path, seen?.query, others.length], ['GET', '/ping/abc', { x: '1' }, 0]);
    assert.match(String(seen?.headers['user-agent']), /^tapfix\/\d/);
    assert.equal(seen?.headers['content-length'], undefined);
  });

test('who is told to stop stops, and leaves no connection', async (t) => {
  const server = await scriptedServer();
  t.after(() => server.close());
  const stop = new AbortController();
  const asked = ping(server.url, stop.signal);
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await assert.rejects(asked);
  while (server.openConnections() > 0) await new Promise((resolve) => setImmediate(resolve));
});
