import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { pageOf } from '../../../src/explain/explanation.ts';
import { createLedger } from '../../../src/incidents/ledger.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createReadiness } from '../../../src/ops/readiness.ts';
import { request } from 'node:http';
import { readLedger, startLocalServer, startServer } from '../../../src/ops/server.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

const log = createLog({ level: 'silent' });
const readiness = createReadiness();
const metrics = createMetrics();
const ledger = { totals: () => ({ seen: 7 }), of: (workload: string) => ({ workload, outcomes: [] }) };
const server = await startServer({ host: '127.0.0.1', port: 0, metrics, readiness, log });
const local = await startLocalServer({ port: 0, ledger, log });
after(() => Promise.all([server.close(), local.close()]));

const ask = (path: string, method = 'GET', { port } = server) => fetch(`http://127.0.0.1:${port}${path}`, { method });

const cases = [
  { name: 'health', path: '/healthz', status: 200, body: /^ok\n$/ },
  { name: 'health with a query', path: '/healthz?probe=1', status: 200, body: /^ok\n$/ },
  { name: 'metrics', path: '/metrics', status: 200, body: /process_cpu_seconds_total/ },
  { name: 'readiness', path: '/readyz', status: 200, body: /"ok": true/ },
  { name: 'anything else', path: '/', status: 404, body: /there is \/healthz \/readyz \/metrics\n$/ },
  { name: 'the ledger, which any pod could ask for,', path: '/ledger', status: 404, body: /not found/ },
  { name: 'anything else of the local server', at: local, path: '/metrics', status: 404, body: /there is \/ledger\n$/ },
  { name: 'the ledger of the local server', at: local, path: '/ledger', status: 200, body: /"seen": 7/ },
  {
    name: 'the ledger of a workload',
    at: local,
    path: '/ledger?namespace=shop&kind=Deployment&name=api',
    status: 200,
    body: /"workload": "shop\/Deployment\/api"/,
  },
  { name: 'the ledger of half a workload', at: local, path: '/ledger?namespace=shop', status: 400, body: /kind=KIND/ },
  { name: 'a name every object has', path: '/constructor', status: 404, body: /not found/ },
  { name: 'a write', path: '/healthz', method: 'POST', status: 405, body: /only GET/ },
];
for (const { name, at, path, method, status, body } of cases) {
  test(`${name} answers ${status}`, async () => {
    const response = await ask(path, method, at);
    assert.equal(response.status, status);
    assert.match(await response.text(), body);
  });
}

test('unready answers 503 with the reason, and no secret in it', async () => {
  readiness.set('telegram', () => ({ ok: false, detail: `bot123456789:${'A'.repeat(35)}`, required: true }));
  const response = await ask('/readyz');
  assert.equal(response.status, 503);
  assert.deepEqual(await response.json(), {
    ok: false,
    checks: { telegram: { ok: false, detail: 'bot[secret]', required: true } },
  });
});

test('a page that fails answers 500 and the server lives on', async () => {
  const broken = await startServer({
    host: '127.0.0.1',
    port: 0,
    metrics: { contentType: 'text/plain', text: () => Promise.reject(new Error('boom')) },
    readiness,
    log,
  });
  assert.equal((await fetch(`http://127.0.0.1:${broken.port}/metrics`)).status, 500);
  assert.equal((await fetch(`http://127.0.0.1:${broken.port}/healthz`)).status, 200);
  await broken.close();
});

test('a port in use is one line that names the setting', async () => {
  await assert.rejects(startServer({ host: '127.0.0.1', port: server.port, metrics, readiness, log }), {
    name: 'UserError',
    message: `127.0.0.1:${server.port} is already in use: set server.port to another one`,
  });
});

/** With a Host header of one's own, as a browser sends it for a name that leads here. */
const askAs = (host: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port: local.port, path: '/ledger', headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', reject).end();
  });
const hosts: [string, number][] = [
  ['localhost', 200],
  ['localhost:9999', 200],
  ['127.0.0.1:8081', 200],
  ['[::1]:8081', 200],
  ['LOCALHOST', 200],
  ['evil.example', 403],
  ['evil.example:8081', 403],
  ['localhost.evil.example', 403],
  ['127.0.0.1.nip.io', 403],
  ['127.0.0.1@evil.example', 403],
];
for (const [host, status] of hosts)
  test(`the local server, asked as ${host}, answers ${status}`, async () => assert.equal(await askAs(host), status));

test('the local server is on loopback only, and its port in use is one line that names the setting', async () => {
  await assert.rejects(fetch(`http://127.0.0.2:${local.port}/ledger`));
  await assert.rejects(startLocalServer({ port: local.port, ledger, log }), {
    name: 'UserError',
    message: `127.0.0.1:${local.port} is already in use: set server.localPort to another one`,
  });
});

test('an address of another machine is one line as well', async () => {
  await assert.rejects(startServer({ host: '192.0.2.1', port: 0, metrics, readiness, log }), {
    message: '192.0.2.1:0 is not an address of this machine: check server.host',
  });
});

describe('the ledger of a watcher', () => {
  const question = { namespace: 'shop', kind: 'Deployment', name: 'check&out' };
  const log = { debug() {}, info() {}, warn() {}, error() {} };

  test('what a watcher keeps is what is understood', async (t) => {
    const ledger = createLedger({ clock: systemClock, count() {} });
    ledger.arrived();
    ledger.ended('ClassDisabled', { workload: 'shop/Deployment/check&out', class: 'CrashLoop', reason: 'BackOff' });
    ledger.arrived();
    ledger.waits('shop/ResourceQuota/tight', {
      workload: 'shop/Deployment/check&out',
      class: 'QuotaExceeded',
      reason: 'FailedCreate',
    });
    const server = await startLocalServer({ port: 0, ledger, log });
    t.after(() => server.close());
    const page = pageOf(await readLedger(`http://127.0.0.1:${server.port}`, question));
    assert.deepEqual(
      page?.outcomes.map(({ outcome, class: of, count }) => [outcome, of, count]),
      [['ClassDisabled', 'CrashLoop', 1]],
    );
    assert.deepEqual(
      page?.waiting.map(({ class: of }) => of),
      ['QuotaExceeded'],
    );
  });

  const answers: [string, number, string, RegExp][] = [
    ['a page that is not there', 404, 'not found', /answered with HTTP 404$/],
    ['something that is no JSON', 200, '<html>', /JSON/],
    ['more than a page can be', 200, `"${'x'.repeat(1_100_000)}"`, /exceeded|maxResponseSize|Size/i],
  ];
  for (const [name, status, body, why] of answers)
    test(`${name} is said`, async (t) => {
      const server = await scriptedServer();
      t.after(() => server.close());
      server.script((response) => void response.writeHead(status).end(body));
      await assert.rejects(readLedger(server.url, question), why);
      assert.deepEqual(server.seen[0]?.query, question);
    });

  test('nobody there is said soon', async () => {
    await assert.rejects(readLedger('http://127.0.0.1:1', question));
  });
});
