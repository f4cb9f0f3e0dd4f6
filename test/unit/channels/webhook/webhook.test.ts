import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test, type TestContext } from 'node:test';
import { createWebhook } from '../../../../src/channels/webhook/webhook.ts';
import { webhookId, type WebhookTarget } from '../../../../src/config/escalation-schema.ts';
import { RetryLater } from '../../../../src/lib/errors.ts';
import type { Alert, AlertedIncident, Message } from '../../../../src/notices/cards/message.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { fakePagerDuty, mistakesIn } from '../../../support/fake-pagerduty.ts';
import { json, page, reset, scriptedServer, silence, stream, type Step } from '../../../support/scripted-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tapfix-webhook-'));
after(() => rmSync(folder, { recursive: true }));

const key = 'R0123456789ABCDEF0123456789ABCDE';
const incident: AlertedIncident = {
  id: '#3f9a1c',
  namespace: 'shop',
  kind: 'Deployment',
  name: 'checkout',
  class: 'CrashLoop',
  severity: 'critical',
  since: '2026-11-16T02:12:05Z',
  fix: 'checkout-3f9a1c-1',
  ready: 0,
  desired: 3,
};
const anAlert = (over: Partial<Alert> = {}): Message => ({
  cards: [],
  silent: false,
  alert: {
    event: 'trigger',
    id: 'tapfix-1',
    at: '2026-11-16T02:27:40.000Z',
    cluster: 'prod-eu',
    severity: 'critical',
    summary: 'checkout is still down, 0/3 ready, for 15 min',
    incidents: [incident],
    ...over,
  },
});

let files = 0;
function fileWith(content: string): string {
  const file = join(folder, String(++files));
  writeFileSync(file, content);
  return file;
}

function aWebhook(target: WebhookTarget) {
  const clock = fakeClock();
  const channel = createWebhook({ targets: () => [target], clock });
  const place = { chat: webhookId(target) };
  return { clock, channel, post: (message = anAlert()) => channel.post(place, message), place };
}
const toJson = (url: string) => aWebhook({ format: 'json', urlFile: fileWith(url) });

const failureOf = async (work: Promise<unknown>): Promise<RetryLater> => {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert.ok(error instanceof RetryLater, String(error));
  return error;
};

async function scripted(t: TestContext, ...steps: Step[]) {
  const server = await scriptedServer();
  t.after(() => server.close());
  server.script(...steps);
  return server;
}

