import type { KubeObject } from '../../../src/kube/api.ts';
import type { ActionSpec } from '../../../src/kube/remediation.ts';
import type { RolledOutKind } from '../../../src/actions/action.ts';
import { restartedAt } from '../../../src/kube/template-secrets.ts';
import type { FakeServer } from '../../support/fake-api.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { bad, good, health, template, type World, world } from './world.ts';

/* One world for each action and kind of target: a workload `checkout` in namespace `shop` that the action heals. */

/** What others put there: injectors, GitOps tools (without claiming to own it), kubectl. None of it is ours to touch. */
export const foreign = {
  labels: { app: 'checkout', 'app.kubernetes.io/managed-by': 'Helm', 'istio.io/rev': '1-22' },
  annotations: {
    'argocd.argoproj.io/sync-wave': '5',
    'argocd.argoproj.io/compare-options': 'IgnoreExtraneous',
    'kubectl.kubernetes.io/last-applied-configuration': '{"apiVersion":"apps/v1",\n "x": " as it is\\t"}\n',
    'deployment.kubernetes.io/revision': '2',
  },
};
export const foreignInTemplate = {
  'sidecar.istio.io/inject': 'true',
  'sidecar.istio.io/status': '{"initContainers":["istio-init"],"revision":"default"}',
  'vault.hashicorp.com/agent-inject': 'true',
  [restartedAt]: '2026-11-01T09:00:00+01:00',
};

type Spec = { replicas: number; template: ReturnType<typeof template> };
const specOf = (server: FakeServer, kind: RolledOutKind): Spec =>
  server.get(kind, 'shop', 'checkout')?.['spec'] as Spec;

interface Scene {
  kind: RolledOutKind;
  spec?: object;
  status?: object;
  action(uid: string, server: FakeServer): ActionSpec;
  isWhole(server: FakeServer): boolean;
}

function stage({ kind, spec, status, action, isWhole }: Scene): World {
  const clock = fakeClock();
  const server = fakeServer(clock);
  const { uid } = server.seed(kind, 'shop', {
    metadata: { name: 'checkout', ...foreign },
    spec: { replicas: 3, template: template(bad, foreignInTemplate), ...spec },
    status: { replicas: 3, ...status },
  }).metadata;
  return world(server, clock, {
    action: action(uid, server),
    object: { kind, name: 'checkout', uid },
    readHealth: () => health({ healthy: isWhole(server), why: '0/3 ready' }),
  });
}

const owned = (kind: string, uid: string, name = 'checkout') => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
});

export const imageWorld = (): World =>
  stage({
    kind: 'Deployment',
    action: (uid) => ({
      type: 'PatchDeploymentImage',
      patchDeploymentImage: { name: 'checkout', uid, container: 'app', image: good },
    }),
    isWhole: (server) => specOf(server, 'Deployment').template.spec.containers[0]?.image === good,
  });

export const initImageWorld = (): World => {
  const whole = template(good, foreignInTemplate);
  const initContainers = [{ name: 'wait', image: 'shop/wait:1' }, { name: 'migrate', image: 'shop/migrate:typo' }]; // prettier-ignore
  return stage({
    kind: 'Deployment',
    spec: { template: { ...whole, spec: { ...whole.spec, initContainers } } },
    action: (uid) => ({
      type: 'PatchDeploymentImage',
      patchDeploymentImage: { name: 'checkout', uid, container: 'migrate', image: 'shop/migrate:3' },
    }),
    isWhole: (server) => JSON.stringify(specOf(server, 'Deployment')).includes('"image":"shop/migrate:3"'),
  });
};

export const scaleWorld = (): World =>
  stage({
    kind: 'Deployment',
    spec: { replicas: 10 },
    action: (uid) => ({ type: 'ScaleDeployment', scaleDeployment: { name: 'checkout', uid, replicas: 3 } }),
    isWhole: (server) => specOf(server, 'Deployment').replicas === 3,
  });

export const restartWorld = (kind: RolledOutKind) => (): World =>
  stage({
    kind,
    action: (uid) => ({ type: 'RolloutRestart', rolloutRestart: { kind, name: 'checkout', uid } }),
    isWhole: (server) =>
      specOf(server, kind).template.metadata.annotations?.[restartedAt] !== foreignInTemplate[restartedAt],
  });

/** The second ControllerRevision has the bad image. */
export const undoWorldOf = (kind: 'StatefulSet' | 'DaemonSet') => (): World =>
  stage({
    kind,
    action: (uid, server) => {
      for (const [n, image] of [good, bad].entries())
        server.seed('ControllerRevision', 'shop', {
          metadata: { name: `checkout-${n}`, ...owned(kind, uid) },
          data: {
            spec: { template: { $patch: 'replace', ...template(image, n === 1 ? foreignInTemplate : undefined) } },
          },
          revision: n + 1,
        });
      return { type: 'RolloutUndo', rolloutUndo: { kind, name: 'checkout', uid, toRevision: 1 } };
    },
    isWhole: (server) => specOf(server, kind).template.spec.containers[0]?.image === good,
  });

export const aPodOf = (server: FakeServer, kind: string, uid: string, name: string, over: object = {}): KubeObject =>
  server.seed('Pod', 'shop', {
    metadata: { name, labels: foreign.labels, ...owned(kind, uid, 'checkout') },
    spec: {
      nodeName: 'worker-1',
      terminationGracePeriodSeconds: 0, // there is no kubelet that ends it
      containers: [{ name: 'app', image: good, env: [{ name: 'DSN', value: 'hunter2' }] }],
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'False' }] },
    ...over,
  });

/** One pod of three that is not ready; it belongs to the workload itself or, of a Deployment, to its ReplicaSet. */
export const podWorld = (kind: RolledOutKind) => (): World =>
  stage({
    kind,
    action: (uid, server) => {
      const set =
        kind === 'Deployment'
          ? server.seed('ReplicaSet', 'shop', {
              metadata: { name: 'checkout', ...owned(kind, uid) },
              spec: { replicas: 3 },
            }).metadata.uid
          : uid;
      const { metadata } = aPodOf(server, kind === 'Deployment' ? 'ReplicaSet' : kind, set, 'checkout-x2x4z');
      return { type: 'DeletePod', deletePod: { name: 'checkout-x2x4z', uid: metadata.uid } };
    },
    isWhole: (server) => server.get('Pod', 'shop', 'checkout-x2x4z') === undefined,
  });

/** A StatefulSet that waits for a pod which will never be ready. */
export function stuckSetWorld(): World {
  const made = undoWorldOf('StatefulSet')();
  const { uid } = made.server.get('StatefulSet', 'shop', 'checkout')!.metadata;
  aPodOf(made.server, 'StatefulSet', uid, 'checkout-2');
  return made;
}

/** Every action, on every kind that it is for. */
export const actionWorlds: Readonly<Record<string, () => World>> = {
  'image change': imageWorld,
  'image change of an init container': initImageWorld,
  scaling: scaleWorld,
  'restart of a Deployment': restartWorld('Deployment'),
  'restart of a StatefulSet': restartWorld('StatefulSet'),
  'restart of a DaemonSet': restartWorld('DaemonSet'),
  'deletion of a pod of a Deployment': podWorld('Deployment'),
  'deletion of a pod of a StatefulSet': podWorld('StatefulSet'),
  'deletion of a pod of a DaemonSet': podWorld('DaemonSet'),
  'undo of a StatefulSet': undoWorldOf('StatefulSet'),
  'undo of a stuck StatefulSet': stuckSetWorld,
  'undo of a DaemonSet': undoWorldOf('DaemonSet'),
};
