import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blindInWords } from '../../../../src/diagnosis/autoscaler.ts';
import { claimInWords, volumeInWords } from '../../../../src/diagnosis/storage.ts';
import { missingIn, missingInWords, needs, referencesIn } from '../../../../src/diagnosis/words/references.ts';

const missing: [text: string, want: string][] = [
  ['configmap "missing" not found', 'ConfigMap missing does not exist'],
  ['Error: secret "db" not found', 'Secret db does not exist'],
  ["couldn't find key LOG_LEVEL in ConfigMap shop/web-config", 'ConfigMap web-config has no key LOG_LEVEL'],
  ["Error: couldn't find key password in Secret shop/db.v2", 'Secret db.v2 has no key password'],
  ['MountVolume.SetUp failed for volume "s" : secret "nope" not found', 'Secret nope does not exist'],
  ['MountVolume.SetUp failed for volume "tls" : references non-existent secret key: tls.crt', 'the Secret of volume tls has no key tls.crt'],
  ['MountVolume.SetUp failed for volume "c" : configmap references non-existent config key: app.yaml', 'the ConfigMap of volume c has no key app.yaml'],
  ['MountVolume.SetUp failed for volume "all" : [secret "a" not found, configmap "b" not found]', 'Secret a does not exist; ConfigMap b does not exist'],
  ['container has runAsNonRoot and image will run as root', ''],
]; // prettier-ignore
for (const [text, want] of missing)
  test(`missing: ${want || 'nothing by name'}`, () =>
    assert.equal(missingIn(text).map(missingInWords).join('; '), want));

const template = {
  spec: {
    initContainers: [{ name: 'i', envFrom: [{ secretRef: { name: 'init' } }] }],
    containers: [
      {
        name: 'app',
        env: [
          { name: 'A', valueFrom: { configMapKeyRef: { name: 'web', key: 'a' } } },
          { name: 'B', valueFrom: { secretKeyRef: { name: 'db', key: 'b', optional: true } } },
          { name: 'C', value: 'plain' },
        ],
        envFrom: [{ configMapRef: { name: 'all', optional: true } }],
      },
    ],
    volumes: [
      { name: 'tls', secret: { secretName: 'cert', items: [{ key: 'tls.crt', path: 'x' }] } },
      { name: 'both', projected: { sources: [{ configMap: { name: 'p1' } }, { secret: { name: 'p2' } }] } },
      { name: 'maybe', configMap: { name: 'm', optional: true } },
    ],
  },
};

test('what a template needs, and what it only would like', () =>
  assert.deepEqual(
    referencesIn(template).map(({ kind, name, key, volume }) => [kind, name, key, volume].filter(Boolean).join(' ')),
    [
      'Secret init',
      'ConfigMap web a',
      'Secret cert tls',
      'Secret cert tls.crt tls',
      'ConfigMap p1 both',
      'Secret p2 both',
    ],
  ));

const needed: { name: string; of: Parameters<typeof needs>[1]; want: boolean }[] = [
  { name: 'a Secret by its name', of: { kind: 'Secret', name: 'cert' }, want: true },
  { name: 'a key of it', of: { kind: 'Secret', name: 'cert', key: 'tls.crt' }, want: true },
  { name: 'another key of it', of: { kind: 'Secret', name: 'cert', key: 'ca.crt' }, want: false },
  { name: 'a ConfigMap of the same name', of: { kind: 'ConfigMap', name: 'cert' }, want: false },
  { name: 'a key of a volume', of: { kind: 'Secret', name: '', key: 'tls.crt', volume: 'tls' }, want: true },
  { name: 'a key of another volume', of: { kind: 'Secret', name: '', key: 'tls.crt', volume: 'other' }, want: false },
  { name: 'what is optional', of: { kind: 'ConfigMap', name: 'm' }, want: false },
];
for (const { name, of, want } of needed)
  test(`the template needs ${name}: ${want ? 'yes' : 'no'}`, () => assert.equal(needs(template, of), want));

test('an odd template needs nothing', () =>
  assert.deepEqual(referencesIn({ spec: { containers: 7, volumes: [null] } as never }), []));

