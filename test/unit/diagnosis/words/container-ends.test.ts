import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeInWords } from '../../../../src/diagnosis/words/container-ends.ts';

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
