import { hasTargetChanged } from '../../src/actions/table.ts';
import type { Config } from '../../src/config/schema.ts';
import { readHealth } from '../../src/diagnosis/health.ts';
import { createHistory } from '../../src/health/history.ts';
import { createLedger } from '../../src/incidents/ledger.ts';
import { createTracker, type TrackerDeps } from '../../src/incidents/tracker.ts';
import { createOwnerResolver } from '../../src/kube/owners.ts';
import type { Remediation } from '../../src/kube/remediation.ts';
import { viewPod } from '../../src/kube/views.ts';
import { derive } from '../../src/proposals/derive.ts';
import { detectEvent, detectPod } from '../../src/signals/detect.ts';
import type { Rules } from '../../src/signals/filter.ts';
import type { Signal } from '../../src/signals/signal.ts';
import { aConfig } from './config.ts';
import { type FakeServer, fakeServer } from './fake-api.ts';
import { fakeClock } from './fake-clock.ts';
import { fixStore } from './stores.ts';
import { anEvent } from './views.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Street 1 from signals to Remediations, on a server in memory: everything real but the network and the time. */
export function aStreet(over: Partial<Config> = {}, parts: Partial<TrackerDeps> = {}) {
  const clock = fakeClock();
  const server = fakeServer(clock);
  const config = aConfig(over);
  const outcomes: string[] = [];
  const running = new Set<ReturnType<typeof start>>();
  const told = new Map<string, string>(); // resourceVersion that the watch has told
  server.seed('Namespace', undefined, { metadata: { name: 'shop' } });

  /** A process. `stop` is a kill: what it remembered is gone. */
  function start(client: Parameters<FakeServer['client']>[0] = {}, isListed = true) {
    const api = server.client(client);
    const stop = new AbortController();
    const history = createHistory();
    const count = (outcome: string, times: number): void => void outcomes.push(...Array<string>(times).fill(outcome));
    const ledger = createLedger({ clock, count });
    const held = fixStore(clock);
    const tracker = createTracker({
      fixes: held.store,
      putFix: held.store.put,
      clock,
      log: silent,
      current: () => config,
      muted: () => (config as Rules).muted ?? [],
      ownNamespace: 'tapfix',
      owners: createOwnerResolver(api, clock),
      readHealth: (subject, nowMs) => readHealth(api, subject, nowMs),
      derive: (subject, nowMs) => derive(subject, { reader: api, history, config, nowMs }),
      identity: 'system:serviceaccount:tapfix:tapfix-watcher',
      hasTargetChanged: (fix) => hasTargetChanged(api, fix),
      ledger,
      signal: stop.signal,
      ...parts,
    });
    held.store.subscribe(tracker.listener);
    const process = {
      ...tracker,
      ...tracker.lead({ signal: stop.signal, isTakeover: false }, api),
      onFixes: held.list,
      onFix: held.apply,
      history,
      ledger,
      stop() {
        stop.abort();
        running.delete(process);
      },
    };
    running.add(process);
    if (isListed) held.list(structuredClone(fixes()));
    return process;
  }

  const fixes = (): Remediation[] => server.list('Remediation') as unknown as Remediation[];

  /** The watch, a little late: what changed is told to every process. */
  function deliver(): void {
    for (const fix of fixes()) {
      if (told.get(fix.metadata.uid) === fix.metadata.resourceVersion) continue;
      told.set(fix.metadata.uid, fix.metadata.resourceVersion);
      const view = structuredClone(fix);
      for (const { onFix } of running) onFix({ type: 'upsert', view });
    }
  }

  async function advance(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      await clock.advance(Math.min(left, 1_000));
      deliver();
    }
    await clock.advance(0);
  }

  /** The phase and its condition, as the controller would write them. */
  function phase(name: string, to: string, at = new Date(clock.now()).toISOString()): void {
    const conditions = (server.get('Remediation', 'shop', name) as unknown as Remediation).status?.conditions ?? [];
    const own = { type: to, status: 'True', reason: to, message: '', lastTransitionTime: at };
    server.change('Remediation', 'shop', name, { status: { phase: to, conditions: [...conditions, own] } });
  }

  const cleared = (): string[] =>
    fixes()
      .filter((fix) => fix.status?.conditions?.some(({ type }) => type === 'IncidentCleared'))
      .map(({ metadata }) => metadata.name);

  return { clock, server, config, outcomes, start, advance, fixes, phase, cleared };
}
export type Street = ReturnType<typeof aStreet>;
export type Process = ReturnType<Street['start']>;

/* What is in the cluster: */

const good = (replicas: number) => ({
  observedGeneration: 99,
  replicas,
  updatedReplicas: replicas,
  readyReplicas: replicas,
  availableReplicas: replicas,
});
const short = (replicas: number) => ({ ...good(replicas), readyReplicas: 0, availableReplicas: 0 });

export const refusal = (quota: string): string =>
  `pods "x" is forbidden: exceeded quota: ${quota}, requested: pods=1, used: pods=1, limited: pods=1`;

const refused = { type: 'ReplicaFailure', status: 'True', message: refusal('tight') };

/** A quota for one pod, and the pod that has taken it. */
export function fullQuota(server: FakeServer, namespace = 'shop', name = 'tight') {
  server.seed('Pod', namespace, { metadata: { name: 'resident' }, status: { phase: 'Running' } });
  const quota = { hard: { pods: '1' }, used: { pods: '1' } };
  return server.seed('ResourceQuota', namespace, { metadata: { name }, spec: { hard: quota.hard }, status: quota });
}

