import assert from 'node:assert/strict';
import { test } from 'node:test';
import { legibleAt, withoutSecrets } from '../../../src/kube/template-secrets.ts';

const closed: [string, unknown?][] = [
  ['spec.containers.0.env.0.value'],
  ['spec.initContainers.0.env.0.value'],
  ['spec.containers.0.args.0'],
  ['spec.containers.0.args.1', 1234],
  ['spec.containers.0.command.2'],
  ['spec.containers.0.livenessProbe.exec.command.0'],
  ['spec.containers.0.lifecycle.postStart.exec.command.0'],
  ['spec.containers.0.lifecycle.preStop.httpGet.httpHeaders.0.value'],
  ['spec.containers.0.readinessProbe.httpGet.httpHeaders.0.value'],
  ['spec.volumes.0.csi.volumeAttributes.name'],
  ['spec.volumes.0.flexVolume.options.path'],
  ['spec.volumes.0.ephemeral.volumeClaimTemplate.metadata.annotations.note'],
  ['metadata.annotations.note'],
  ['metadata.annotations.kubectl.kubernetes.io/restartedAt'],
  ['spec.securityContext.windowsOptions.gmsaCredentialSpec'],
  ['spec.containers.0.aFieldOfTomorrow'],
];
for (const [at, value = 'swordfish'] of closed)
  test(`a text is not shown at ${at}`, () => assert.equal(legibleAt(stepsOf(at), value), undefined));

const open: [string, unknown][] = [
  ['spec.containers.0.image', `shop/web@sha256:${'0123456789abcdef'.repeat(4)}`],
  ['spec.containers.0.env.0.name', 'DB_PASSWORD'],
  ['spec.containers.0.env.0.valueFrom.secretKeyRef.name', 'db-credentials'],
  ['spec.containers.0.env.0.valueFrom.secretKeyRef.key', 'password'],
  ['spec.containers.0.envFrom.0.secretRef.name', 'db-credentials'],
  ['spec.containers.0.resources.limits.memory', '256Mi'],
  ['spec.containers.0.ports.0.containerPort', 8080],
  ['spec.containers.0.readinessProbe.httpGet.path', '/healthz'],
  ['spec.containers.0.readinessProbe.httpGet.httpHeaders.0.name', 'Authorization'],
  ['spec.containers.0.readinessProbe.httpGet.port', 'http'],
  ['spec.volumes.0.secret.secretName', 'db-credentials'],
  ['spec.volumes.0.csi.driver', 'secrets-store.csi.k8s.io'],
  ['spec.volumes.0.csi.nodePublishSecretRef.name', 'db-credentials'],
  ['spec.tolerations.0.value', 'gpu'],
  ['spec.dnsConfig.options.0.value', '2'],
  ['spec.nodeSelector.disk', 'ssd'],
  ['metadata.labels.pod-template-hash', '7d9f8b6c5d'],
];
for (const [at, value] of open)
  test(`${String(value)} is shown at ${at}`, () => assert.equal(legibleAt(stepsOf(at), value), String(value)));

function stepsOf(at: string): string[] {
  const [, before, key] = /^(.*annotations)\.(.*)$/.exec(at) ?? [];
  return before === undefined ? at.split('.') : [...before.split('.'), key!];
}

test('when it was restarted is shown, if it is a time', () => {
  const at = ['metadata', 'annotations', 'kubectl.kubernetes.io/restartedAt'];
  assert.equal(legibleAt(at, '2026-11-01T09:00:00+01:00'), '2026-11-01T09:00:00+01:00');
});

test('the query of a probe is not shown, its path is', () => {
  const at = 'spec.containers.0.livenessProbe.httpGet.path'.split('.');
  assert.equal(legibleAt(at, '/ready?k=swordfish'), '/ready?[redacted]');
});

test('a password in an address that may be read is not', () =>
  assert.equal(
    legibleAt('spec.volumes.0.nfs.server'.split('.'), 'https://ada:hunter2@git/x'),
    'https://[redacted]@git/x',
  ));

test('a template for people keeps its keys, its numbers and its names', () => {
  const template = {
    metadata: { labels: { app: 'a' }, annotations: { note: 'swordfish' } },
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: 'app',
          image: 'a:1',
          args: ['--password', 'swordfish'],
          env: [
            { name: 'A', value: 'swordfish' },
            { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
          ],
          ports: [{ containerPort: 80 }],
        },
      ],
    },
  };
  assert.deepEqual(withoutSecrets(template), {
    metadata: { labels: { app: 'a' }, annotations: { note: '(hidden)' } },
    spec: {
      hostNetwork: true,
      containers: [
        {
          name: 'app',
          image: 'a:1',
          args: ['(hidden)', '(hidden)'],
          env: [{ name: 'A', value: '(hidden)' }, template.spec.containers[0]!.env[1]],
          ports: [{ containerPort: 80 }],
        },
      ],
    },
  });
});
