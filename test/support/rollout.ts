import { createHistory } from '../../src/health/history.ts';
import { viewReplicaSet } from '../../src/kube/views.ts';
import { derive, type Derived, type DeriveDeps } from '../../src/proposals/derive.ts';
import { aConfig } from './config.ts';
import { fakeServer } from './fake-api.ts';
import { fakeClock } from './fake-clock.ts';

export interface PodState {
  /** Of its only container, `app`. */
  state?: object;
  lastState?: object;
  restarts?: number;
  ready?: boolean;
  spec?: object;
  status?: object;
}

export interface RolloutOptions {
  /** The container `app` of revisions 1 and 2, and what else is in their pod specs. */
  before?: object;
  after?: object;
  beforeSpec?: object;
  afterSpec?: object;
  /** Pods of revision 2, and of revision 1. */
  pods?: PodState[];
  oldPods?: PodState[];
  deployment?: { metadata?: object; spec?: object; status?: object };
  /** This process saw revision 1 healthy. Default: yes. */
  isOldKnown?: boolean;
}

/** Deployment `web` in shop, two revisions and their pods, on a server in memory. */
export function aRollout(options: RolloutOptions = {}) {
  const clock = fakeClock();
  const server = fakeServer(clock);
  const app = (over: object = {}): object => ({ name: 'app', image: 'shop/web:1.41', ...over });
  const template = (container: object, spec: object = {}) => ({
    metadata: { labels: { app: 'web' } },
    spec: { containers: [container], ...spec },
  });
  const templates = [
    template(app(options.before), options.beforeSpec),
    template(app(options.after), options.afterSpec),
  ];
  const revision = (n: number) => ({ 'deployment.kubernetes.io/revision': String(n) });
  const { metadata, spec, status } = options.deployment ?? {};
  const deployment = server.seed('Deployment', 'shop', {
    metadata: { name: 'web', annotations: revision(2), ...metadata },
    spec: { replicas: 3, selector: { matchLabels: { app: 'web' } }, template: templates[1], ...spec },
    status: {
      observedGeneration: 9,
      replicas: 3,
      updatedReplicas: 1,
      readyReplicas: 2,
      availableReplicas: 2,
      ...status,
    },
  });
  const owned = (kind: string, name: string, uid: string) => ({
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid, controller: true }],
  });
  const sets = templates.map((one, n) =>
    server.seed('ReplicaSet', 'shop', {
      metadata: {
        name: `web-${n + 1}`,
        labels: { app: 'web' },
        annotations: revision(n + 1),
        ...owned('Deployment', 'web', deployment.metadata.uid),
      },
      spec: { replicas: n === 0 ? 0 : 1, template: one },
      status: { replicas: n === 0 ? 0 : 1, availableReplicas: 0 },
    }),
  );
  const seedPod = (name: string, set: number, pod: PodState): void => {
    const {
      state = { running: { startedAt: '2026-11-16T03:00:00Z' } },
      lastState = {},
      restarts = 0,
      ready = false,
    } = pod;
    const { uid, name: owner } = sets[set]!.metadata;
    server.seed('Pod', 'shop', {
      metadata: {
        name,
        labels: { app: 'web', 'pod-template-hash': String(set + 1) },
        ...owned('ReplicaSet', owner, uid),
      },
      spec: { ...templates[set]!.spec, ...pod.spec },
      status: {
        phase: 'Running',
        conditions: [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-11-16T03:00:00Z' }],
        containerStatuses: [{ name: 'app', ready, restartCount: restarts, state, lastState }],
        ...pod.status,
      },
    });
  };
  for (const [n, pod] of (options.pods ?? []).entries()) seedPod(`web-2-${n}`, 1, pod);
  for (const [n, pod] of (options.oldPods ?? []).entries()) seedPod(`web-1-${n}`, 0, pod);
  const history = createHistory();
  const first = viewReplicaSet(sets[0]!)!;
  if (options.isOldKnown ?? true) {
    history.observe({ ...first, desired: 3, available: 3 }, clock.now() - 600_000);
    history.observe({ ...first, desired: 0, available: 0 }, clock.now());
  }
  /** What the event says, about the pod of that name or any object. */
  const say = (
    reason: string,
    message: string,
    about: { kind: 'Pod' | 'Deployment' | 'ReplicaSet'; name: string } = { kind: 'Pod', name: 'web-2-0' },
  ): void => {
    const { uid } = server.get(about.kind, 'shop', about.name)!.metadata;
    const name = `e-${server.list('Event').length}`;
    const at = new Date(clock.now() - 1_000).toISOString();
    server.seed('Event', 'shop', {
      metadata: { name },
      type: 'Warning',
      reason,
      message,
      lastTimestamp: at,
      involvedObject: { ...about, namespace: 'shop', uid },
    });
  };
  const ask = (
    failureClass: string,
    over: Partial<DeriveDeps> = {},
    object: { kind: string; name: string } = { kind: 'Deployment', name: 'web' },
    namespace = 'shop',
  ): Promise<Derived | undefined> =>
    derive(
      { namespace, class: failureClass, object: { ...object, uid: '' } },
      { reader: server.client(), history, config: aConfig(), nowMs: clock.now(), ...over },
    );
  return { clock, server, history, ask, say };
}

/** What became of it: the revision to go back to, or why not. */
export const wayOf = (derived: Derived | undefined): string => {
  const undo = derived?.action?.['rolloutUndo'] as { toRevision: number } | undefined;
  return undo ? `back to ${undo.toRevision}` : (derived?.rationale ?? 'gone');
};

/** What is offered, or why nothing is. */
export const offered = (derived: Derived | undefined): string => {
  const { type = '', ...blocks } = derived?.action ?? {};
  const { uid: _, ...params } = (Object.values(blocks)[0] ?? {}) as Record<string, unknown>;
  return type ? `${type} ${JSON.stringify(params)}` : (derived?.rationale ?? 'gone');
};

export const waiting = (reason: string, message = ''): PodState => ({ state: { waiting: { reason, message } } });
export const killed = (restarts = 3): PodState => ({
  restarts,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: {
    terminated: {
      reason: 'OOMKilled',
      exitCode: 137,
      startedAt: '2026-11-16T03:11:00Z',
      finishedAt: '2026-11-16T03:11:20Z',
    },
  },
});
