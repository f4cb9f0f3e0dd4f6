import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject, Page } from '../../../src/kube/api.ts';
import { collect, identityInHead, pagesOf, TooLarge } from '../../../src/kube/bounds.ts';

const megabytes = (n: number): number => n * 1024 * 1024;
const object = (name: string): KubeObject => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: '' },
});

/** A server that holds objects of these sizes, in MB, and refuses an answer as soon as it is longer than asked for. */
function serverOf(sizes: readonly number[]) {
  const asked: string[] = [];
  const ask = async (query: Record<string, string>, longestBytes: number): Promise<Page<KubeObject>> => {
    const [from, limit] = [Number(query['continue'] ?? 0), Number(query['limit'])];
    const some = sizes.slice(from, from + limit);
    const next = from + limit;
    const metadata = { resourceVersion: '7', ...(next < sizes.length && { continue: `${next}` }) };
    const size = some.reduce((all, one) => all + one, 0);
    const isTooLarge = megabytes(size) > longestBytes;
    asked.push(`${from}+${limit}${isTooLarge ? ' too large' : ''}`);
    const head = `{"kind":"EventList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[{"metadata":{"na`;
    if (isTooLarge) throw new TooLarge('the answer', longestBytes, head);
    return { items: some.map((_, n) => object(`${from + n}`)), metadata, bytes: megabytes(size) };
  };
  return { ask, asked };
}

