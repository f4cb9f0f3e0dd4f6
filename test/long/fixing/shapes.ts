import type { RolledOutKind } from '../../../src/actions/action.ts';
import type { Api, KubeObject } from '../../../src/kube/api.ts';
import { controllerOf } from '../../../src/kube/raw.ts';
import type { Kind } from '../../../src/kube/resources.ts';

/** Where a fix is applied: one of the actions, on one kind of workload. */
export interface Site {
  kind: RolledOutKind;
  /** Its first revision was well. */
  startsWell?: boolean;
  /** As long as it takes until it stands. */
  brokenAfterMs: number;
  make(api: Api, namespace: string): Promise<unknown>;
  /** The second revision, or whatever broke it. */
  worsen?(api: Api, namespace: string): Promise<unknown>;
  fix(api: Api, namespace: string): Promise<{ object: object; action: object }>;
}

/** A site, and how its pods behave before and after the fix: the nth of each, in words of the simulated kubelet. */
export interface Shape {
  name: string;
  site: Site;
  class: string;
  before(n: number): string;
  after(n: number, image: string): string;
  /** What others do to it once the fix is applied. */
  others?(api: Api, namespace: string): Promise<unknown>;
}

export const incidentOf = (namespace: string, failureClass: string, object: object): object => ({
  key: `${namespace}/Deployment/checkout`,
  class: failureClass,
  severity: 'critical',
  reason: failureClass,
  object,
  message: '',
  firstSeen: '2026-11-16T03:12:00Z',
});

const name = 'checkout';

const template = (app: string, image: string, init?: string) => ({
  metadata: { labels: { app } },
  spec: {
    terminationGracePeriodSeconds: 1,
    ...(init && { initContainers: [{ name: 'migrate', image: init }] }),
    containers: [{ name: 'app', image, resources: { requests: { memory: '16Mi' } } }],
  },
});

interface Made {
  app?: string;
  image?: string;
  init?: string;
  replicas?: number;
  /** Of a Deployment: whether the pods of the revision before go on while the new ones do not come up. */
  atOnce?: boolean;
}

const made = (kind: RolledOutKind, { app = name, image = 'shop/app:1', init, replicas = 3, atOnce }: Made): object => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: app },
  spec: {
    ...(kind !== 'DaemonSet' && { replicas }),
    ...(kind === 'StatefulSet' && { serviceName: app }),
    ...(kind === 'Deployment' &&
      atOnce && { strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%', maxSurge: 0 } } }),
    selector: { matchLabels: { app } },
    template: template(app, image, init),
  },
});

export const create =
  (kind: RolledOutKind, over: Made = {}) =>
  (api: Api, namespace: string) =>
    api.create({ kind, namespace }, made(kind, over));
export const patchSpec = (api: Api, namespace: string, kind: Kind, path: string, value: unknown): Promise<unknown> =>
  api.patch({ kind, namespace, name }, 'json', [{ op: 'add', path: `/spec${path}`, value }]);
const roll = (kind: RolledOutKind, image: string) => (api: Api, namespace: string) =>
  patchSpec(api, namespace, kind, '/template/spec/containers/0/image', image);

const readUid = async (api: Api, namespace: string, kind: Kind): Promise<string> =>
  (await api.get<KubeObject>({ kind, namespace, name }))!.metadata.uid;

const fixOf =
  (kind: RolledOutKind, make: (target: { name: string; uid: string }) => object) =>
  async (api: Api, namespace: string) => {
    const uid = await readUid(api, namespace, kind);
    return { object: { kind, name, uid }, action: make({ name, uid }) };
  };

const undo = (kind: RolledOutKind): Site => ({
  kind,
  startsWell: true,
  brokenAfterMs: 40_000,
  make: create(kind, { atOnce: true }),
  worsen: roll(kind, 'shop/app:2'),
  fix: fixOf(kind, (target) => ({ type: 'RolloutUndo', rolloutUndo: { kind, ...target, toRevision: 1 } })),
});
const restart = (kind: RolledOutKind): Site => ({
  kind,
  brokenAfterMs: 0,
  make: create(kind),
  fix: fixOf(kind, (target) => ({ type: 'RolloutRestart', rolloutRestart: { kind, ...target } })),
});
const image = (container: string, to: string, over: Made): Site => ({
  kind: 'Deployment',
  brokenAfterMs: 0,
  make: create('Deployment', over),
  fix: fixOf('Deployment', (target) => ({
    type: 'PatchDeploymentImage',
    patchDeploymentImage: { ...target, container, image: to },
  })),
});

interface Pod extends KubeObject {
  status?: { conditions?: { type: string; status: string }[]; containerStatuses?: { restartCount: number }[] };
}
const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some((c) => c.type === 'Ready' && c.status === 'True') ?? false;

const restartsOf = ({ status }: Pod): number => status?.containerStatuses?.[0]?.restartCount ?? 0;

/** The one pod of it that is not ready, or not for long. */
const deletion = (kind: RolledOutKind): Site => ({
  kind,
  brokenAfterMs: 0,
  make: create(kind),
  async fix(api, namespace) {
    const pods = await api.list<Pod>('Pod', namespace, { labelSelector: `app=${name}` });
    const { metadata } = pods.find((pod) => controllerOf(pod.metadata) && (!isReady(pod) || restartsOf(pod) > 0))!;
    const object = { kind, name, uid: await readUid(api, namespace, kind) };
    return { object, action: { type: 'DeletePod', deletePod: { name: metadata.name, uid: metadata.uid } } };
  },
});

/** It stands before the workload does, and lets none of its pods in. */
const quota = (kind: RolledOutKind): Site => ({
  kind,
  brokenAfterMs: 0,
  async make(api, namespace) {
    const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard: { pods: '0' } } };
    await api.create({ kind: 'ResourceQuota', namespace }, body);
    await create(kind)(api, namespace);
  },
  async fix(api, namespace) {
    const uid = await readUid(api, namespace, 'ResourceQuota');
    const object = { kind: 'ResourceQuota', name, uid };
    return { object, action: { type: 'DeleteResourceQuota', deleteResourceQuota: { name, uid } } };
  },
});

export const sites = {
  'undo of a Deployment': undo('Deployment'),
  'undo of a StatefulSet': undo('StatefulSet'),
  'undo of a DaemonSet': undo('DaemonSet'),
  image: image('app', 'shop/app:3', { image: 'shop/app:2' }),
  'image of a rollout that stands still': {
    ...image('app', 'shop/app:3', {}),
    startsWell: true,
    brokenAfterMs: 40_000,
    worsen: roll('Deployment', 'shop/app:2'),
  },
  'image of an init container': image('migrate', 'shop/migrate:3', { init: 'shop/migrate:typo' }),
  scaling: {
    kind: 'Deployment',
    brokenAfterMs: 0,
    make: create('Deployment', { replicas: 3 }),
    fix: fixOf('Deployment', (target) => ({ type: 'ScaleDeployment', scaleDeployment: { ...target, replicas: 2 } })),
  },
  'restart of a Deployment': restart('Deployment'),
  'restart of a StatefulSet': restart('StatefulSet'),
  'restart of a DaemonSet': restart('DaemonSet'),
  "deletion of a Deployment's pod": deletion('Deployment'),
  "deletion of a StatefulSet's pod": deletion('StatefulSet'),
  "deletion of a DaemonSet's pod": deletion('DaemonSet'),
  'quota of a Deployment': quota('Deployment'),
  'quota of a StatefulSet': quota('StatefulSet'),
} as const satisfies Record<string, Site>;
export type SiteName = keyof typeof sites;
