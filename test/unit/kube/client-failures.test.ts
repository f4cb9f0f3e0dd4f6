import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { createApi } from '../../../src/kube/client.ts';
import { messageOf } from '../../../src/lib/errors.ts';
import {
  json,
  kubeConfigFor,
  page,
  refusal,
  reset,
  silence,
  type Step,
  stream,
} from '../../support/scripted-server.ts';
import { rig } from './support.ts';

const status = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'slow down' };

const answers: { name: string; step: Step; want: Partial<ApiError>; says: RegExp }[] = [
  {
    name: "a refusal keeps the API server's own words",
    step: refusal(403, 'Forbidden', 'pods is forbidden: User "ada" cannot list'),
    want: { code: 403, reason: 'Forbidden', retryAfterMs: undefined },
    says: /^pods is forbidden: User "ada" cannot list$/,
  },
  {
    name: 'Retry-After is understood',
    step: refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '3' }),
    want: { code: 429, retryAfterMs: 3000 },
    says: /slow down/,
  },
  {
    name: 'so is the same wish in the details',
    step: json({ ...status, details: { retryAfterSeconds: 2 } }, 429),
    want: { code: 429, retryAfterMs: 2000 },
    says: /slow down/,
  },
  {
    name: 'an error that is not JSON is quoted',
    step: page('Unauthorized', 401),
    want: { code: 401, reason: 'Unauthorized' },
    says: /^HTTP 401 Unauthorized: Unauthorized$/,
  },
  {
    name: 'an error without a body is named',
    step: page('', 503),
    want: { code: 503, reason: 'ServiceUnavailable' },
    says: /^HTTP 503 Service Unavailable$/,
  },
  {
    name: 'a huge error page is cut',
    step: page('<p>\n'.repeat(1_000_000), 502),
    want: { code: 502 },
    says: /^HTTP 502 Bad Gateway: .{300}\.\.\.$/,
  },
  {
    name: 'a redirect is no answer',
    step: (response) => response.writeHead(302, { location: 'http://login.example.com' }).end(),
    want: { code: 302, reason: 'Found' },
    says: /HTTP 302/,
  },
  {
    name: 'a page in place of an answer is quoted, cut',
    step: page(`<html>${'x'.repeat(5000)}`),
    want: { code: 502, reason: 'BadAnswer' },
    says: /not JSON: <html>x{194}\.\.\.$/,
  },
  {
    name: 'half an answer is no answer',
    step: page('{"metadata":{"na'),
    want: { reason: 'BadAnswer' },
    says: /not JSON/,
  },
  { name: 'an empty answer is no answer', step: page(''), want: { reason: 'BadAnswer' }, says: /an empty body/ },
  { name: 'null is no answer', step: json(null), want: { reason: 'BadAnswer' }, says: /not an object: null/ },
];

for (const { name, step, want, says } of answers) {
  test(name, async (t) => {
    const { server, api } = await rig(t);
    server.script(step);
    const error = await api.get({ kind: 'Namespace', name: 'shop' }).catch((caught: unknown) => caught);
    assert.ok(error instanceof ApiError, String(error));
    assert.deepEqual(Object.fromEntries(Object.keys(want).map((key) => [key, error[key as keyof ApiError]])), want);
    assert.match(error.message, says);
    assert.doesNotMatch(error.message, /\n/);
  });
}

const faults: { name: string; step: Step; says: RegExp; timeoutMs?: number }[] = [
  { name: 'a reset connection', step: reset(), says: /ECONNRESET|other side closed/ },
  { name: 'a server that never answers', step: silence(), says: /no answer within 0.1 s/, timeoutMs: 100 },
  {
    name: 'an answer that never ends',
    step: stream(['{"a":'], 'stay'),
    says: /no answer within 0.1 s/,
    timeoutMs: 100,
  },
  { name: 'an answer that breaks off', step: stream(['{"a":'], 'break'), says: /other side closed|terminated/ },
];

for (const { name, step, says, timeoutMs } of faults) {
  test(`${name} is Unreachable, in one sentence with the address and the cause`, async (t) => {
    const { server, api } = await rig(t, timeoutMs === undefined ? {} : { timeoutMs });
    server.script(step);
    const error = await api.get({ kind: 'Namespace', name: 'shop' }).catch((caught: unknown) => caught);
    assert.ok(error instanceof Unreachable, String(error));
    assert.ok(error.message.startsWith(`cannot reach the API server ${server.url}: `), error.message);
    assert.match(error.message, says);
    assert.ok(error.cause instanceof Error);
  });
}

test('nobody listening is Unreachable', async (t) => {
  const { server, api } = await rig(t);
  await server.close();
  const error = await api.get({ kind: 'Namespace', name: 'shop' }).catch((caught: unknown) => caught);
  assert.ok(error instanceof Unreachable);
  assert.equal(error.message, messageOf(error));
  assert.match(error.message, /^cannot reach the API server http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED/);
});

test('credentials that cannot be had are Unreachable and say why', async () => {
  const kubeConfig = kubeConfigFor('https://127.0.0.1:1');
  kubeConfig.applyToHTTPSOptions = async () => Promise.reject(new Error('login\nexpired'));
  const api = createApi({ kubeConfig });
  await assert.rejects(api.get({ kind: 'Namespace', name: 'shop' }), {
    name: 'Unreachable',
    message: 'no credentials for the API server https://127.0.0.1:1: login expired',
  });
});

test('credentials that never come end with the call', async () => {
  const kubeConfig = kubeConfigFor('https://127.0.0.1:1');
  kubeConfig.applyToHTTPSOptions = () => new Promise(() => {});
  const alive = setInterval(() => {}, 1000); // nothing else keeps this process up meanwhile
  await assert.rejects(
    createApi({ kubeConfig, timeoutMs: 20 }).get({ kind: 'Namespace', name: 'shop' }),
    /no answer within/,
  );
  clearInterval(alive);
});
