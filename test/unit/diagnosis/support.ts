import { apiVersionOf, isKnownKind } from '../../../src/kube/resources.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

/** A namespace `shop` on a server in memory, and who reads it. */
export function aShop() {
  const server = fakeServer(fakeClock());
  return { server, reader: server.client() };
}
export type Shop = ReturnType<typeof aShop>;

export interface Owner {
  kind: string;
  name: string;
  uid: string;
}

export const ownedBy = ({ kind, name, uid }: Owner) => ({
  ownerReferences: [
    { apiVersion: isKnownKind(kind) ? apiVersionOf(kind) : 'example.com/v1', kind, name, uid, controller: true },
  ],
});

const ended = { exitCode: 1, reason: 'Error', startedAt: '2026-11-16T03:00:00Z', finishedAt: '2026-11-16T03:00:20Z' };
export const crashing = {
  name: 'app',
  ready: false,
  restartCount: 3,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: ended },
};
/** As kubelet leaves it on a pod that was evicted. */
export const endedForGood = { name: 'app', ready: false, restartCount: 3, state: { terminated: ended } };
export const up = { name: 'app', ready: true, restartCount: 0, state: { running: {} } };

/** A pod of its owner; ready unless its container says otherwise. */
export function aPodOf({ server }: Shop, name: string, owner?: Owner, container = up as object, phase = 'Running') {
  const ready = (container as { ready: boolean }).ready ? 'True' : 'False';
  server.seed('Pod', 'shop', {
    metadata: { name, labels: { app: 'a' }, ...(owner && ownedBy(owner)) },
    status: { phase, conditions: [{ type: 'Ready', status: ready }], containerStatuses: [container] },
  });
}

/** Seeds a workload that selects app=a, and says who it is. */
export function aWorkload(
  { server }: Shop,
  kind: 'Deployment' | 'StatefulSet' | 'DaemonSet' | 'Job' | 'CronJob' | 'ReplicaSet',
  spec: object,
  status: object,
  owner?: Owner,
): Owner {
  const selector = kind === 'CronJob' ? {} : { selector: { matchLabels: { app: 'a' } } };
  const { metadata } = server.seed(kind, 'shop', {
    metadata: { name: `a-${kind.toLowerCase()}`, labels: { app: 'a' }, ...(owner && ownedBy(owner)) },
    spec: { ...selector, ...spec },
    status,
  });
  return { kind, name: metadata.name, uid: metadata.uid };
}