/** A quota that refuses all pods of these Deployments. */
export function blockedByQuota({ server }: Pick<Street, 'server'>, names: readonly string[], namespace = 'shop') {
  fullQuota(server, namespace);
  for (const name of names) {
    const { metadata } = server.seed('Deployment', namespace, {
      metadata: { name },
      spec: { replicas: 2, selector: { matchLabels: { app: name } } },
      status: { ...short(2), replicas: 0, updatedReplicas: 0 },
    });
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: metadata.uid, controller: true };
    server.seed('ReplicaSet', namespace, {
      metadata: { name: `${name}-7d9f8b6c5d`, labels: { app: name }, ownerReferences: [owner] },
      spec: { replicas: 2 },
      status: { replicas: 0, conditions: [{ ...refused, lastTransitionTime: metadata.creationTimestamp }] },
    });
  }
}

/** The ReplicaSet gets its pods, which become ready. */
export function unblock({ server }: Street, name: string, namespace = 'shop'): void {
  server.change('ReplicaSet', namespace, `${name}-7d9f8b6c5d`, { status: { replicas: 2, conditions: [] } });
  server.change('Deployment', namespace, name, { status: good(2) });
}

export function block({ server }: Street, name: string): void {
  const conditions = [refused];
  server.change('ReplicaSet', 'shop', `${name}-7d9f8b6c5d`, { status: { replicas: 0, conditions } });
  server.change('Deployment', 'shop', name, { status: { ...short(2), replicas: 0, updatedReplicas: 0 } });
}

/** What its ReplicaSet says when a pod is refused. */
export function failedCreate({ server }: Pick<Street, 'server'>, name: string, namespace = 'shop'): Signal {
  const { uid } = server.get('ReplicaSet', namespace, `${name}-7d9f8b6c5d`)!.metadata;
  const object = { kind: 'ReplicaSet', name: `${name}-7d9f8b6c5d`, uid, namespace };
  return detectEvent(
    anEvent({ namespace, reason: 'FailedCreate', message: `Error creating: ${refusal('tight')}`, object }),
  )!;
}

const pod = 'checkout-6b8c9d7f54-x2x4z';

/** Deployment checkout, whose second revision crashes; the first has ten pods' worth of good days behind it. */
export function crashLoop({ server }: Pick<Street, 'server'>, deployment: { metadata?: object; spec?: object } = {}) {
  const template = (image: string) => ({
    metadata: { labels: { app: 'checkout' } },
    spec: { containers: [{ name: 'app', image }] },
  });
  const revision = (n: number) => ({ 'deployment.kubernetes.io/revision': String(n) });
  const { metadata } = server.seed('Deployment', 'shop', {
    metadata: { name: 'checkout', annotations: revision(2), ...deployment.metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'checkout' } },
      template: template('shop/checkout:1.42'),
      ...deployment.spec,
    },
    status: short(1),
  });
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'checkout', uid: metadata.uid, controller: true };
  const sets = ['7d9f8b6c5d', '6b8c9d7f54'].map((hash, n) =>
    server.seed('ReplicaSet', 'shop', {
      metadata: {
        name: `checkout-${hash}`,
        labels: { app: 'checkout' },
        annotations: revision(n + 1),
        ownerReferences: [owner],
      },
      spec: { replicas: n, template: template(`shop/checkout:1.4${n + 1}`) },
    }),
  );
  const { uid } = sets[1]!.metadata;
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'checkout-6b8c9d7f54', uid, controller: true };
  server.seed('Pod', 'shop', { metadata: { name: pod, labels: { app: 'checkout' }, ownerReferences: [set] } });
  crash({ server }, 3);
  return { goodRevision: sets[0]!.metadata.uid };
}

const ended = { exitCode: 1, reason: 'Error', startedAt: '2026-11-16T03:11:00Z', finishedAt: '2026-11-16T03:11:20Z' };

export function crash({ server }: Pick<Street, 'server'>, restarts: number): void {
  const state = { waiting: { reason: 'CrashLoopBackOff' }, running: null };
  status(server, { name: 'app', ready: false, restartCount: restarts, state, lastState: { terminated: ended } }, false);
  server.change('Deployment', 'shop', 'checkout', { status: short(1) });
}

/** Up, and ready at once: for as long as it lives this looks fine. */
export function comeUp({ server }: Pick<Street, 'server'>, restarts: number): void {
  const state = { waiting: null, running: { startedAt: '2026-11-16T03:12:00Z' } };
  status(server, { name: 'app', ready: true, restartCount: restarts, state, lastState: { terminated: ended } }, true);
  server.change('Deployment', 'shop', 'checkout', { status: good(1) });
}

function status(server: FakeServer, container: object, ready: boolean): void {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: '2026-11-16T03:12:00Z' }];
  server.change('Pod', 'shop', pod, { status: { phase: 'Running', conditions, containerStatuses: [container] } });
}

/** What the watch of pods makes of it. */
export function podSignal({ server, clock }: Pick<Street, 'server' | 'clock'>): Signal {
  const [signal] = detectPod(viewPod(server.get('Pod', 'shop', pod)!)!, clock.now());
  if (!signal) throw new Error('this pod looks healthy');
  return signal;
}
