import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSharedEvents } from '../../../src/diagnosis/readers.ts';
import type { KubeObject, ListSelector, Reader } from '../../../src/kube/api.ts';
import { fakeClock } from '../../support/fake-clock.ts';

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
