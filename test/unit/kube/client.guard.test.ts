import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Api } from '../../../src/kube/api.ts';
import { localApi } from '../../../src/sim/api/local-api.ts';
import type { ApiRequest } from '../../../src/sim/api/model.ts';
import { fakeServer } from '../../support/fake-api.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { json } from '../../support/scripted-server.ts';
import { aList, aPod, eventually, rig } from './support.ts';

const pod = { kind: 'Pod', namespace: 'shop', name: 'api-1' } as const;

const writes: Record<string, (api: Api) => Promise<unknown>> = {
  create: (api) => api.create({ kind: 'Pod', namespace: 'shop' }, { metadata: { name: 'api-1' } }),
  createSub: (api) => api.createSub({ ...pod, subresource: 'eviction' }, { metadata: { name: 'api-1' } }),
  patch: (api) => api.patch(pod, 'merge', { metadata: { labels: { a: 'b' } } }),
  delete: (api) => api.delete(pod),
};

class NotLeading extends Error {}
const refuse = (): never => {
  throw new NotLeading('the Lease is lost');
};

interface Side {
  api: Api;
  /** Writes that arrived at the server. */
  arrived(): number;
}

const sides: Record<string, (t: Parameters<typeof rig>[0]) => Promise<Side>> = {
  async 'over HTTP'(t) {
    const { server, api } = await rig(t);
    server.script(...Array.from({ length: 20 }, () => json(aPod('api-1'))));
    return { api, arrived: () => server.seen.filter(({ method }) => method !== 'GET').length };
  },
  async 'in this process'() {
    const asked: ApiRequest[] = [];
    const handle = async (request: ApiRequest) => {
      asked.push(request);
      return { status: 200, body: aPod('api-1') };
    };
    return {
      api: localApi({ handle: handle as never }),
      arrived: () => asked.filter(({ method }) => method !== 'GET').length,
    };
  },
  async 'of a fake server'() {
    const server = fakeServer(fakeClock());
    server.seed('Pod', 'shop', { metadata: { name: 'api-1' } });
    let writesSeen = 0;
    server.onWrite('Pod', () => void writesSeen++);
    return { api: server.client(), arrived: () => writesSeen };
  },
};

for (const [name, make] of Object.entries(sides)) {
  describe(`a guarded api ${name}`, () => {
    for (const [verb, write] of Object.entries(writes)) {
      test(`${verb} is not sent when the check throws, and throws the same`, async (t) => {
        const { api, arrived } = await make(t);
        const guarded = api.guardedBy(refuse);
        await assert.rejects(write(guarded), NotLeading);
        await assert.rejects(write(guarded.withToken('minted')), NotLeading);
        await assert.rejects(write(api.withToken('minted').guardedBy(refuse)), NotLeading);
        assert.equal(arrived(), 0);
      });
    }

    test('reads are not checked', async (t) => {
      const { api } = await make(t);
      assert.equal((await api.guardedBy(refuse).get(pod))?.metadata.name, 'api-1');
    });

    test('a check that passes lets writes through; the api it came from has none', async (t) => {
      const { api, arrived } = await make(t);
      let checks = 0;
      await api.guardedBy(() => void checks++).patch(pod, 'merge', { metadata: { labels: { a: 'b' } } });
      await api.patch(pod, 'merge', { metadata: { labels: { a: 'c' } } });
      assert.deepEqual([arrived(), checks], [2, 1]);
    });

    test('two checks hold both', async (t) => {
      const { api, arrived } = await make(t);
      const pass = (): void => undefined;
      await assert.rejects(writes['patch']!(api.guardedBy(refuse).guardedBy(pass)), NotLeading);
      await assert.rejects(writes['patch']!(api.guardedBy(pass).guardedBy(refuse)), NotLeading);
      assert.equal(arrived(), 0);
    });
  });
}

test('a write that waits for a connection is checked when it gets one, not before', async (t) => {
  const { server, api } = await rig(t);
  let isLeading = true;
  const guarded = api.guardedBy(() => void (isLeading || refuse()));
  const held: (() => void)[] = [];
  server.script(
    ...Array.from({ length: 32 }, () => (response: { end(text: string): void }) => {
      held.push(() => response.end(JSON.stringify(aPod('api-1'))));
    }),
  );
  server.script(json(aList([])));
  const before = Array.from({ length: 32 }, () => api.get(pod));
  await eventually(() => held.length === 32); // every connection is in use
  const write = guarded.delete(pod);
  await new Promise((resolve) => setTimeout(resolve, 20));
  isLeading = false;
  for (const answer of held) answer();
  await Promise.all(before);
  await assert.rejects(write, NotLeading);
  assert.equal(server.seen.filter(({ method }) => method === 'DELETE').length, 0);
});
