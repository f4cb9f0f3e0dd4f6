/** What the test cluster is made of and where things are in it. Every other file here reads it from this one. */

export const kubernetesVersion = 'v1.36.3';
export const containerdVersion = 'v2.4.2';

export const nodeName = 'real-1';
export const nodeAddress = '10.99.0.1';
export const podRange = '10.88.0.0/16';
export const serviceRange = '10.0.0.0/24';
/** The first address of the service range always belongs to the `kubernetes` Service. */
export const apiServiceAddress = '10.0.0.1';
export const apiPort = 6443;
export const server = `https://${nodeAddress}:${apiPort}`;

export const containerdSocket = '/run/containerd/containerd.sock';

export const pauseImage = 'localhost/pause:1';
export const appImages = ['localhost/app:1.0', 'localhost/app:1.1'] as const;

/** One binary acts as all of these, by the name it is called with. */
export const kubernetesNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kubectl',
] as const;

export type ComponentName =
  'etcd' | 'containerd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubelet';