test('json: one POST with the whole alert', async (t) => {
  const server = await scripted(t, json({}, 200));
  const { post } = toJson(`${server.url}/hook?token=secret\n`);
  assert.equal(await post(), 'tapfix-1');
  const [seen] = server.seen;
  assert.deepEqual([seen!.method, seen!.path, seen!.query], ['POST', '/hook', { token: 'secret' }]);
  assert.deepEqual(seen!.body, anAlert().alert);
  assert.match(String(seen!.headers['user-agent']), /^tapfix\//);
});

test('pagerduty: trigger, acknowledge and resolve are what its documentation asks for, with one key', async (t) => {
  const pagerDuty = await fakePagerDuty();
  t.after(pagerDuty.close);
  const target = {
    format: 'pagerduty' as const,
    routingKeyFile: fileWith(`${key}\n`),
    urlFile: fileWith(pagerDuty.url),
  };
  const { channel, post, place } = aWebhook(target);
  await post(anAlert({ summary: 'x'.repeat(5_000), incidents: Array.from({ length: 50 }, () => incident), more: 950 }));
  await channel.edit(place, 'tapfix-1', anAlert({ event: 'acknowledge' }));
  await channel.edit(place, 'tapfix-1', anAlert({ event: 'resolve' }));
  assert.deepEqual(pagerDuty.refused, []);
  assert.deepEqual(
    pagerDuty.accepted.map(({ event_action, dedup_key, routing_key }) => [event_action, dedup_key, routing_key]),
    ['trigger', 'acknowledge', 'resolve'].map((action) => [action, 'tapfix-1', key]),
  );
  const { payload } = pagerDuty.accepted[0]!;
  assert.deepEqual(
    [payload?.source, payload?.severity, payload?.['component'], payload?.['group'], payload?.['class']],
    ['prod-eu', 'critical', 'checkout', 'shop', 'CrashLoop'],
  );
});

test('the stand-in for PagerDuty is strict', () => {
  const event = {
    routing_key: key,
    event_action: 'trigger',
    payload: { summary: 'a', source: 'b', severity: 'error' },
  };
  assert.deepEqual(mistakesIn(event), []);
  for (const wrong of [
    { ...event, event_action: 'open' },
    { ...event, routing_key: 'short' },
    { ...event, extra: 1 },
    { ...event, payload: { ...event.payload, severity: 'fatal' } },
    { ...event, payload: { ...event.payload, summary: 'x'.repeat(1025) } },
    { ...event, payload: { source: 'b', severity: 'error' } },
    { routing_key: key, event_action: 'resolve' },
  ])
    assert.notDeepEqual(mistakesIn(wrong), [], JSON.stringify(wrong));
});

test('address and key are read whenever something is sent', async (t) => {
  const pagerDuty = await fakePagerDuty();
  t.after(pagerDuty.close);
  const routingKeyFile = fileWith('old');
  const { post } = aWebhook({ format: 'pagerduty', routingKeyFile, urlFile: fileWith(pagerDuty.url) });
  assert.match((await failureOf(post())).message, /refused it \(HTTP 400\)/);
  writeFileSync(routingKeyFile, key);
  await post();
  assert.equal(pagerDuty.accepted.length, 1);
});

const later: [string, Step, RegExp, number][] = [
  [
    'a redirect is not followed',
    json({}, 302, { location: 'http://127.0.0.1:1/' }),
    /redirect \(HTTP 302\), which is not followed/,
    300_000,
  ],
  ['too many requests', json({}, 429, { 'retry-after': '37' }), /HTTP 429/, 37_000],
  [
    'too many requests until a date',
    json({}, 429, { 'retry-after': 'Mon, 16 Nov 2026 03:12:20 GMT' }),
    /HTTP 429/,
    20_000,
  ],
  ['a wait of a year is cut', json({}, 503, { 'retry-after': '31536000' }), /HTTP 503/, 600_000],
  ['a failure of the server', page('oops', 500), /HTTP 500/, 5_000],
  ['a refusal', json({}, 403), /refused it \(HTTP 403\)/, 300_000],
  ['a reset connection', reset(), /could not be reached \((ECONNRESET|UND_ERR_SOCKET)\)/, 5_000],
  ['no HTTP at all', (_response, { socket }) => void socket.end('hello\r\n\r\n'), /could not be reached/, 5_000],
];
describe('what did not arrive is sent again later, and its error names neither address nor key', () => {
  for (const [name, step, words, afterMs] of later)
    test(name, async (t) => {
      const server = await scripted(t, step, json({}, 202));
      const { channel, post } = toJson(`${server.url}/s3cret`);
      const error = await failureOf(post());
      assert.match(error.message, words);
      assert.doesNotMatch(`${error.message}${JSON.stringify(channel.health())}`, /s3cret|127\.0\.0\.1/);
      assert.equal(error.afterMs, afterMs);
      assert.equal(channel.health().ok, false);
      assert.equal(server.seen.length <= 1, true);
      await post();
      assert.equal(channel.health().ok, true);
    });
});

test('silence is given up after ten seconds', async (t) => {
  const server = await scripted(t, silence());
  const { clock, post } = toJson(server.url);
  const failed = failureOf(post());
  while (server.seen.length === 0) await new Promise(setImmediate);
  await clock.advance(10_000);
  assert.match((await failed).message, /did not answer within 10 s/);
});

test('an answer without end is accepted, and not read', async (t) => {
  const server = await scripted(
    t,
    stream(
      Array.from({ length: 64 }, () => 'x'.repeat(65_536)),
      'stay',
    ),
  );
  await toJson(server.url).post();
  assert.equal(server.seen.length, 1);
});

const badUrls: [string, string, RegExp][] = [
  ['http to another machine', 'http://192.0.2.1/', /must begin with https:\/\/$/],
  ['a name that only begins like a loopback', 'http://127.0.0.1.example.com/', /must begin with https:\/\/$/],
  ['a file', 'file:///etc/passwd', /must begin with https:\/\/$/],
  ['no URL', 'example', /does not hold a URL$/],
  ['a password', 'https://me:s3cret@example.com/', /must not contain a user name or password$/],
  ['nothing', ' \n', /is empty$/],
];
for (const [name, url, words] of badUrls)
  test(`an address that is not used: ${name}`, async () => {
    const { message } = await failureOf(toJson(url).post());
    assert.match(message, words);
    assert.doesNotMatch(message, /192\.0\.2|example|s3cret|passwd/);
  });

test('a file that is not there, and a webhook that is no longer configured', async () => {
  const missing = aWebhook({ format: 'json', urlFile: join(folder, 'none') });
  assert.match((await failureOf(missing.post())).message, /none cannot be read \(ENOENT\)$/);
  const gone = toJson('https://example.com/');
  assert.match(
    (await failureOf(gone.channel.post({ chat: 'json-other' }, anAlert()))).message,
    /no longer in the configuration/,
  );
});

test('nothing is sent by a process that leads no more, or is stopping', async (t) => {
  const server = await scripted(t, json({}));
  const { channel, place } = toJson(server.url);
  const check = (): void => {
    throw new Error('not the leader');
  };
  await assert.rejects(channel.post(place, anAlert(), undefined, { check }), /not the leader/);
  await assert.rejects(channel.post(place, anAlert(), undefined, { signal: AbortSignal.abort() }), /not sent/);
  assert.equal(server.seen.length, 0);
});
