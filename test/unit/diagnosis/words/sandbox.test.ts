import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creationInWords, evictionInWords, sandboxInWords } from '../../../../src/diagnosis/words/sandbox.ts';

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
