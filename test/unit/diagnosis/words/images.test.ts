import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closestImage, pullFailureInWords, registryOf, saysWhy } from '../../../../src/diagnosis/words/images.ts';

const inUse = ['shop/web:1.41', 'shop/web:1.0', 'shop/web@sha256:abc', 'shop/worker:1.0', 'postgres:15'].map(
  (image) => ({ image, workload: 'w' }),
);
const closest: [image: string, want: string | undefined][] = [
  ['shop/web:1.42', 'shop/web:1.41'],
  ['shop/web:1.O', 'shop/web:1.0'],
  ['shop/wbe:1.0', 'shop/web:1.0'],
  ['postgres:15', undefined],
  ['redis:7', undefined],
];
for (const [image, want] of closest)
  test(`closest to ${image}: ${want ?? 'nothing'}`, () => assert.equal(closestImage(image, inUse)?.image, want));

test('the parts of an image name', () => {
  assert.deepEqual(['nginx', 'shop/web', 'localhost/a', 'r:5000/a', 'ghcr.io/a/b'].map(registryOf), [
    'docker.io',
    'docker.io',
    'localhost',
    'r:5000',
    'ghcr.io',
  ]);
});

const image = 'registry.example.com:5000/shop/web:1.O';
const pulling = (why: string): string =>
  `Back-off pulling image "${image}": ErrImagePull: rpc error: code = Unknown desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${why}`;

const pulls: { text: string; reason?: string; want: string; image?: string }[] = [
  { text: pulling(`${image}: not found`), want: `image ${image} not found` },
  {
    text: 'manifest unknown: manifest unknown',
    want: `image ${image} not found`,
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
    want: `image ${image}: registry.example.com:5000 refuses the connection`,
  },
  {
    text: pulling(
      'failed to do request: Head "https://registry.example.com:5000/v2/": dial tcp 10.0.0.9:5000: i/o timeout',
    ),
    want: `image ${image}: registry.example.com:5000 times out`,
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