const volumes: [text: string, want: string][] = [
  ['Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) web-0', 'volume pvc-1 is still in use on another node, by web-0'],
  ['Multi-Attach error for volume "pvc-1" Volume is already used by 2 pod(s) in different namespaces', 'volume pvc-1 is still in use on another node, by 2 pods in different namespaces'],
  ["Multi-Attach error for volume \"pvc-1\" Volume is already exclusively attached to one node and can't be attached to another", 'volume pvc-1 is still attached to another node'],
  ['AttachVolume.Attach failed for volume "pvc-1" : rpc error: code = Internal desc = Could not attach volume "vol-9": quota', 'volume pvc-1 cannot be attached: Could not attach volume "vol-9": quota'],
  ['MountVolume.MountDevice failed for volume "pvc-1" : rpc error: code = Internal desc = failed to format', 'volume pvc-1 cannot be mounted: failed to format'],
  ['MountVolume.SetUp failed for volume "nfs" : mount failed: exit status 32', 'volume nfs cannot be mounted: mount failed: exit status 32'],
  ['MountVolume.MountDevice failed for volume "pvc-1" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: driver name ebs.csi.aws.com not found in the list of registered CSI drivers', 'storage driver ebs.csi.aws.com is not running on the node'],
  ['MountVolume.SetUp failed for volume "d" : hostPath type check failed: /data is not a directory', 'host path /data is not a directory'],
  ['MountVolume.SetUp failed for volume "c" : failed to sync configmap cache: timed out waiting for the condition', 'kubelet could not read a ConfigMap in time'],
  ['MountVolume.SetUp failed for volume "s" : secret "nope" not found', 'Secret nope does not exist'],
  ['Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data kube-api-access-x], failed to process volumes=[]: timed out waiting for the condition', 'volume data was not mounted in time'],
  ['Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC shop/data: failed to fetch PVC from API server: persistentvolumeclaim "data" not found', 'volume claim data does not exist'],
  ['boom', 'boom'],
]; // prettier-ignore
for (const [text, want] of volumes) test(`a volume: ${want}`, () => assert.equal(volumeInWords(text), want));

const claims: [text: string, want: string][] = [
  ['storageclass.storage.k8s.io "fast" not found', 'StorageClass fast does not exist'],
  ['no persistent volumes available for this claim and no storage class is set', 'it names no StorageClass, there is no default one, and no volume fits it'],
  ['Bound claim has lost its PersistentVolume. Data on the volume is lost!', 'the volume it was bound to is gone'],
  ['Cannot bind to requested volume "pv-1": requested PV is too small', 'volume pv-1 does not fit it: requested PV is too small'],
  ['failed to provision volume with StorageClass "gp3": rpc error: code = ResourceExhausted desc = limit exceeded', 'StorageClass gp3 makes no volume: limit exceeded'],
  ['boom', 'boom'],
]; // prettier-ignore
for (const [text, want] of claims) test(`a claim: ${want}`, () => assert.equal(claimInWords(text), want));

const blind: [text: string, want: string][] = [
  ['the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)', 'it cannot read cpu: the API metrics.k8s.io (metrics-server) is not installed'],
  ['failed to get memory utilization: unable to get metrics for resource memory: unable to fetch metrics from resource metrics API: the server is currently unable to handle the request (get pods.metrics.k8s.io)', 'it cannot read memory: the API metrics.k8s.io (metrics-server) does not answer'],
  ['the HPA was unable to compute the replica count: failed to get cpu utilization: missing request for cpu in container app of Pod web-1', 'it cannot read cpu: its pods make no request for cpu in container app'],
  ['the HPA was unable to compute the replica count: failed to get external metric queue_depth: unable to get external metric shop/queue_depth/nil: no metrics returned from external metrics API', 'it cannot read queue_depth: the API external.metrics.k8s.io has no values'],
  ['failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)', 'it cannot read cpu: no ready pod has values yet'],
  ["the HPA controller was unable to get the target's current scale: deployments.apps \"nope\" not found", 'deployment nope, which it should scale, does not exist'],
  ['boom', 'boom'],
]; // prettier-ignore
for (const [text, want] of blind) test(`a blind autoscaler: ${want}`, () => assert.equal(blindInWords(text), want));
