import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodTemplate } from '../../../../src/kube/views.ts';
import {
  causesAmong,
  differencesOf,
  rolloutCauses,
  type RolloutTroubleKind,
} from '../../../../src/proposals/fixes/rollout-causes.ts';

const app = (over: object = {}) => ({ name: 'app', image: 'shop/web:1', ...over });
const template = (container: object = app(), spec: object = {}, metadata: object = {}): PodTemplate =>
  ({ metadata: { labels: { app: 'web' }, ...metadata }, spec: { containers: [container], ...spec } }) as PodTemplate;
const probe = { httpGet: { path: '/', port: 8080 } };
const data = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];

/** For each path of the table, a template that differs from the usual one there. */
const changes: Readonly<Record<string, PodTemplate>> = {
  container: template(app(), { initContainers: [{ name: 'init', image: 'shop/init:1' }] }),
  'container.image': template(app({ image: 'shop/web:2' })),
  'container.imagePullPolicy': template(app({ imagePullPolicy: 'Never' })),
  'container.command': template(app({ command: ['/bin/shpo'] })),
  'container.args': template(app({ args: ['--all'] })),
  'container.workingDir': template(app({ workingDir: '/srv' })),
  'container.env': template(app({ env: [{ name: 'HEAP', value: '1g' }] })),
  'container.envFrom': template(app({ envFrom: [{ configMapRef: { name: 'web' } }] })),
  'container.volumeMounts': template(app({ volumeMounts: [{ name: 'data', mountPath: '/data' }] })),
  'container.volumeDevices': template(app({ volumeDevices: [{ name: 'data', devicePath: '/dev/sdb' }] })),
  'container.ports': template(app({ ports: [{ containerPort: 8081 }] })),
  'container.hostPorts': template(app({ ports: [{ containerPort: 8080, hostPort: 8080 }] })),
  'container.readinessProbe': template(app({ readinessProbe: probe })),
  'container.livenessProbe': template(app({ livenessProbe: probe })),
  'container.startupProbe': template(app({ startupProbe: probe })),
  'container.lifecycle': template(app({ lifecycle: { postStart: { exec: { command: ['x'] } } } })),
  'container.requests': template(app({ resources: { requests: { cpu: '64' } } })),
  'container.limits': template(app({ resources: { limits: { memory: '1Gi' } } })),
  'container.limits.memory lowered': template(app({ resources: { limits: { memory: '1Gi' } } })),
  'container.securityContext': template(app({ securityContext: { privileged: true } })),
  resources: template(app(), { resources: { limits: { memory: '1Gi' } } }),
  volumes: template(app(), { volumes: [{ name: 'tmp', emptyDir: {} }] }),
  'volumes.claims': template(app(), { volumes: data }),
  securityContext: template(app(), { securityContext: { runAsUser: 0 } }),
  labels: template(app(), {}, { labels: { app: 'web', team: 'shop' } }),
  annotations: template(app(), {}, { annotations: { 'example.com/mode': 'x' } }),
};
const podFields: Readonly<Record<string, unknown>> = {
  hostNetwork: true, hostPID: true, hostIPC: true, hostUsers: false, dnsPolicy: 'None', dnsConfig: { nameservers: ['1.1.1.1'] },
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['db'] }], nodeSelector: { disk: 'ssd' }, nodeName: 'node-9', affinity: { nodeAffinity: {} },
  tolerations: [{ key: 'gpu' }], topologySpreadConstraints: [{ maxSkew: 1 }], overhead: { cpu: '1' }, runtimeClassName: 'kata',
  priorityClassName: 'high', preemptionPolicy: 'Never', schedulerName: 'other', resourceClaims: [{ name: 'gpu' }],
  imagePullSecrets: [{ name: 'login' }], serviceAccountName: 'shop-api',
}; // prettier-ignore
const changed = (path: string): PodTemplate => changes[path] ?? template(app(), { [path]: podFields[path] });
const paths = [...Object.keys(changes), ...Object.keys(podFields)];

/** Changes that are at several paths of the table at once: the others that they have. */
const also: Readonly<Record<string, readonly string[]>> = {
  'container.hostPorts': ['container.ports'],
  'container.limits': ['container.limits.memory lowered'],
  'container.limits.memory lowered': ['container.limits'],
  'volumes.claims': ['volumes'],
};

for (const [kind, causes] of Object.entries(rolloutCauses) as [RolloutTroubleKind, readonly string[] | 'any'][]) {
  test(`${kind}: every path of its row can be told from a template`, () => {
    for (const path of causes === 'any' ? [] : causes) assert.ok(paths.includes(path), path);
  });
  for (const path of paths) {
    const want = causes === 'any' || [path, ...(also[path] ?? [])].some((one) => causes.includes(one));
    test(`${kind}: a change of ${path} ${want ? 'can' : 'cannot'} have brought it`, () => {
      const found = causesAmong(kind, differencesOf(template(), changed(path)));
      assert.equal(found.length > 0, want, JSON.stringify(found));
    });
  }
}

const limit = (memory: string) => template(app({ resources: { limits: { memory } } }));
const restarted = template(app(), {}, { annotations: { 'kubectl.kubernetes.io/restartedAt': '2026-11-18T03:00:00Z' } });
const others: { name: string; before?: PodTemplate; after: PodTemplate; want: string[] }[] = [
  { name: 'nothing', after: template(), want: [] },
  { name: 'only the time of a restart', after: restarted, want: [] },
  { name: 'the hash of the ReplicaSet', after: template(app(), {}, { labels: { app: 'web', 'pod-template-hash': 'x' } }), want: [] },
  { name: 'a higher limit', before: limit('64Mi'), after: limit('128Mi'), want: ['container.limits of app'] },
  { name: 'a lower limit', before: limit('128Mi'), after: limit('64Mi'), want: ['container.limits of app', 'container.limits.memory lowered of app'] },
  { name: 'the same limit in other words', before: limit('1Gi'), after: limit('1024Mi'), want: ['container.limits of app'] },
  { name: 'the old name of the account', after: template(app(), { serviceAccount: 'x' }), want: [] },
]; // prettier-ignore
for (const { name, before = template(), after, want } of others)
  test(`two templates differ in ${name}`, () => {
    const said = differencesOf(before, after).map(
      ({ path, container }) => path + (container ? ` of ${container}` : ''),
    );
    assert.deepEqual(said, want);
  });

test('a container is killed for memory by what changed in itself, not in another one', () => {
  const two = (image: string) => template(app(), { initContainers: [{ name: 'proxy', image }] });
  const differences = differencesOf(two('shop/proxy:1'), two('shop/proxy:2'));
  assert.deepEqual(causesAmong('OOMKilled', differences, ['app']), []);
  assert.equal(causesAmong('OOMKilled', differences, ['proxy']).length, 1);
});
