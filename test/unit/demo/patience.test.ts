import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patientApi } from '../../../src/demo/patience.ts';
import { type Api, ApiError, type KubeObject, Unreachable } from '../../../src/kube/api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const away = new Unreachable('connect ECONNREFUSED');
const busy = new ApiError('too many requests', 429, 'TooManyRequests');
const conflict = new ApiError('already exists', 409, 'AlreadyExists');
const notFound = new ApiError('not found', 404, 'NotFound');

const place = { kind: 'ConfigMap', namespace: 'shop' } as const;
const ref = { ...place, name: 'one' } as const;
const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } };

/** A server that keeps what it is given, and fails as told, call by call: before the work, or after it. */
function aServer(failures: { before?: Error; after?: Error }[]) {
  const objects = new Map<string, KubeObject>();
  let calls = 0;
  async function answer<T>(work: () => T): Promise<T> {
    const { before, after } = failures[calls++] ?? {};
    if (before) throw before;
    const done = work();
    if (after) throw after;
    return done;
  }
  const api = {
    get: (at: { name: string }) => answer(() => objects.get(at.name)),
    list: () => answer(() => [...objects.values()]),
    create: (_place: object, made: KubeObject) =>
      answer(() => {
        if (objects.has(made.metadata.name)) throw conflict;
        objects.set(made.metadata.name, made);
        return made;
      }),
    delete: (at: { name: string }) =>
      answer(() => {
        if (!objects.delete(at.name)) throw notFound;
      }),
  } as unknown as Api;
  const clock = fakeClock();
  const stop = new AbortController();
  return { api: patientApi(api, { clock, signal: stop.signal, own: 'own' }), clock, stop, objects, calls: () => calls };
}

test('what is away or busy for a while is asked again', async () => {
  const { api, clock, calls } = aServer([{ before: away }, { before: busy }]);
  const listed = api.list('Pod', 'shop');
  await clock.advance(1_000);
  assert.deepEqual(await listed, []);
  assert.equal(calls(), 3);
});

test('what arrived though its answer was lost is ours, and is made once', async () => {
  const { api, clock, objects } = aServer([{ after: away }]);
  const created = api.create<KubeObject>(place, body);
  await clock.advance(1_000);
  assert.equal((await created).metadata.name, 'one');
  assert.equal(objects.size, 1);
});

test('in the namespace of its own the same, without a mark: it would stand on a card', async () => {
  const { api, clock, objects } = aServer([{ after: away }]);
  const created = api.create<KubeObject>({ ...place, namespace: 'own' }, body);
  await clock.advance(1_000);
  assert.deepEqual(await created, body);
  assert.deepEqual([...objects.values()], [body]);
});

test('what somebody else made is refused, also after an answer that was lost', async () => {
  const { api, clock, objects } = aServer([{ before: away }]);
  objects.set('one', body as unknown as KubeObject);
  const created = api.create(place, body);
  void created.catch(() => undefined);
  await clock.advance(1_000);
  await assert.rejects(created, conflict);
});

test('what was removed though its answer was lost is gone; what was never there is refused', async () => {
  const { api, clock, objects } = aServer([{ after: away }]);
  objects.set('one', body as unknown as KubeObject);
  const deleted = api.delete(ref);
  await clock.advance(1_000);
  await deleted;
  await assert.rejects(api.delete(ref), notFound);
});

test('a no is a no at once, and nobody who wants to stop waits', async () => {
  const { api, stop, calls } = aServer([{ before: new ApiError('no', 403, 'Forbidden') }, { before: away }]);
  await assert.rejects(api.list('Pod', 'shop'), /no/);
  stop.abort();
  await assert.rejects(api.list('Pod', 'shop'), away);
  assert.equal(calls(), 2);
});

test('it is not asked for ever', async () => {
  const { api, clock } = aServer(Array.from({ length: 1_000 }, () => ({ before: away })));
  const listed = api.list('Pod', 'shop');
  void listed.catch(() => undefined);
  await clock.advance(125_000);
  await assert.rejects(listed, away);
});
