import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHistory } from '../../../src/health/history.ts';
import type { Api, KubeObject, Page, WatchLine } from '../../../src/kube/api.ts';
import { classOf } from '../../../src/signals/classes.ts';
import { detectEvent } from '../../../src/signals/detect-event.ts';
import { detectPod } from '../../../src/signals/detect-pod.ts';
import { filterOutcome } from '../../../src/signals/filter.ts';
import { identityOf, type Signal } from '../../../src/signals/signal.ts';
import { watchRevisions, watchSignals } from '../../../src/signals/source.ts';
import { aConfig } from '../../support/config.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { anEvent, aPod, crashing } from '../../support/views.ts';

/* Noticing, at its edges. */

const quota = 'Error creating: pods "a" is forbidden: exceeded quota: small, requested: pods=1';
const job = { kind: 'Job', name: 'nightly', namespace: 'shop', uid: 'j-1' };
const nothing: [string, ReturnType<typeof anEvent>][] = [
  ['a quota in a Normal event', anEvent({ type: 'Normal', reason: 'FailedCreate', message: quota })],
  ['a quota in an event about something else', anEvent({ reason: 'FailedUpdate', message: quota })],
  ['a back-off of what is no pod', anEvent({ object: job })],
];
for (const [name, event] of nothing) test(`no failure: ${name}`, () => assert.equal(detectEvent(event), undefined));

for (const phase of ['Failed', 'Succeeded'])
  test(`a pod that is ${phase} is no crash loop, whatever it went through`, () =>
    assert.equal(detectPod(aPod({ phase, ready: false, containers: [crashing] })), undefined));

const subject = { class: 'CrashLoop', namespace: 'shop', kind: 'Deployment', name: 'mail' };
for (const rule of [{ namespace: 'pay-*' }, { kind: 'StatefulSet' }, { name: 'web' }, { class: 'OOMKilled' }])
  test(`a rule that fits but for ${Object.keys(rule)[0]} ignores nothing`, () => {
    const ignore = [{ namespace: 'shop', kind: 'Deployment', name: 'mail', class: 'CrashLoop', ...rule }];
    assert.equal(filterOutcome(aConfig({ ignore }), subject, 'tapfix'), 'Kept');
  });

test('patience and severity are those of the table, unless the configuration says otherwise', () => {
  assert.deepEqual(classOf('QuotaExceeded', aConfig()), { severity: 'critical', forMs: 10_000, specificity: 90 });
  assert.deepEqual(classOf('CrashLoop', aConfig()), { severity: 'critical', forMs: 30_000, specificity: 50 });
  const classes = { CrashLoop: { enabled: true, for: 1_000, severity: 'warning' as const } };
  assert.deepEqual(classOf('CrashLoop', aConfig({ classes })), { severity: 'warning', forMs: 1_000, specificity: 50 });
});

const signal: Signal = { class: 'QuotaExceeded', namespace: 'shop', object: { kind: 'ReplicaSet', name: 'a', uid: 'u' }, cause: { kind: 'ResourceQuota', name: 'q' }, reason: 'r', message: 'm' }; // prettier-ignore
const others: [string, Partial<Signal>, boolean][] = [
  ['in other words', { reason: 'x', message: 'y', listed: true }, true],
  ['of another quota', { cause: { kind: 'ResourceQuota', name: 'p' } }, false],
  ['of another object of the same name', { object: { ...signal.object, uid: 'v' } }, false],
  ['of another class', { class: 'CrashLoop' }, false],
  ['in another namespace', { namespace: 'pay' }, false],
];
for (const [name, over, isSame] of others)
  test(`the same trouble ${name} is ${isSame ? 'one observation' : 'two'}`, () =>
    assert.equal(identityOf({ ...signal, ...over }) === identityOf(signal), isSame));

/* The source: what the watches make of a cluster. */

