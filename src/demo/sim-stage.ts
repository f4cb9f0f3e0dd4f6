import { actions } from '../actions/table.ts';
import { type ClosableApi, createApi } from '../kube/client.ts';
import type { Kind } from '../kube/resources.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { customResourceDefinitions } from '../manifests/crd.ts';
import { accounts, defaultNamespace as tapfixNamespace } from '../manifests/manifest.ts';
import { leases, memoryConfigMaps } from '../manifests/workloads.ts';
import type { Container, PodObject } from '../sim/common/shapes.ts';
import { type Behaviour, usualTiming } from '../sim/kubelet/behaviour.ts';
import { createSim, type Sim } from '../sim/sim.ts';
import { patientApi } from './patience.ts';
import { losePods, type DemoStage } from './stage.ts';

const namespace = 'shop';
const identity = 'you@laptop';
const versions = { good: '1.41', bad: '1.42' } as const;

const crashes: Behaviour = { do: 'exit', code: 1, afterMs: 300 };

/** How containers behave: the bad version and the spoilt pod crash, and an image with a typo does not exist. */
function createBehaviours() {
  const spoilt = new Set<string>(); // uids
  let next: string | undefined;
  return {
    /** The next new pod of this workload crashes. */
    spoilNext: (app: string): void => void (next = app),
    of({ metadata }: PodObject, { image = '' }: Container): Behaviour | undefined {
      if (next !== undefined && metadata.labels?.['app'] === next) {
        spoilt.add(metadata.uid);
        next = undefined;
      }
      if (image.endsWith(`:${versions.bad}`) || spoilt.has(metadata.uid)) return crashes;
      return image.includes('-typo') ? { do: 'image-missing' } : undefined;
    },
  };
}

/** Faster than a real node: there is no image to pull, and a second crash need not take ten seconds. */
const timing = { ...usualTiming, startMs: 600, noticeMs: 200, backoffMs: 2_000, resyncMs: 2_000 };

export interface SimStage extends DemoStage {
  /** The API server goes away, and comes back with all its objects. */
  readonly outage: { begin(): Promise<void>; end(): Promise<void> };
}

/** The simulated cluster. tapfix reaches it as any other: over HTTP, on a port of this machine. */
export async function openSimStage(clock: Clock, log: Log, signal: AbortSignal): Promise<SimStage> {
  const behaviours = createBehaviours();
  const sim = createSim({
    clock,
    log,
    nodes: 2,
    definitions: customResourceDefinitions(actions),
    behaviours: behaviours.of,
    timing,
    identity: { username: identity, groups: ['system:masters'] },
  });
  const stop = new AbortController();
  const running = sim.start(stop.signal);
  let listening = await sim.listen();
  const port = Number(new URL(listening.url).port);
  await prepare(sim);
  const connect = (manager?: string): ClosableApi =>
    createApi({ kubeConfig: credentialsFor(listening.url), ...(manager && { manager }) });
  const [api, tapfixApi] = [patientApi(connect('tapfix-demo'), { clock, signal, own: namespace }), connect()];
  return {
    where: 'a simulated cluster inside this program; nothing else is touched',
    cluster: 'demo',
    api,
    tapfixApi,
    identity,
    namespace,
    container: (app, version) => ({
      name: 'app',
      image: `shop/${app}:${versions[version]}`,
      resources: { requests: { cpu: '50m', memory: '16Mi' } },
    }),
    noImage: (app, n) => `shop/${app}:${versions.bad}-typo${n}`,
    async spoilPod(app) {
      behaviours.spoilNext(app);
      await losePods(api, namespace, app, 1);
    },
    outage: {
      begin: () => listening.close(),
      end: async () => void (listening = await sim.listen({ port })),
    },
    async close() {
      await Promise.all([api.close(), tapfixApi.close()]);
      stop.abort();
      await listening.close();
      await running;
    },
  };
}

/** Creates what a cluster with tapfix in it has before anything happens. */
async function prepare({ api }: Sim): Promise<void> {
  for (const name of [namespace, tapfixNamespace])
    await api.create({ kind: 'Namespace' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: accounts.writer } };
  await api.create({ kind: 'ServiceAccount', namespace: tapfixNamespace }, account);
  const install = { namespace: tapfixNamespace, image: '', actions };
  for (const manifest of [...memoryConfigMaps(install), ...leases(install)])
    await api.create({ kind: manifest.kind as Kind, namespace: tapfixNamespace }, manifest);
}

const credentialsFor = (server: string): Parameters<typeof createApi>[0]['kubeConfig'] => ({
  getCurrentCluster: () => ({ name: 'demo', server, skipTLSVerify: true }),
  applyToHTTPSOptions: async () => undefined,
});
