import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probeInWords } from '../../../../src/diagnosis/words/container-ends.ts';
import { pullFailureInWords, saysWhy } from '../../../../src/diagnosis/words/images.ts';
import { creationInWords, evictionInWords, sandboxInWords } from '../../../../src/diagnosis/words/sandbox.ts';

const image = 'registry.example.com:5000/shop/web:1.O';
const pulling = (why: string): string =>
  `Back-off pulling image "${image}": ErrImagePull: rpc error: code = Unknown desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${why}`;

const pulls: { text: string; reason?: string; want: string; image?: string }[] = [
  { text: pulling(`${image}: not found`), want: `image ${image} does not exist in registry registry.example.com:5000` },
  {
    text: 'manifest unknown: manifest unknown',
    want: `image ${image} does not exist in registry registry.example.com:5000`,
  },
  {
    text: pulling(
      'unexpected status from HEAD request to https://registry.example.com:5000/v2/shop/web/manifests/1.O: 401 Unauthorized',
    ),
    want: `image ${image}: registry registry.example.com:5000 does not let this cluster pull it (not authorised)`,
  },
  {
    text: 'no basic auth credentials',
    want: `image ${image}: registry registry.example.com:5000 does not let this cluster pull it (not authorised)`,
  },
  {
    text: 'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
    image: 'shop/web:2',
    want: 'image shop/web:2 does not exist, or may not be pulled without another login',
  },
  {
    text: pulling(
      'failed to do request: Head "https://registry.example.com:5000/v2/": dial tcp 10.0.0.9:5000: connect: connection refused',
    ),
    want: `image ${image}: registry registry.example.com:5000 does not answer (connection refused)`,
  },
  {
    text: pulling(
      'failed to do request: Head "https://registry.example.com:5000/v2/": dial tcp 10.0.0.9:5000: i/o timeout',
    ),
    want: `image ${image}: registry registry.example.com:5000 does not answer (time-out)`,
  },
  {
    text: pulling(
      'failed to do request: Head "https://x/": dial tcp: lookup registry.example.com on 10.96.0.10:53: no such host',
    ),
    want: `image ${image}: registry registry.example.com:5000 cannot be found (no such host)`,
  },
  {
    text: pulling(
      'failed to do request: Head "https://x/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ),
    want: `image ${image}: the connection to registry registry.example.com:5000 is not trusted (TLS)`,
  },
  {
    text: 'toomanyrequests: You have reached your pull rate limit.',
    image: 'nginx:1',
    want: 'image nginx:1: registry docker.io allows no more pulls at the moment (rate limit)',
  },
  {
    text: 'no match for platform in manifest: not found',
    want: `image ${image} has no build for this node's platform`,
  },
  {
    text: 'write /var/lib/containerd/x: no space left on device',
    want: `the node has no disk space left for image ${image}`,
  },
  {
    reason: 'InvalidImageName',
    text: 'Failed to apply default image tag "Shop/Web": couldn\'t parse image reference "Shop/Web": invalid reference format: repository name must be lowercase',
    image: 'Shop/Web',
    want: '"Shop/Web" is not a valid image name',
  },
  {
    reason: 'ErrImageNeverPull',
    text: `Container image "${image}" is not present with pull policy of Never`,
    want: `image ${image} is not on the node, and its pull policy is Never`,
  },
  {
    text: pulling('the moon is full'),
    want: `image ${image} cannot be pulled: failed to resolve reference "${image}": the moon is full`,
  },
  { text: `Back-off pulling image "${image}"`, want: `image ${image} cannot be pulled` },
  { text: '', image: 'shop/unauthorized-404:1', want: 'image shop/unauthorized-404:1 cannot be pulled' },
];
for (const { text, reason = 'ImagePullBackOff', want, image: of = image } of pulls)
  test(`a pull that fails: ${want}`, () => assert.equal(pullFailureInWords(of, reason, text), want));

test('a back-off alone says nothing about why', () => {
  assert.equal(saysWhy(`Back-off pulling image "${image}"`), false);
  assert.equal(saysWhy(pulling('boom')), true);
});

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

const sandboxes: [text: string, want: string][] = [
  ['Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a1b": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized', 'the network plugin calico fails: error getting ClusterInformation: connection is unauthorized'],
  ['Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "0a1b": no IP addresses available in range set', 'the pod gets no network: no IP addresses available in range set'],
  ['Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image "registry.k8s.io/pause:3.9": failed to pull', 'the sandbox image registry.k8s.io/pause:3.9 is not on the node and cannot be pulled'],
  ['Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "gvisor" is configured', 'the node has no container runtime "gvisor"'],
  ['Failed to create pod sandbox: boom', 'boom'],
]; // prettier-ignore
for (const [text, want] of sandboxes) test(`no sandbox: ${want}`, () => assert.equal(sandboxInWords(text), want));

const evictions: [text: string, want: string][] = [
  ['The node was low on resource: memory. Threshold quantity: 100Mi, available: 20Mi. Container app was using 300Mi, request is 0, has larger consumption of memory. ', 'the node was low on memory (20Mi left, it keeps 100Mi free)'],
  ['The node was low on resource: ephemeral-storage. ', 'the node was low on ephemeral-storage'],
  ['The node had condition: [DiskPressure]. ', 'the node had DiskPressure'],
  ['Container app exceeded its local ephemeral storage limit "1Gi". ', 'container app wrote more than its limit of 1Gi to local disk'],
  ['Usage of EmptyDir volume "cache" exceeds the limit "64Mi". ', 'its emptyDir volume cache grew over its limit of 64Mi'],
  ['Pod ephemeral local storage usage exceeds the total limit of containers 2Gi. ', 'it wrote more than its limit of 2Gi to local disk'],
  ['boom', 'boom'],
]; // prettier-ignore
for (const [text, want] of evictions) test(`evicted: ${want}`, () => assert.equal(evictionInWords(text), want));

const creations: [text: string, want: string][] = [
  ['container has runAsNonRoot and image will run as root (pod: "web", container: app)', 'container app may not run as root, and its image does'],
  ['container has runAsNonRoot and image has non-numeric user (www), cannot verify user is non-root', 'container app may not run as root, and its image does not say its user by number'],
  ['failed to create containerd task: exec: "srver": executable file not found in $PATH: unknown', 'container app has no program srver'],
  ['rpc error: code = Unknown desc = failed to reserve container name', 'container app cannot be created: failed to reserve container name'],
  ['', 'container app cannot be created'],
]; // prettier-ignore
for (const [text, want] of creations)
  test(`a container: ${want}`, () => assert.equal(creationInWords('app', text), want));
