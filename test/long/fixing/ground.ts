import type { TestContext } from 'node:test';
import { actions } from '../../../src/actions/table.ts';
import { createController } from '../../../src/controller/controller.ts';
import type { judgeRecovery } from '../../../src/controller/recovery.ts';
import { readHealth } from '../../../src/diagnosis/health.ts';
import { createHistory } from '../../../src/health/history.ts';
import type { Api, KubeObject } from '../../../src/kube/api.ts';
import { conditionOf, phaseOf, type Remediation, viewRemediation } from '../../../src/kube/remediation.ts';
import { createFeed } from '../../../src/kube/feed.ts';
import { createStore } from '../../../src/kube/store.ts';
import { customResourceDefinitions } from '../../../src/manifests/crd.ts';
import { derive } from '../../../src/proposals/derive.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { parseBehaviour } from '../../../src/sim/kubelet/behaviour.ts';
import { createFullSim } from '../../sim/full-sim.ts';
import { aChat, aConfig } from '../../support/config.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { incidentOf, type Shape } from './shapes.ts';

export const silent = { debug() {}, info() {}, warn() {}, error() {} };

export interface GroundOptions {
  judge?: typeof judgeRecovery;
  timeoutMs?: number;
}

type Pod = { metadata: { uid: string; namespace: string; labels?: Record<string, string> } };

/** The namespace of the nth shape. */
export const place = (n: number): string => `shop-${n}`;

