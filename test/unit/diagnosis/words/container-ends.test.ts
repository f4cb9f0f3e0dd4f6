import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeInWords, redactProse } from '../../../../src/diagnosis/words/container-ends.ts';

const probes: [text: string, want: string][] = [
  ['Readiness probe failed: HTTP probe failed with statuscode: 500', 'readiness probe: HTTP 500'],
  ['Liveness probe failed: Get "http://10.1.2.3:8080/healthz?full=1": dial tcp 10.1.2.3:8080: connect: connection refused', 'liveness probe: connection refused on port 8080 (/healthz)'],
  ['Readiness probe failed: Get "http://10.1.2.3:8080/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)', 'readiness probe: no answer in time on port 8080'],
  ['Readiness probe failed: Get "http://[fd00::7]:8080/ready": dial tcp [fd00::7]:8080: connect: connection refused', 'readiness probe: connection refused on port 8080 (/ready)'],
  ['Startup probe failed: dial tcp 10.1.2.3:5432: i/o timeout', 'startup probe: no answer in time on port 5432'],
  ['Readiness probe failed: service unhealthy (responded with "NOT_SERVING")', 'readiness probe: gRPC says NOT_SERVING'],
  ['Liveness probe failed: timeout: failed to connect service "10.1.2.3:9000" within 1s: context deadline exceeded', 'liveness probe: no gRPC answer within 1s on port 9000'],
  ['Readiness probe failed: cat: /tmp/ready: No such file or directory\n', 'readiness probe failed: cat: /tmp/ready: No such file or directory'],
  ['Readiness probe failed: ', 'readiness probe failed'],
  ['Liveness probe errored and resulted in unknown state: rpc error: boom', 'liveness probe failed: rpc error: boom'],
  ['something else', 'something else'],
]; // prettier-ignore
for (const [text, want] of probes) test(`a probe: ${want}`, () => assert.equal(probeInWords(text), want));

const secrets: [text: string, want: string][] = [
  ['login as ada with password hunter2 failed', 'login as ada with password [redacted] failed'],
  ['Password is hunter2', 'Password is [redacted]'],
  ['password "correct horse" rejected', 'password [redacted] rejected'],
  ['FATAL: no entry for user "ada" (password hunter2)', 'FATAL: no entry for user "ada" (password [redacted]'],
  ['Bearer token hunter2 expired', 'Bearer token [redacted] expired'],
  ['API key hunter2abc is invalid', 'API key [redacted] is invalid'],
  ['exec curl -u ada:hunter2 https://x', 'exec curl -u ada:[redacted] https://x'],
  ['exec curl --user=ada:hunter2 https://x', 'exec curl --user=ada:[redacted] https://x'],
  ['Config{dbUser=ada, dbPass=hunter2}', 'Config{dbUser=ada, dbPass=[redacted]'],
  ['connect ada/hunter2@//db:1521/XE', 'connect ada/[redacted]@//db:1521/XE'],
  ['DB_PASSWORD=hunter2', 'DB_PASSWORD=[redacted]'],
];
for (const [text, want] of secrets) test(`of a log: ${text}`, () => assert.equal(redactProse(text), want));

const harmless = [
  'FATAL: password authentication failed for user "ada"',
  'token expired after 30 minutes',
  'unexpected token at line 12',
  'run --user 1000:1000',
  'pulled shop/checkout:1.42 in 3s',
  'listening on 0.0.0.0:8080, pass --help for more',
];
for (const text of harmless) test(`stays: ${text}`, () => assert.equal(redactProse(text), text));

test('no text takes long', () => {
  for (const piece of ['password ', 'a1', '-u a', 'token token ', 'a/b', 'xPass ']) {
    const before = process.cpuUsage(); // not the time on the wall: the machine may be busy otherwise
    redactProse(piece.repeat(16_384 / piece.length));
    const { user, system } = process.cpuUsage(before);
    assert.ok((user + system) / 1_000 < 500, piece);
  }
});