const meta = (name: string) => ({ name, namespace: 'shop', uid: `u-${name}`, resourceVersion: '1', creationTimestamp: '2026-11-16T03:00:00Z' }); // prettier-ignore
const involvedObject = { kind: 'ReplicaSet', name: 'api-1', namespace: 'shop', uid: 'rs' };
const event = (name: string, message: string) => ({ metadata: meta(name), type: 'Warning', reason: 'FailedCreate', message, involvedObject }); // prettier-ignore
const pod = (name: string, ready: boolean, restartCount = 3) => ({
  metadata: meta(name),
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    containerStatuses: [{ name: 'app', ready, restartCount, state: ready ? { running: {} } : { waiting: { reason: restartCount > 0 ? 'CrashLoopBackOff' : 'ContainerCreating' } } }],
  },
}); // prettier-ignore

/** One list of each kind, then what the watch is told to say. */
function aSource(listed: Record<string, object[]>) {
  const clock = fakeClock();
  const queries: Record<string, object> = {};
  const tell = new Map<string, (line?: WatchLine) => void>();
  const api = {
    async page(kind: string, _namespace: string, query: object): Promise<Page<KubeObject>> {
      queries[kind] = query;
      return { items: listed[kind] as KubeObject[], metadata: { resourceVersion: '1' } };
    },
    async *watch(kind: string, _namespace: string, _query: object, signal: AbortSignal): AsyncIterable<WatchLine> {
      while (!signal.aborted) {
        const line = await new Promise<WatchLine | undefined>((resolve) => {
          tell.set(kind, resolve);
          signal.addEventListener('abort', () => resolve(undefined));
        });
        if (line) yield line;
      }
    },
  } as unknown as Api;
  const log = { debug() {}, info() {}, warn() {}, error: () => assert.fail('nothing is wrong') };
  const history = createHistory();
  const signals: string[] = [];
  const counted: string[] = [];
  const deps = { api, clock, log, namespace: undefined, history };
  const watches = watchSignals({
    ...deps,
    onSignal: ({ class: failureClass, object, listed }) => void signals.push(`${failureClass} ${object.name}${listed ? ' (listed)' : ''}`),
    count: (outcome) => void counted.push(outcome),
  }); // prettier-ignore
  const stop = new AbortController();
  for (const watch of [...Object.values(watches), watchRevisions(deps)]) void watch.run(stop.signal);
  const line = async (kind: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: object): Promise<void> => {
    tell.get(kind)!({ type, object: object as KubeObject });
    await clock.advance(0);
  };
  return { clock, queries, signals, counted, history, line, stop: () => stop.abort() };
}
const set = (availableReplicas: number) => ({ metadata: meta('rs'), spec: { replicas: 1 }, status: { availableReplicas } }); // prettier-ignore

test('what is listed and what is news become signals; healthy pods leave no trace, other events are counted', async () => {
  const { clock, queries, signals, counted, line, stop } = aSource({
    Event: [event('e-1', quota), event('e-2', 'denied')],
    Pod: [pod('bad', false), pod('fine', true), pod('starting', false, 0)],
    ReplicaSet: [],
  });
  await clock.advance(0);
  assert.deepEqual(signals.toSorted(), ['CrashLoop bad (listed)', 'QuotaExceeded api-1 (listed)']);
  assert.deepEqual(counted, ['NotAFailure', 'NotAFailure'], 'the other event and the pod that starts');
  assert.equal((queries['Event'] as { fieldSelector?: string }).fieldSelector, 'type=Warning');
  signals.length = 0;
  await line('Event', 'ADDED', event('e-3', quota));
  await line('Pod', 'MODIFIED', pod('fine', false));
  await line('Pod', 'MODIFIED', pod('fine', true));
  await line('Pod', 'DELETED', pod('bad', false));
  assert.deepEqual(signals, ['QuotaExceeded api-1', 'CrashLoop fine']);
  assert.equal(counted.length, 2);
  stop();
});

test('a revision that is listed as available is known to be so from then on, but not for a time that nobody watched', async () => {
  const { clock, history, line, stop } = aSource({ Event: [], Pod: [], ReplicaSet: [set(1)] });
  await clock.advance(60_000);
  assert.equal(history.longestAvailableMs('u-rs', clock.now()), 60_000);
  await clock.advance(20_000);
  await line('ReplicaSet', 'MODIFIED', set(0)); // the first word for 80 s
  assert.equal(history.longestAvailableMs('u-rs', clock.now()), 0);
  stop();
});
