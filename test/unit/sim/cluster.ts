import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Api, KubeObject } from '../../../src/kube/api.ts';
import type { Kind } from '../../../src/kube/resources.ts';
import type {
  Container,
  DeploymentObject,
  PodObject,
  PodSpec,
  ReplicaSetObject,
} from '../../../src/sim/common/shapes.ts';
import type { Sim, SimOptions } from '../../../src/sim/sim.ts';
import { randomOf } from '../../long/random.ts';
import { createFullSim } from '../../sim/full-sim.ts';
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts';
import { type LogLine, recorder } from '../kube/watch-rig.ts';

export interface EventObject extends KubeObject {
  type: string;
  reason: string;
  message: string;
  count?: number;
  involvedObject: { kind: string; name: string; fieldPath?: string };
  source?: { component?: string; host?: string };
  reportingComponent?: string;
  firstTimestamp?: string;
  lastTimestamp?: string;
}

export interface ClusterRig {
  sim: Sim;
  api: Api;
  clock: FakeClock;
  advance(seconds: number): Promise<void>;
  create(kind: Kind, body: object): Promise<KubeObject>;
  deployment(name?: string): Promise<DeploymentObject>;
  sets(name?: string): Promise<ReplicaSetObject[]>;
  pods(prefix?: string): Promise<PodObject[]>;
  events(filter?: { reason?: string; about?: string }): Promise<EventObject[]>;
  setTemplate(name: string, template: object): Promise<void>;
}

export const namespace = 'shop';

/** A simulated cluster in virtual time, started, with its nodes ready and a namespace; it ends with the test, which fails if it logged a warning. */
export async function aCluster(t: TestContext, options: Partial<SimOptions> = {}): Promise<ClusterRig> {
  const clock = fakeClock();
  const lines: LogLine[] = [];
  const sim = createFullSim({ clock, log: recorder(lines), nodes: 2, random: randomOf(1).next, ...options });
  const { api } = sim;
  const stop = new AbortController();
  const ended = sim.start(stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    const complaints = lines.filter(({ level }) => level === 'warn' || level === 'error');
    assert.deepEqual(complaints, [], 'the cluster complains about itself');
  });
  await clock.advance(1_000);
  await api.create({ kind: 'Namespace' }, { metadata: { name: namespace } });
  const ownedByDeployment = async (name: string): Promise<ReplicaSetObject[]> =>
    (await api.list<ReplicaSetObject>('ReplicaSet', namespace)).filter(
      ({ metadata }) => metadata.ownerReferences?.[0]?.name === name,
    );
  return {
    sim,
    api,
    clock,
    advance: (seconds) => clock.advance(seconds * 1000),
    create: (kind, body) => api.create({ kind, namespace }, body),
    deployment: async (name = 'web') => (await api.get<DeploymentObject>({ kind: 'Deployment', namespace, name }))!,
    sets: (name = 'web') => ownedByDeployment(name),
    pods: async (prefix = '') =>
      (await api.list<PodObject>('Pod', namespace)).filter(({ metadata }) => metadata.name.startsWith(prefix)),
    events: async ({ reason, about } = {}) =>
      (await api.list<EventObject>('Event')).filter(
        (event) =>
          (reason === undefined || event.reason === reason) &&
          (about === undefined || event.involvedObject.name.startsWith(about)),
      ),
    setTemplate: async (name, template) =>
      void (await api.patch({ kind: 'Deployment', namespace, name }, 'json', [
        { op: 'replace', path: '/spec/template', value: template },
      ])),
  };
}

interface TemplateOptions {
  name?: string;
  image?: string;
  behave?: string;
  container?: Partial<Container>;
  spec?: PodSpec;
}

export const aTemplate = ({ name = 'web', image = 'shop/web:1.0', behave, container, spec }: TemplateOptions = {}) => ({
  metadata: { labels: { app: name }, ...(behave && { annotations: { 'sim.tapfix.dev/behave': behave } }) },
  spec: {
    containers: [
      {
        name: 'app',
        image,
        resources: { requests: { cpu: '10m', memory: '16Mi' }, limits: { memory: '32Mi' } },
        ...container,
      },
    ],
    ...spec,
  },
});

/** A probe makes a crasher never ready; without one it looks fine for as long as it lives. */
export const probed: Partial<Container> = { readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 } };

export const aWorkload = (template: TemplateOptions = {}, spec: object = {}) => {
  const { name = 'web' } = template;
  return {
    metadata: { name },
    spec: { replicas: 3, selector: { matchLabels: { app: name } }, template: aTemplate(template), ...spec },
  };
};

export const aJobOf = (name: string, behave: string, spec: object = {}) => ({
  metadata: { name },
  spec: { backoffLimit: 1, template: aTemplate({ name, behave, spec: { restartPolicy: 'Never' } }), ...spec },
});

export const conditions = (object: { status?: { conditions?: { type: string; status: string; reason?: string }[] } }) =>
  Object.fromEntries(
    (object.status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason ?? ''}`.trim()]),
  );

export const counts = ({ status }: { status?: object }): Record<string, number> =>
  Object.fromEntries(Object.entries(status ?? {}).filter(([, value]) => typeof value === 'number')) as Record<
    string,
    number
  >;

export const waitingReasons = (pods: readonly PodObject[]): (string | undefined)[] =>
  pods.map(({ status }) => status?.containerStatuses?.[0]?.state.waiting?.reason);
