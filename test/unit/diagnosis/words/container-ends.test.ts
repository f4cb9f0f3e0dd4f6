import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerFacts } from '../../../../src/diagnosis/pods.ts';
import { endInWords, probeInWords, startInWords } from '../../../../src/diagnosis/words/container-ends.ts';

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
  ['Readiness probe failed: Get "https://10.1.2.3:8080/": http: server gave HTTP response to HTTPS client', 'readiness probe: asks for HTTPS, the server speaks HTTP'],
  ['Readiness probe failed: Get "http://10.1.2.3:8443/": net/http: HTTP/1.x transport connection broken: malformed HTTP response "\\x15\\x03\\x01\\x00\\x02\\x02"', 'readiness probe: asks for HTTP, the server speaks HTTPS'],
  ['something else', 'something else'],
]; // prettier-ignore
for (const [text, want] of probes) test(`a probe: ${want}`, () => assert.equal(probeInWords(text), want));

const layers =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: ';
const starts: [message: string, want: string][] = [
  [`${layers}error during container init: exec: "/bin/shpo": stat /bin/shpo: no such file or directory`, 'exec: "/bin/shpo": no such file or directory'],
  [`${layers}error during container init: exec: "shpo": executable file not found in $PATH`, 'exec: "shpo": executable file not found in $PATH'],
  [`${layers}exec: "/run.sh": permission denied: unknown`, 'exec: "/run.sh": permission denied: unknown'],
  [`${layers}exec /app: exec format error`, 'its binary is built for another architecture (exec format error)'],
  [`${layers}error mounting "/x" to rootfs: not a directory`, 'error mounting "/x" to rootfs: not a directory'],
  ['', ''],
]; // prettier-ignore
for (const [message, want] of starts)
  test(`a container that could not be started: ${want}`, () => assert.equal(startInWords(message), want));

const ended = (exitCode: number, over: Partial<ContainerFacts> = {}, reason = 'Error'): ContainerFacts => ({
  state: {
    name: 'app',
    ready: false,
    restarts: 2,
    isDown: true,
    ended: { reason, exitCode, uptimeMs: 20_000, finishedAtMs: 1 },
  },
  image: 'shop/app:1',
  memoryLimit: '',
  lastWords: '',
  ending: '',
  program: '',
  ...over,
});
const ends: [container: ContainerFacts, want: string][] = [
  [ended(1), 'container app exits 1 after 20 s'],
  [ended(126, { program: '/run.sh' }), 'container app exits 126 (/run.sh cannot be executed) after 20 s'],
  [ended(127, { program: 'shpo' }), 'container app exits 127 (command shpo not found) after 20 s'],
  [ended(127, { lastWords: '/bin/sh: 1: shpo: not found' }), 'container app exits 127 (command shpo not found) after 20 s'],
  [ended(127), 'container app exits 127 (a command that it runs was not found) after 20 s'],
  [ended(137), 'container app exits 137 (killed, SIGKILL) after 20 s'],
  [ended(139), 'container app exits 139 (segmentation fault, SIGSEGV) after 20 s'],
  [ended(143), 'container app exits 143 (terminated, SIGTERM) after 20 s'],
  [ended(1, { ending: 'exec /app: exec format error' }), 'container app exits 1 after 20 s: its binary is built for another architecture (exec format error)'],
  [ended(128, { ending: 'exec: "x": stat x: no such file or directory' }, 'StartError'), 'container app cannot be started: exec: "x": no such file or directory'],
  [ended(128, {}, 'StartError'), 'container app cannot be started'],
]; // prettier-ignore
for (const [container, want] of ends) test(`an end: ${want}`, () => assert.equal(endInWords(container), want));
