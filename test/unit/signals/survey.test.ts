import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ApiError, type KubeObject, type Reader } from '../../../src/kube/api.ts';
import type { Signal } from '../../../src/signals/signal.ts';
import { survey } from '../../../src/signals/survey.ts';
import { aConfig } from '../../support/config.ts';
import { aSource, meta } from './a-source.ts';

/* One look sees what the watches see when they start. */

const recorded = (name: string): (KubeObject & { type?: string })[] =>
  (
    JSON.parse(readFileSync(new URL(`../../fixtures/recorded/${name}.json`, import.meta.url), 'utf8')) as {
      items: KubeObject[];
    }
  ).items;

const all = ['events', 'node-events', 'node-pods', 'node-workloads'].flatMap(recorded);
const down = { metadata: meta('real-1'), status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
const listed: Record<string, KubeObject[]> = Object.fromEntries(Map.groupBy(all, ({ kind }) => kind ?? ''));

/** The same objects for whoever lists them. */
function readerOf(objects: Record<string, object[]>, forbidden: readonly string[] = []): Reader {
  const list = async (kind: string, _namespace?: string, { fieldSelector = '' } = {}): Promise<object[]> => {
    if (forbidden.includes(kind)) throw new ApiError('no', 403, 'Forbidden');
    const isOther = fieldSelector === 'type!=Warning';
    return (objects[kind] ?? []).filter(
      (one) => kind !== 'Event' || ((one as { type?: string }).type !== 'Warning') === isOther,
    );
  };
  return { list, get: async () => undefined } as unknown as Reader;
}

const spoken = ({ class: of, object, cause }: Signal): string =>
  `${of} ${object.name}${cause ? ` by ${cause.kind}/${cause.name}` : ''}`;
const extraReasons = [{ reason: 'Pulling', class: 'Pulling', severity: 'info' as const, for: 0 }];

test('of a real cluster: the same signals', async () => {
  const { clock, signals, stop } = aSource(listed, { config: { extraReasons }, scopes: ['shop'] });
  await clock.advance(0);
  stop();
  const config = aConfig({ extraReasons });
  const { sightings, unread } = await survey({
    reader: readerOf(listed),
    namespace: 'shop',
    config,
    nowMs: clock.now(),
  });
  // Who is to blame the watches may learn a moment later; a look knows everything at once.
  const unblamed = (line: string): string => line.replace(/ (by|\().*$/, '');
  const watched = new Set(signals.map(unblamed));
  assert.ok(watched.size > 10, String(watched.size));
  assert.deepEqual([...new Set(sightings.map(({ signal }) => unblamed(spoken(signal))))].sort(), [...watched].sort());
  assert.deepEqual(unread, []);
});

test('who is to blame is known whatever is read first: a node takes its pods with it, a missing class its claims and pods', async () => {
  const objects = { ...listed, Node: [down] };
  const { sightings } = await survey({ reader: readerOf(objects), namespace: 'shop', config: aConfig(), nowMs: 0 });
  const status = sightings.filter(({ event }) => !event).map(({ signal }) => signal);
  const onNode = status.filter(({ cause }) => cause?.kind === 'Node');
  assert.ok(onNode.length > 5 && onNode.every((signal) => signal.class === 'NodeDown'));
  const pods = new Set(onNode.map(({ object }) => object.name));
  assert.deepEqual(
    status.filter((one) => pods.has(one.object.name) && one.class !== 'NodeDown'),
    [],
  );
  const waiting = status.filter(({ object }) => object.name.startsWith('pvc-')).map(spoken);
  assert.deepEqual(waiting, ['StorageFailed pvc-7895dcdc96-49cfz by StorageClass/fast']);
});

test('an event comes with when and how often', async () => {
  const { sightings } = await survey({ reader: readerOf(listed), namespace: 'shop', config: aConfig(), nowMs: 0 });
  const events = sightings.flatMap(({ event }) => event ?? []);
  assert.ok(events.some(({ count }) => count > 1) && events.every(({ lastSeenMs }) => lastSeenMs > 0));
});

test('what may not be listed is named, and the rest is seen', async () => {
  const reader = readerOf(listed, ['Node', 'Event', 'StorageClass']);
  const { sightings, unread } = await survey({ reader, namespace: 'shop', config: aConfig(), nowMs: 0 });
  assert.deepEqual(unread.toSorted(), ['Event', 'Node', 'StorageClass']);
  assert.ok(sightings.length > 0 && sightings.every(({ event }) => event === undefined));
});
