import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { type Api, ApiError, type KubeObject, type Page, Unreachable } from '../../../src/kube/api.ts';
import { createReconnectSignal, createWatch, type WatchDeps } from '../../../src/kube/watch.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { recorder } from './watch-rig.ts';

/* After an outage one watch must not rest for half a minute while another has long reached the server. */

const noAnswer = new Unreachable('connection refused');
const all: Page<KubeObject> = { items: [], metadata: { resourceVersion: '1' } };
const more: Page<KubeObject> = { items: [], metadata: { resourceVersion: '1', continue: 'more' } };

/** A server that gives every list the same answers, page by page, and never ends a watch. */
function aWorld(t: TestContext) {
  const clock = fakeClock();
  const server: { pages: (Error | Page<KubeObject>)[] } = { pages: [noAnswer] };
  const reconnected = createReconnectSignal();

  /** When it lists. */
  function watch(over: Partial<WatchDeps<string>> = {}): number[] {
    const listedAtMs: number[] = [];
    const api = {
      async page(_kind: string, _namespace: undefined, query: { continue?: string }) {
        if (!query.continue) listedAtMs.push(clock.now());
        const answer = server.pages[query.continue ? 1 : 0]!;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      async *watch(_kind: string, _namespace: undefined, _query: object, signal: AbortSignal) {
        await once(signal, 'abort');
        yield* [];
      },
    } as unknown as Api;
    const stop = new AbortController();
    const handlers = { view: () => undefined, onList() {}, onChange() {} };
    const deps = { api, clock, log: recorder([]), kind: 'Pod', random: () => 0.999, reconnected, ...handlers } as const;
    const ended = createWatch<string>({ ...deps, deadAfterMs: 3_600_000, ...over }).run(stop.signal);
    t.after(() => (stop.abort(), ended));
    return listedAtMs;
  }

  /** So long that every pause is as long as it gets: half a minute. */
  const outage = (): Promise<void> => clock.advance(200_000);
  /** From a list on, how soon the next one comes: at once after `again`, if that wakes it. */
  async function nextAfter(listed: number[], again: () => void): Promise<number> {
    const before = listed.length;
    while (listed.length === before) await clock.advance(100);
    await clock.advance(5_000);
    const sinceMs = clock.now();
    again();
    while (listed.length === before + 1) await clock.advance(100);
    return listed.at(-1)! - sinceMs;
  }
  return { clock, server, reconnected, watch, outage, nextAfter };
}

const soon = 999; // as the random function has it: not all at once

test('who rests is woken when another watch has reached the server', async (t) => {
  const { clock, server, watch, outage } = aWorld(t);
  const slow = watch();
  const quick = watch({ kind: 'Job', random: () => 0 });
  await outage();
  for (const rested = slow.length; slow.length === rested;) await clock.advance(100); // it has all of its pause before it
  const [slowBefore, quickBefore] = [slow.length, quick.length];
  server.pages = [all];
  await clock.advance(60_000);
  assert.equal(slow.length, slowBefore + 1);
  assert.equal(slow.at(-1)! - quick[quickBefore]!, soon);
});

const troubles: [string, Error, boolean][] = [
  ['no answer', noAnswer, true],
  ['an error of the server', new ApiError('etcd', 500, 'InternalError'), true],
  ['a server that is starting', new ApiError('starting', 503, 'ServiceUnavailable'), true],
  ['a pause that it asked for', new ApiError('later', 503, 'ServiceUnavailable', 40_000), false],
  ['too many requests', new ApiError('slow down', 429, 'TooManyRequests'), false],
  ['too many requests, and a pause', new ApiError('slow down', 429, 'TooManyRequests', 40_000), false],
  ['a right that is missing', new ApiError('no', 403, 'Forbidden'), false],
];
for (const [name, error, isWoken] of troubles)
  test(`${name}: ${isWoken ? 'the pause is cut short' : 'the pause is kept'}`, async (t) => {
    const { server, reconnected, watch, outage, nextAfter } = aWorld(t);
    server.pages = [error];
    const listed = watch();
    await outage();
    const tookMs = await nextAfter(listed, reconnected.again);
    if (isWoken) assert.equal(tookMs, soon);
    else assert.ok(tookMs > 20_000, `${tookMs} ms`);
  });

test('whoever is woken shortly before its time is not late', async (t) => {
  const { reconnected, watch, clock } = aWorld(t);
  const listed = watch();
  await clock.advance(100); // the first pause is half a second
  reconnected.again();
  await clock.advance(1_000);
  assert.ok(listed[1]! - listed[0]! <= 500, `${listed[1]! - listed[0]!} ms`);
});

test('half a list, or a start without trouble, wakes nobody', async (t) => {
  const { server, reconnected, watch, outage, clock } = aWorld(t);
  const watched = reconnected.next();
  watch();
  await outage();
  server.pages = [more, noAnswer];
  await outage();
  assert.equal(watched.aborted, false);
  server.pages = [all];
  await clock.advance(60_000);
  assert.equal(watched.aborted, true);
  const next = reconnected.next();
  watch();
  await clock.advance(1_000);
  assert.equal(next.aborted, false);
});

test('a watch that shares nothing rests for as long as before', async (t) => {
  const { reconnected, watch, outage, nextAfter } = aWorld(t);
  const listed = watch({ reconnected: undefined });
  await outage();
  assert.ok((await nextAfter(listed, reconnected.again)) > 20_000);
});
