import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOnce, createSharedEvents, createSnapshot } from '../../../src/diagnosis/readers.ts';
import type { KubeObject, ListSelector, Reader } from '../../../src/kube/api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { blockedByQuota } from '../../support/street.ts';
import { aShop } from './support.ts';

const unhealthy = { fieldSelector: 'reason=Unhealthy' };

/** An API server that takes its time, and what it was asked. */
function aSlowServer(takesMs: number, answer: () => KubeObject[] = () => []) {
  const clock = fakeClock();
  const asked: string[] = [];
  const reader: Reader = {
    get: async () => undefined,
    async list<T>(kind: string, namespace?: string, selector: ListSelector = {}) {
      asked.push(`${kind} ${namespace} ${selector.fieldSelector ?? ''}`.trim());
      await clock.sleep(takesMs);
      return answer() as T[];
    },
  };
  return { clock, asked, reader: createSharedEvents(reader, clock) };
}

describe('lists of events', () => {
  test('two hundred who ask the same at once are one question', async () => {
    const { clock, asked, reader } = aSlowServer(3_000);
    const all = Promise.all(Array.from({ length: 200 }, () => reader.list('Event', 'shop', unhealthy)));
    await clock.advance(3_000);
    assert.equal((await all).length, 200);
    assert.deepEqual(asked, ['Event shop reason=Unhealthy']);
  });

  test('an answer is good for three times as long as it took, and not for longer', async () => {
    const { clock, asked, reader } = aSlowServer(3_000);
    const ask = async (): Promise<void> => {
      const answer = reader.list('Event', 'shop', unhealthy);
      await clock.advance(3_000);
      await answer;
    };
    await ask();
    await clock.advance(2_000);
    await ask();
    assert.equal(asked.length, 1);
    await clock.advance(5_000);
    await ask();
    assert.equal(asked.length, 2);
  });

  test('what came at once is asked again at once', async () => {
    const { clock, asked, reader } = aSlowServer(0);
    for (let n = 0; n < 3; n++) {
      const answer = reader.list('Event', 'shop', unhealthy);
      await clock.advance(0);
      await answer;
      await clock.advance(0);
    }
    assert.equal(asked.length, 3);
  });

  test('another namespace and another reason are other questions, and other kinds are always asked', async () => {
    const { clock, asked, reader } = aSlowServer(1_000);
    const lists = [
      reader.list('Event', 'shop', unhealthy),
      reader.list('Event', 'pay', unhealthy),
      reader.list('Event', 'shop'),
      reader.list('Pod', 'shop'),
      reader.list('Pod', 'shop'),
    ];
    await clock.advance(1_000);
    await Promise.all(lists);
    assert.equal(asked.length, 5);
  });

  test('a failure is told to all who asked, and is no answer for the next', async () => {
    let isAway = true;
    const { clock, asked, reader } = aSlowServer(1_000, () => {
      if (isAway) throw new Error('the API server is away');
      return [];
    });
    const both = Promise.allSettled([reader.list('Event', 'shop'), reader.list('Event', 'shop')]);
    await clock.advance(1_000);
    assert.deepEqual(
      (await both).map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    isAway = false;
    const next = reader.list('Event', 'shop');
    await clock.advance(1_000);
    assert.deepEqual(await next, []);
    assert.equal(asked.length, 2);
  });
});

test('a snapshot answers as the reader does', async () => {
  const shop = aShop();
  blockedByQuota(shop, ['api', 'web']);
  const snapshot = createSnapshot(shop.reader, 'shop');
  for (const [name, namespace] of [
    ['api', 'shop'],
    ['nobody', 'shop'],
    ['api', 'other'],
  ] as const)
    assert.deepEqual(
      await snapshot.get({ kind: 'Deployment', namespace, name }),
      await shop.reader.get({ kind: 'Deployment', namespace, name }),
    );
  for (const labelSelector of ['app=api', 'app=api,tier=x', ''])
    assert.deepEqual(
      await snapshot.list('ReplicaSet', 'shop', { labelSelector }),
      await shop.reader.list('ReplicaSet', 'shop', labelSelector ? { labelSelector } : {}),
    );
  const fieldSelector = 'reason=FailedCreate';
  assert.deepEqual(await snapshot.list('Event', 'shop', { fieldSelector }), []);
});

test('each question is asked once, and another selector is another question', async () => {
  const { server, reader } = aShop();
  const once = createOnce(reader);
  for (let n = 0; n < 2; n++) {
    await once.list('Pod', 'shop', { labelSelector: 'app=a' });
    await once.list('Pod', 'shop');
    await once.get({ kind: 'Pod', namespace: 'shop', name: 'x' });
    await once.get({ kind: 'Pod', namespace: 'shop', name: 'y' });
  }
  assert.deepEqual(
    server.calls.map(({ verb, name }) => `${verb} ${name ?? ''}`.trim()),
    ['list', 'list', 'get x', 'get y'],
  );
});
