import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimInWords, volumeInWords } from '../../../src/diagnosis/storage.ts';

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
