import type { History } from '../health/history.ts';
import type { Api } from '../kube/api.ts';
import {
  type EventView,
  type PodView,
  type ReplicaSetView,
  viewEvent,
  viewPod,
  viewReplicaSet,
} from '../kube/views.ts';
import { type Change, createWatch, type Watch } from '../kube/watch.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { detectEvent } from './detect-event.ts';
import { detectPod } from './detect-pod.ts';
import { type Signal, SignalOutcome } from './signal.ts';

export interface SourceDeps {
  api: Api;
  clock: Clock;
  log: Log;
  /** undefined: the whole cluster. */
  namespace: string | undefined;
  history: History;
  onSignal(signal: Signal): void;
  count(outcome: SignalOutcome, failureClass: string): void;
}

/** Each watch by name, for readiness and the silence metric. */
export type Watches = Record<string, Watch>;

/** Feeds the history of revisions: both roles need to know which were healthy. */
export function watchRevisions({ api, clock, log, namespace, history }: Omit<SourceDeps, 'onSignal' | 'count'>): Watch {
  const observe = (view: ReplicaSetView): void => history.observe(view, clock.now());
  return createWatch<ReplicaSetView>({
    api,
    clock,
    log,
    kind: 'ReplicaSet',
    namespace,
    view: viewReplicaSet,
    onGap: (fromMs, untilMs) => history.blind(fromMs, untilMs),
    onList: (views) => views.forEach(observe),
    onChange: (change) => (change.type === 'upsert' ? observe(change.view) : history.forget(change.uid)),
  });
}

/** Events and pod status, as signals. What is in the first list is offered like everything else: patience and the live re-check judge it. */
export function watchSignals(deps: SourceDeps): Watches {
  const { api, clock, log, namespace, onSignal, count } = deps;
  const offer = (signal: Signal | undefined, listed = false): void =>
    signal ? onSignal(listed ? { ...signal, listed } : signal) : count(SignalOutcome.notAFailure, '');
  const each = <V>(detect: (view: V) => Signal | undefined) => ({
    onList: (views: V[]): void => views.forEach((view) => offer(detect(view), true)),
    onChange: (change: Change<V>): void => {
      if (change.type === 'upsert') offer(detect(change.view));
    },
  });
  const warnings = { kind: 'Event', fieldSelector: 'type=Warning', view: viewEvent } as const;
  return {
    events: createWatch<EventView>({ api, clock, log, namespace, ...warnings, ...each(detectEvent) }),
    pods: createWatch<PodView>({ api, clock, log, namespace, kind: 'Pod', view: viewUnhealthyPod, ...each(detectPod) }),
  };
}

/** Healthy pods are nobody's business here: they leave no trace. */
const viewUnhealthyPod: typeof viewPod = (object) => {
  const pod = viewPod(object);
  return pod && !pod.ready && !pod.deleting ? pod : undefined;
};
