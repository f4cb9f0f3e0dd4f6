import { actions } from '../../../src/actions/table.ts';
import { classNames, type Config } from '../../../src/config/schema.ts';
import { type ControllerDeps, createController } from '../../../src/controller/controller.ts';
import { writerAccount } from '../../../src/controller/rights.ts';
import { createHistory } from '../../../src/health/history.ts';
import type { LiveHealth } from '../../../src/health/trouble.ts';
import { type Api, ApiError, type Reader } from '../../../src/kube/api.ts';
import { isWatched } from '../../../src/config/selection.ts';
import { type ActionSpec, isProposedFrom, type Remediation } from '../../../src/kube/remediation.ts';
import { resources } from '../../../src/kube/resources.ts';
import type { Log } from '../../../src/lib/log.ts';
import { aChat, aConfig } from '../../support/config.ts';
import { type Call, type FakeServer, fakeServer } from '../../support/fake-api.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';
import { fullQuota } from '../../support/street.ts';

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
export const good = 'shop/checkout:1.41';
export const bad = 'shop/checkout:1.42';

export const template = (image: string, annotations?: Record<string, string>) => ({
  metadata: { labels: { app: 'checkout' }, ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'app', image, env: [{ name: 'LEVEL', value: 'info' }] }] },
});

/** Reads, and its own few writes; for the writer's token what the bound ClusterRole of the actions' table allows. */
function authorizer(server: FakeServer): (call: Call) => void {
  const own = new Set(['patch Remediation status', 'delete Remediation', 'create RoleBinding', 'delete RoleBinding', 'create Event', 'createSub ServiceAccount token']); // prettier-ignore
  return ({ verb, kind, namespace, subresource, identity }) => {
    if (identity === undefined) {
      if (['get', 'list'].includes(verb) || own.has([verb, kind, subresource].filter(Boolean).join(' '))) return;
    } else {
      const roles = server.list('RoleBinding', namespace).map((b) => (b['roleRef'] as { name: string }).name);
      const rights = actions.filter(({ role }) => roles.includes(role)).flatMap((action) => action.rights);
      const resource = [resources[kind].plural, subresource].filter(Boolean).join('/');
      const asked = verb === 'createSub' ? 'create' : verb;
      if (rights.some((right) => right.verb === asked && right.resource === resource)) return;
    }
    throw new ApiError(`User "${identity ?? 'controller'}" cannot ${verb} resource "${kind}"`, 403, 'Forbidden');
  };
}

/** Only `derive` reads it, and that is the tests' own here; a new one for every process would cost more than all else. */
const history = createHistory();

export interface World {
  clock: FakeClock;
  server: FakeServer;
  config: Config;
  fix(): Remediation;
  phase(): string | undefined;
  approve(by?: string): void;
  start(client?: Parameters<FakeServer['client']>[0], over?: Partial<ControllerDeps>): { stop(): void; api: Api };
  /** Real writes to anything but records, rights and events. */
  changes(): Call[];
}

export interface WorldOptions {
  action?: ActionSpec;
  object?: { kind: string; name: string; uid: string };
  class?: string;
  readHealth(server: FakeServer): LiveHealth;
}

export const health = (over: Partial<LiveHealth> = {}): LiveHealth => ({
  healthy: true,
  why: '',
  ready: 3,
  desired: 3,
  // What is not well has what it was seen with, unless a test says otherwise.
  troubles: over.healthy === false ? classNames : [],
  hasRoom: false,
  restarts: 0,
  longestUptimeMs: 300,
  affected: [],
  gone: false,
  ...over,
});

export const aFix = (over: object = {}): object => ({
  metadata: { name: 'checkout-3f9a1c-1' },
  spec: {
    incident: { key: 'shop/Deployment/checkout', class: 'ImagePull', severity: 'critical', reason: 'ErrImagePull' },
    context: { changed: [], evidence: [] },
    proposedBy: 'system:serviceaccount:tapfix:tapfix-watcher',
    ttlMinutes: 30,
    approval: { state: 'Pending' },
    ...over,
  },
});

