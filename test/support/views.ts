import type { ContainerView, EventView, PodView, ReplicaSetView } from '../../src/kube/views.ts';

/** Builders: a healthy thing by default, each test names only what it is about. */
export const anEvent = (over: Partial<EventView> = {}): EventView => ({
  namespace: 'shop',
  name: 'checkout.18e8',
  uid: 'e-1',
  type: 'Warning',
  reason: 'BackOff',
  message: 'Back-off restarting failed container app in pod checkout-7d9f8b6c5d-x2x4z_shop(1)',
  object: { kind: 'Pod', name: 'checkout-7d9f8b6c5d-x2x4z', namespace: 'shop', uid: 'p-1' },
  count: 1,
  lastSeenMs: 0,
  ...over,
});

export const aContainer = (over: Partial<ContainerView> = {}): ContainerView => ({
  name: 'app',
  ready: true,
  restarts: 0,
  isDown: false,
  ...over,
});

export const crashing: ContainerView = aContainer({
  ready: false,
  restarts: 4,
  waiting: 'CrashLoopBackOff',
  ended: { reason: 'Error', exitCode: 1, uptimeMs: 300, finishedAtMs: 1 },
});

export const aPod = (over: Partial<PodView> = {}): PodView => ({
  namespace: 'shop',
  name: 'checkout-7d9f8b6c5d-x2x4z',
  uid: 'p-1',
  phase: 'Running',
  deleting: false,
  ready: true,
  readySinceMs: 0,
  owner: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'checkout-7d9f8b6c5d', uid: 'rs-2', controller: true },
  containers: [aContainer()],
  ...over,
});

export const aReplicaSet = (over: Partial<ReplicaSetView> = {}): ReplicaSetView => ({
  namespace: 'shop',
  name: 'checkout-7d9f8b6c5d',
  uid: 'rs-2',
  owner: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'checkout', uid: 'd-1', controller: true },
  revision: 2,
  templateHash: '7d9f8b6c5d',
  desired: 3,
  available: 3,
  createdAtMs: 0,
  ...over,
});
