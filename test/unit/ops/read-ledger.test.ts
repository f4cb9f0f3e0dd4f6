import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf } from '../../../src/explain/explanation.ts';
import { createLedger } from '../../../src/incidents/ledger.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createReadiness } from '../../../src/ops/readiness.ts';
import { readLedger, startServer } from '../../../src/ops/server.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

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
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    metrics: createMetrics(),
    readiness: createReadiness(),
    ledger,
    log,
  });
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