/** A namespace `shop` with one proposal, and as many controllers on it as a test starts. */
export function world(server: FakeServer, clock: FakeClock, options: WorldOptions): World {
  const config = aConfig({ channels: aChat });
  const { action, object = { kind: 'Deployment', name: 'checkout', uid: 'd' } } = options;
  const key = `shop/${object.kind}/${object.name}`;
  const incident = { key, class: options.class ?? 'ImagePull', severity: 'critical', reason: 'r', object };
  server.seed('ServiceAccount', 'tapfix', { metadata: { name: writerAccount } });
  server.seed('Remediation', 'shop', aFix({ incident, ...(action && { action }) }));
  const fix = (): Remediation => server.get('Remediation', 'shop', 'checkout-3f9a1c-1') as unknown as Remediation;
  const isOurs = new Set(['Remediation', 'RoleBinding', 'Event', 'ServiceAccount']);
  return {
    clock,
    server,
    config,
    fix,
    phase: () => fix().status?.phase,
    approve: (by = 'telegram:7') =>
      void server.change('Remediation', 'shop', fix().metadata.name, { spec: { approval: { state: 'Approved', by } } }),
    start(clientOptions = {}, over = {}) {
      const api = server.client({ authorize: authorizer(server), ...clientOptions });
      const controller = createController({
        api,
        clock,
        log: silent,
        current: () => config,
        namespace: 'tapfix',
        isOurs: (one) => isWatched(config, one.metadata.namespace ?? '', 'tapfix') || isProposedFrom(one, 'tapfix'),
        history,
        patienceMs: () => 0,
        readHealth: async (_reader: Reader) => options.readHealth(server),
        derive: async () => ({ diagnosis: '', changed: [], evidence: [], rationale: '', ...(action && { action }) }),
        ...over,
      });
      const stop = new AbortController();
      // A watch without its machinery: whatever changes is told, late, to every controller.
      void (async () => {
        let [revision, seen] = [0, ''];
        for (; !stop.signal.aborted; await clock.sleep(250, stop.signal)) {
          if (revision === server.revision()) continue;
          revision = server.revision();
          const list = server.list('Remediation') as unknown as Remediation[];
          const now = list.map(({ metadata }) => metadata.resourceVersion).join();
          if (now !== seen) controller.onFixes(structuredClone(list));
          seen = now;
        }
      })();
      void controller.run(stop.signal);
      return { stop: () => stop.abort(), api };
    },
    changes: () =>
      server.calls.filter(
        ({ verb, dryRun, kind, done }) =>
          done && !dryRun && ['patch', 'delete', 'create', 'createSub'].includes(verb) && !isOurs.has(kind),
      ),
  };
}

/** A Deployment whose second revision has a bad image; it heals when the good image is back. */
export function undoWorld(): World {
  const clock = fakeClock();
  const server = fakeServer(clock);
  const revision = (n: number) => ({ 'deployment.kubernetes.io/revision': String(n) });
  const { metadata } = server.seed('Deployment', 'shop', {
    metadata: { name: 'checkout', annotations: { ...revision(2), 'example.com/foreign': ' as it is\t' } },
    spec: { replicas: 3, template: template(bad, { 'sidecar.example.com/injected': 'yes' }) },
    status: { replicas: 3 },
  });
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'checkout', uid: metadata.uid, controller: true };
  for (const [n, image] of [good, bad].entries()) {
    server.seed('ReplicaSet', 'shop', {
      metadata: { name: `checkout-${n}`, annotations: revision(n + 1), ownerReferences: [owner] },
      spec: { replicas: n === 1 ? 3 : 0, template: template(image) },
    });
  }
  return world(server, clock, {
    action: {
      type: 'RolloutUndo',
      rolloutUndo: { kind: 'Deployment', name: 'checkout', uid: metadata.uid, toRevision: 1 },
    },
    object: { kind: 'Deployment', name: 'checkout', uid: metadata.uid },
    readHealth: () => health({ healthy: imageOf(server) === good, why: 'image not found' }),
  });
}

export const imageOf = (server: FakeServer): string | undefined => {
  const spec = server.get('Deployment', 'shop', 'checkout')?.['spec'] as { template: ReturnType<typeof template> };
  return spec.template.spec.containers[0]?.image;
};

/** A quota that refuses the pods of two Deployments; a nudged ReplicaSet makes its pods once the quota is gone. */
export function quotaWorld(): World {
  const clock = fakeClock();
  const server = fakeServer(clock);
  const quota = fullQuota(server);
  for (const name of ['api', 'web']) {
    const { metadata } = server.seed('Deployment', 'shop', { metadata: { name }, spec: { replicas: 2 }, status: {} });
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid: metadata.uid, controller: true };
    const message = 'pods "x" is forbidden: exceeded quota: tight, requested: pods=1, used: pods=1, limited: pods=1';
    server.seed('ReplicaSet', 'shop', {
      metadata: { name: `${name}-5bbc`, ownerReferences: [owner] },
      spec: { replicas: 2 },
      status: { replicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True', message }] },
    });
  }
  server.hooks.after = ({ verb, kind, name, dryRun }) => {
    if (verb !== 'patch' || kind !== 'ReplicaSet' || dryRun || server.get('ResourceQuota', 'shop', 'tight')) return;
    server.change('ReplicaSet', 'shop', name!, { status: { replicas: 2, conditions: [] } });
    const counts = { observedGeneration: 9, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 };
    server.change('Deployment', 'shop', name!.replace('-5bbc', ''), { status: counts });
  };
  const { uid } = quota.metadata;
  return world(server, clock, {
    action: { type: 'DeleteResourceQuota', deleteResourceQuota: { name: 'tight', uid } },
    object: { kind: 'ResourceQuota', name: 'tight', uid },
    class: 'QuotaExceeded',
    readHealth: () => health({ healthy: !server.get('ResourceQuota', 'shop', 'tight'), why: 'pods are refused' }),
  });
}