async function read(sizes: readonly number[]) {
  const { ask, asked } = serverOf(sizes);
  const names: string[] = [];
  let skipped = 0;
  for await (const { items } of pagesOf(ask, {}, () => void (skipped += 1)))
    names.push(...items.map(({ metadata }) => metadata.name));
  return { names, asked, skipped };
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n}`);

describe('a page has a size in bytes', () => {
  test('small objects come 250 at a time', async () => {
    const { names, asked } = await read(Array.from({ length: 600 }, () => 0.001));
    assert.deepEqual(names, numbers(600));
    assert.deepEqual(asked, ['0+250', '250+250', '500+250']);
  });

  test('a page that is too large is asked for again from the same place, with fewer', async () => {
    const { names, asked } = await read([...Array.from({ length: 250 }, () => 0.001), 1, 1, 1, 1, 1]);
    assert.deepEqual(names, numbers(255));
    assert.deepEqual(asked, ['0+250', '250+250 too large', '250+32 too large', '250+4', '254+4']);
  });

  test('260 objects of a megabyte, and none is missed', async () => {
    const { names, asked, skipped } = await read(Array.from({ length: 260 }, () => 1));
    assert.deepEqual(names, numbers(260));
    assert.equal(skipped, 0);
    assert.ok(asked.length < 140, `${asked.length} requests`);
  });

  test('an object that is as large as one can be is read alone', async () => {
    const { names, skipped } = await read([0.1, 8.5, 0.1, 8.5, 8.5, 0.1]);
    assert.deepEqual(names, numbers(6));
    assert.equal(skipped, 0);
  });

  test('one that is larger is left out, and those behind it are read', async () => {
    const { names, skipped } = await read([0.1, 13, 0.1, 13, 0.1]);
    assert.deepEqual(names, ['0', '2', '4']);
    assert.equal(skipped, 2);
  });

  test('small pages grow again', async () => {
    const { asked } = await read([5, ...Array.from({ length: 1000 }, () => 0.001)]);
    assert.deepEqual(asked.slice(-3), ['256+250', '506+250', '756+250']);
  });

  test('a head that cannot be understood is an error, not an endless list', async () => {
    const ask = async (): Promise<never> => {
      throw new TooLarge('the answer to GET /api/v1/pods', megabytes(12), '{"items":[{"metadata":{"continue":"mine"}');
    };
    const pages = pagesOf(ask, {}, () => {});
    await assert.rejects(pages.next(), { message: 'the answer to GET /api/v1/pods is larger than 12 MB', code: 413 });
  });
});

const line = (type: string, metadata: string): string =>
  `{"type":"${type}","object":{"kind":"Pod","apiVersion":"v1","metadata":{${metadata},"annotations":{"a":"\\u003c`;

describe('the object of a line that is too long', () => {
  const mine = '"name":"api-1","generateName":"api-","namespace":"shop","uid":"u-1","resourceVersion":"42"';

  test('is known from its beginning', () => {
    assert.deepEqual(identityInHead(line('MODIFIED', mine))?.metadata, {
      name: 'api-1',
      namespace: 'shop',
      uid: 'u-1',
      resourceVersion: '42',
      creationTimestamp: '',
    });
  });

  test('also without a namespace', () =>
    assert.equal(identityInHead(line('ADDED', '"name":"n","uid":"u","resourceVersion":"4"'))?.metadata.name, 'n'));

  for (const [name, head] of Object.entries({
    'a text in front of it': `x${line('ADDED', mine)}`,
    'another order': line('ADDED', '"uid":"u","name":"n","resourceVersion":"4"'),
    'a bookmark': line('BOOKMARK', mine),
    'a name with an escape': line('ADDED', mine.replace('api-1', 'api\\"1')),
  }))
    test(`is not guessed from ${name}`, () => assert.equal(identityInHead(head), undefined));
});

async function* pagesWith(...pages: Page<KubeObject>[]): AsyncGenerator<Page<KubeObject>> {
  yield* pages;
}
const whole = (items: object[], bytes = 1): Page<KubeObject> => ({
  items: items as KubeObject[],
  metadata: { resourceVersion: '7' },
  bytes,
});

describe('what a list keeps', () => {
  const metadata = {
    ...object('a').metadata,
    managedFields: [{ manager: 'kubectl' }],
    annotations: { note: 'x'.repeat(200_000) },
    labels: { app: 'api' },
  };

  test('of an Event: a message of 4096 characters, and no record of its writers', async () => {
    const [event] = await collect(
      'Event',
      pagesWith(whole([{ metadata, message: 'm'.repeat(megabytes(1)), reason: 'BackOff' }])),
    );
    const { annotations, managedFields, labels } = event!.metadata;
    assert.deepEqual([annotations?.['note']?.length, managedFields, labels], [4096, undefined, { app: 'api' }]);
    assert.deepEqual({ ...event, metadata: {} }, { metadata: {}, message: 'm'.repeat(4096), reason: 'BackOff' });
  });

  test('of a Pod: everything but values, arguments and commands', async () => {
    const container = { name: 'app', image: 'shop/api:1', resources: { requests: { cpu: '1' } } };
    const env = [
      { name: 'A', value: '<'.repeat(megabytes(1)) },
      { name: 'B', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } },
    ];
    const spec = {
      nodeName: 'n',
      containers: [{ ...container, env, envFrom: [{ configMapRef: { name: 'c' } }], args: ['x'], command: ['y'] }],
    };
    const [pod] = await collect('Pod', pagesWith(whole([{ metadata, spec, status: { phase: 'Running' } }])));
    assert.deepEqual((pod as unknown as { spec: unknown }).spec, {
      nodeName: 'n',
      containers: [{ ...container, env: [{ name: 'A' }, env[1]], envFrom: [{ configMapRef: { name: 'c' } }] }],
    });
  });

  test('of a ReplicaSet: everything, because its template may be put back', async () => {
    const set = { metadata, spec: { template: { spec: { containers: [{ name: 'app', args: ['x'] }] } } } };
    assert.deepEqual(await collect('ReplicaSet', pagesWith(whole([set]))), [set]);
  });

  test('is bounded: a list that is too large is an error, never half a list', async () => {
    const pages = pagesWith(...Array.from({ length: 17 }, () => whole([object('a')], megabytes(4))));
    await assert.rejects(collect('Job', pages), { message: 'the list of Job objects is larger than 64 MB' });
  });
});
