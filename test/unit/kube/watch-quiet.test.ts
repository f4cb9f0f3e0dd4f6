import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Api, ApiError } from '../../../src/kube/api.ts';
import { createWatch } from '../../../src/kube/watch.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { type LogLine, recorder } from './watch-rig.ts';

/* A quiet cluster is not a broken one. */

/** As the API server serves Events: straight from etcd, never a bookmark, and a version is too old after some minutes. */
function aQuietServer(clock: ReturnType<typeof fakeClock>) {
  const gapsMs: number[] = [];
  let lists = 0;
  let endedAtMs: number | undefined;
  const api = {
    page: async () => (lists++, { items: [], metadata: { resourceVersion: String(clock.now()) } }),
    // oxlint-disable-next-line require-yield -- nothing happens on it
    async *watch(_kind: string, _namespace: string, query: Record<string, string>, signal: AbortSignal) {
      if (clock.now() - Number(query['resourceVersion']) > 420_000) throw new ApiError('too old', 410, 'Expired');
      if (endedAtMs !== undefined) gapsMs.push(clock.now() - endedAtMs);
      await clock.sleep(Number(query['timeoutSeconds']) * 1000, signal);
      endedAtMs = clock.now();
    },
  } as unknown as Api;
  return { api, gapsMs, lists: () => lists };
}

for (const kind of ['Event', 'Pod'] as const)
  test(`an hour without any ${kind}, nor a bookmark: never called broken, never without a watch, listed anew only when it must be`, async () => {
    const clock = fakeClock();
    const { api, gapsMs, lists } = aQuietServer(clock);
    const logged: LogLine[] = [];
    const stop = new AbortController();
    const watch = createWatch({
      api,
      clock,
      log: recorder(logged),
      kind,
      view: () => undefined,
      onList() {},
      onChange() {},
    });
    const running = watch.run(stop.signal);
    let longestSilenceMs = 0;
    for (let n = 0; n < 3_600; n += 10) {
      await clock.advance(10_000);
      longestSilenceMs = Math.max(longestSilenceMs, watch.silentMs());
    }
    stop.abort();
    await running;
    assert.deepEqual(
      logged.filter(({ level }) => level !== 'debug'),
      [],
    );
    assert.ok(Math.max(...gapsMs) <= 1_000, String(Math.max(...gapsMs)));
    assert.ok(longestSilenceMs < 75_000, String(longestSilenceMs));
    assert.ok(lists() <= 10, String(lists()));
  });
