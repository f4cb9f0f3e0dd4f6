import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { issueCertificate, makeAuthority, type Certificate } from '../../cluster/certificates.ts';
import { startFaultProxy, type FaultProxy } from '../../cluster/fault-proxy.ts';

let directory: string;
let ca: string;
let certificate: Certificate;
let server: https.Server;
let proxy: FaultProxy;
/** What the server behind the proxy got. */
let arrived: string[];

function send(
  method: string,
  path: string,
  body = '',
  headers: Record<string, string> = {},
  agent: https.Agent | false = false,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = https.request(`${proxy.url}${path}`, { method, ca, headers, agent }, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

const any = () => true;
const connectionLost = { code: 'ECONNRESET' };

describe('a proxy that plays faults', () => {
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'fault-proxy-'));
    await makeAuthority(directory);
    ca = await readFile(join(directory, 'ca.crt'), 'utf8');
    certificate = await issueCertificate(directory, { commonName: 'test', hosts: ['127.0.0.1'] });
  });
  after(() => rm(directory, { recursive: true }));

  beforeEach(async () => {
    arrived = [];
    server = https.createServer(certificate, (request, response) => {
      if (request.url?.startsWith('/watch')) {
        response.on('close', () => arrived.push('watch closed'));
        return void response.write('event 1\n');
      }
      buffer(request)
        .then((body) => {
          arrived.push(`${request.method} ${request.url} ${body.toString()}`);
          response.writeHead(201, { 'x-auth': request.headers.authorization ?? 'none' }).end('written');
        })
        .catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const upstream = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    proxy = await startFaultProxy({ upstream, caFile: join(directory, 'ca.crt'), ...certificate });
  });
  afterEach(async () => {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  });

  test('a write passes through with body, token and answer, and is noted', async () => {
    const claims = Buffer.from(JSON.stringify({ sub: 'system:serviceaccount:a:b' })).toString('base64url');
    const authorization = `Bearer x.${claims}.y`;
    const answer = await send('POST', '/pods?dryRun=All', '{"a":1}', { authorization });
    assert.equal(answer.statusCode, 201);
    assert.equal(answer.headers['x-auth'], authorization);
    assert.equal(await text(answer), 'written');
    assert.deepEqual(arrived, ['POST /pods?dryRun=All {"a":1}']);
    const [{ at, ...write } = { at: 0 }] = proxy.writes;
    assert.ok(at > 0);
    const user = 'system:serviceaccount:a:b';
    assert.deepEqual(write, { n: 1, method: 'POST', path: '/pods', dryRun: true, user, body: { a: 1 } });
  });

  test('what a deletion brings along arrives as well: its preconditions', async () => {
    const body = '{"preconditions":{"uid":"u"}}';
    const answer = await send('DELETE', '/pods/a', body, { 'content-length': String(body.length) });
    assert.equal(answer.statusCode, 201);
    assert.deepEqual(arrived, [`DELETE /pods/a ${body}`]);
  });

  test('a write held before and dropped never reaches the server', async () => {
    const holding = proxy.holdBefore(({ path }) => path === '/held');
    const lost = assert.rejects(send('PUT', '/held'), connectionLost);
    (await holding).drop();
    await lost;
    await send('PUT', '/next');
    assert.deepEqual(arrived, ['PUT /next ']);
    assert.deepEqual(
      proxy.writes.map(({ n, path }) => [n, path]),
      [
        [1, '/held'],
        [2, '/next'],
      ],
    );
  });

  test('a write held before and released goes on, even when its sender is gone', async () => {
    const holding = proxy.holdBefore(any);
    const lost = assert.rejects(send('PUT', '/late', 'body'), connectionLost);
    const held = await holding;
    proxy.cut();
    await lost;
    const forwarded = once(server, 'request');
    held.release();
    const [, response] = (await forwarded) as [IncomingMessage, NodeJS.EventEmitter];
    await once(response, 'finish');
    assert.deepEqual(arrived, ['PUT /late body']);
  });

  test('an answer held back comes when released, and is lost when dropped; the write is done either way', async () => {
    for (const end of ['release', 'drop'] as const) {
      const holding = proxy.holdAfter(any);
      const sent = send('PUT', `/${end}`);
      const seen = end === 'release' ? sent : assert.rejects(sent, connectionLost);
      const held = await holding;
      assert.equal(arrived.at(-1), `PUT /${end} `);
      held[end]();
      await seen;
    }
  });

  test('a failure is answered the asked number of times, as a Kubernetes Status', async () => {
    proxy.fail(({ method }) => method === 'GET', 503, 1);
    const refused = await send('GET', '/pods');
    const status = JSON.parse(await text(refused)) as { kind: string; code: number; reason: string };
    assert.deepEqual([status.kind, status.code, status.reason], ['Status', 503, 'ServiceUnavailable']);
    assert.equal((await send('GET', '/pods')).statusCode, 201);
  });

  test('a reset is a broken connection', async () => {
    proxy.fail(any, 'reset', 1);
    await assert.rejects(send('PATCH', '/pods'), connectionLost);
    assert.deepEqual(arrived, []);
  });

  test('a delay comes before the request goes on', async () => {
    proxy.delay(({ query }) => query === 'slow=1', 60, 1);
    const startedAt = performance.now();
    await send('GET', '/pods?slow=1');
    assert.ok(performance.now() - startedAt >= 59);
  });

  test('a watch streams event by event, and cutting it reaches both ends', async () => {
    const watch = await send('GET', '/watch');
    const [first] = (await once(watch, 'data')) as [Buffer];
    assert.equal(first.toString(), 'event 1\n');
    const broken = once(watch, 'error');
    proxy.cut();
    await broken;
    for (let n = 0; n < 1_000 && !arrived.includes('watch closed'); n++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    assert.ok(arrived.includes('watch closed'));
  });

  test('one connection serves many requests', async () => {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set();
    for (const method of ['GET', 'PUT', 'GET', 'DELETE']) {
      const answer = await send(method, '/pods', '', {}, agent);
      sockets.add(answer.socket);
      assert.equal(await text(answer), 'written');
    }
    agent.destroy();
    assert.equal(sockets.size, 1);
  });

  test('a server that is gone looks like a broken connection', async () => {
    server.close();
    await assert.rejects(send('GET', '/pods'), connectionLost);
  });
});