/** A simulated cluster with as many broken workloads as there are shapes, each in a namespace of its own, and the controller. */
export async function aGround(
  t: TestContext,
  shapes: readonly Shape[],
  { judge, timeoutMs = 120_000 }: GroundOptions = {},
) {
  const clock = fakeClock();
  const end = new AbortController();
  t.after(() => end.abort());
  const shapeIn = new Map(shapes.map((shape, n) => [place(n), shape]));
  const approved = new Set<string>();
  /** How each pod behaves is settled when it is first asked for. */
  const fates = new Map<string, string>();
  const counts = new Map<string, number>();

  function fateOf({ metadata }: Pod, image: string): string {
    const { uid, namespace, labels } = metadata;
    const shape = shapeIn.get(namespace)!;
    if (labels?.['app'] !== 'checkout') return labels?.['app'] === 'broken' ? 'crash' : 'run'; // a neighbour
    const known = fates.get(uid);
    if (known) return known;
    const isAfter = approved.has(namespace);
    const which = `${namespace} ${isAfter}`;
    const n = counts.get(which) ?? 0;
    const isFirst = !isAfter && shape.site.startsWell === true && image.endsWith(':1');
    if (!isFirst) counts.set(which, n + 1);
    const fate = isFirst ? 'run' : isAfter ? shape.after(n, image) : shape.before(n);
    fates.set(uid, fate);
    return fate;
  }

  const sim = createFullSim({
    clock,
    log: silent,
    nodes: 2,
    definitions: customResourceDefinitions(actions),
    behaviours: (pod, { name, image = '' }) => {
      if (name === 'migrate') return parseBehaviour(image.endsWith('typo') ? 'image-missing' : 'exit-0');
      // "crash, run": so on the first start, otherwise from the second on.
      const [first = '', ...later] = fateOf(pod as Pod, image).split(', ');
      return parseBehaviour(restartsOf(pod) === 0 ? first : (later[0] ?? first));
    },
  });
  const { api } = sim;
  void sim.start(end.signal);
  const config = aConfig({ channels: aChat });
  config.recovery = { stableFor: 30_000, timeout: timeoutMs };
  for (const name of [...shapeIn.keys(), 'tapfix'])
    await api.create({ kind: 'Namespace' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await api.create(
    { kind: 'ServiceAccount', namespace: 'tapfix' },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'tapfix-writer' } },
  );

  /** A process; with another `api` than the cluster's own it may be one that dies. */
  function start(own: Api = api): () => void {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, end.signal]);
    const store = createStore<Remediation>({ clock });
    const fixes = createFeed({
      store,
      api: own,
      clock,
      log: silent,
      kind: 'Remediation',
      scopes: [undefined],
      view: viewRemediation,
    });
    const common = { clock, log: silent, current: () => config, namespace: 'tapfix', history: createHistory() };
    const controller = createController({
      ...common,
      isOurs: () => true,
      api: own,
      readHealth,
      patienceMs: (failureClass) => classOf(failureClass, config).forMs,
      derive,
      ...(judge && { judge }),
    });
    store.subscribe({ onList: controller.onFixes, onChange: controller.onFix });
    void controller.run(signal);
    for (const watch of fixes.watches) void watch.run(signal);
    return () => stop.abort();
  }

  const fixes = (): Promise<Remediation[]> => api.list<Remediation>('Remediation', undefined);

  async function until(what: string, isTrue: () => Promise<boolean>, mostMs = 300_000): Promise<void> {
    for (const endMs = clock.now() + mostMs; !(await isTrue()); await clock.advance(500))
      if (clock.now() >= endMs) throw new Error(`no ${what} after ${mostMs / 1000} s: ${JSON.stringify(await told())}`);
  }
  const told = async (): Promise<string[]> =>
    (await fixes()).map(
      (fix) =>
        `${shapeIn.get(fix.metadata.namespace!)?.name}: ${phaseOf(fix)} ${conditionOf(fix, phaseOf(fix))?.message}`,
    );

  /** Each workload is broken, and its fix proposed by a person. */
  async function create(): Promise<void> {
    for (const [namespace, { site }] of shapeIn) await site.make(api, namespace);
    await clock.advance(Math.max(...shapes.map(({ site }) => site.brokenAfterMs)));
    for (const [namespace, { site }] of shapeIn) await site.worsen?.(api, namespace);
    await clock.advance(80_000);
    for (const [namespace, { site, class: failureClass }] of shapeIn) {
      const { object, action } = await site.fix(api, namespace);
      const body = {
        apiVersion: 'tapfix.dev/v1alpha1',
        kind: 'Remediation',
        metadata: { name: 'mend' },
        spec: {
          incident: incidentOf(namespace, failureClass, object),
          action,
          diagnosis: '',
          context: { changed: [], evidence: [] },
          rationale: '',
          proposedBy: 'ben@example.com',
          ttlMinutes: 60,
          approval: { state: 'Pending' },
        },
      };
      await api.create({ kind: 'Remediation', namespace }, body);
    }
  }

  const isRehearsed = async (): Promise<boolean> => {
    const judged = ['Rehearsed', 'Confirmed'];
    return (await fixes()).every((fix) => judged.every((type) => conditionOf(fix, type) !== undefined));
  };

  /** The same, and rehearsed. */
  async function propose(): Promise<void> {
    await create();
    await until('rehearsals', isRehearsed);
    const refused = (await fixes()).filter((fix) => conditionOf(fix, 'Rehearsed')?.status !== 'True');
    if (refused.length > 0)
      throw new Error(
        refused
          .map((fix) => `${shapeIn.get(fix.metadata.namespace!)?.name}: ${conditionOf(fix, 'Rehearsed')?.message}`)
          .join('\n'),
      );
  }

  async function approve(): Promise<void> {
    for (const namespace of shapeIn.keys()) {
      approved.add(namespace);
      const approval = { state: 'Approved', by: 'ada@example.com' };
      await api.patch({ kind: 'Remediation', namespace, name: 'mend' }, 'merge', { spec: { approval } });
    }
  }

  /** What others do once it is applied. */
  async function meddle(): Promise<void> {
    const isApplied = async () => (await fixes()).every((fix) => conditionOf(fix, 'Applied') !== undefined);
    await until('fixes applied', isApplied);
    for (const [namespace, shape] of shapeIn) await shape.others?.(api, namespace);
  }

  return { api, clock, config, start, meddle, fixes, until, create, isRehearsed, propose, approve, told };
}
export type Ground = Awaited<ReturnType<typeof aGround>>;

function restartsOf(pod: object): number {
  const { status } = pod as KubeObject & { status?: { containerStatuses?: { restartCount: number }[] } };
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount));
}
