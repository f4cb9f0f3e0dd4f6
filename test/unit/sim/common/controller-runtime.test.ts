import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, KubeObject, WatchLine } from '../../../../src/kube/api.ts';
import { createInformers } from '../../../../src/sim/common/controller-runtime.ts';
import { fakeClock } from '../../../support/fake-clock.ts';
import { meta } from '../objects.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const pod = (name: string): KubeObject => ({ metadata: meta(name) });

test('what was deleted while nobody watched is told as gone, as it was last', async () => {
  const lists = [
    [pod('a'), pod('b')],
    [pod('b'), pod('c')],
  ];
  const api = {
    page: async () => ({ items: lists.shift() ?? [], metadata: { resourceVersion: '1' } }),
    async *watch(_kind, _namespace, _query, signal): AsyncGenerator<WatchLine> {
      if (lists.length > 0) yield { type: 'ERROR', object: { ...pod('x'), code: 410, message: 'too old' } };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  } as Partial<Api> as Api;
  const clock = fakeClock();
  const stop = new AbortController();
  const told: string[] = [];
  const informers = createInformers({ api, clock, log: quiet });
  informers.on('Pod', ({ metadata }, isGone) => void told.push(`${isGone ? '-' : '+'}${metadata.name}`));
  const ended = informers.run(stop.signal);
  await clock.advance(5_000);
  assert.deepEqual(told, ['+a', '+b', '-a', '+b', '+c']);
  assert.deepEqual(
    [...informers.seen('Pod')].map(({ metadata }) => metadata.name),
    ['b', 'c'],
  );
  stop.abort();
  await ended;
});
