import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { type Api, ApiError, type KubeObject, type Page, Unreachable } from '../../../src/kube/api.ts';
import { createReconnectSignal, createWatch, type WatchDeps } from '../../../src/kube/watch.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import {
  json,
  lines,
  page,
  refusal,
  reset,
  scriptedServer,
  silence,
  type Step,
  stream,
} from '../../support/scripted-server.ts';
import { aList, aPod, eventually, rig } from './support.ts';
import { added, bookmark, deleted, errorLine, type LogLine, recorder, watchRig } from './watch-rig.ts';

const listOfA: Step = json(aList([aPod('a')], '10'));

test('it lists, then watches from there', async (t) => {
  const { server, lists, changes, until, told } = await watchRig(
    t,
    [listOfA, lines([added('b', '11'), deleted('a', '12')], 'stay')],
    { namespace: 'shop', fieldSelector: 'type!=Normal' },
  );
  await until(() => changes.length === 2);
  assert.deepEqual(lists, [['a']]);
  assert.deepEqual(changes, ['+b', '-shop/a/uid-a']);
  assert.deepEqual(
    server.seen.map(({ path, query }) => [path, query]),
    [
      ['/api/v1/namespaces/shop/pods', { fieldSelector: 'type!=Normal', limit: '250' }],
      [
        '/api/v1/namespaces/shop/pods',
        {
          fieldSelector: 'type!=Normal',
          allowWatchBookmarks: 'true',
          resourceVersion: '10',
          timeoutSeconds: '45',
          watch: 'true',
        },
      ],
    ],
  );
  assert.deepEqual(told(), [], 'a healthy watch says nothing');
});

const durations = [
  { name: '45 seconds at least', over: { random: () => 0 }, want: '45' },
  { name: 'a minute at most', over: { random: () => 0.9999 }, want: '60' },
  { name: 'or as told', over: { timeoutSeconds: 7 }, want: '7' },
];
for (const { name, over, want } of durations) {
  test(`a watch is asked for ${name}`, async (t) => {
    const { server, until } = await watchRig(t, [listOfA], over);
    await until(() => server.seen.length === 2);
    assert.equal(server.seen[1]?.query['timeoutSeconds'], want);
  });
}

test('pages are joined into one list, projected as they come', async (t) => {
  const viewed: string[] = [];
  const pages = [aList([aPod('a')], '10', 'p2'), aList([aPod('b')], '10', 'p3'), aList([aPod('c')], '10')];
  const { lists, asked, until, watch } = await watchRig(
    t,
    pages.map((page) => json(page)),
    {
      view: ({ metadata }) => {
        viewed.push(`${metadata.name}:${watch?.synced() ?? 'early'}`);
        return metadata.name;
      },
    },
  );
  await until(() => asked().length === 4);
  assert.deepEqual(asked(), ['list', 'list p2', 'list p3', 'watch 10']);
  assert.deepEqual(lists, [['a', 'b', 'c']]);
  assert.deepEqual(
    viewed.map((one) => one.slice(0, 1)),
    ['a', 'b', 'c'],
  );
});

test('a watch that ends in order goes on from the last version seen, bookmarks included', async (t) => {
  const { asked, lists, until, told } = await watchRig(t, [
    listOfA,
    lines([added('b', '11')]),
    lines([bookmark('20')]),
    lines([], 'stay'),
  ]);
  await until(() => asked().length === 4);
  assert.deepEqual(asked(), ['list', 'watch 10', 'watch 11', 'watch 20']);
  assert.equal(lists.length, 1);
  assert.deepEqual(told(), []);
});

test('what nobody needs is not listed, and is gone when it becomes so', async (t) => {
  const boring = {
    metadata: { name: 'a', namespace: 'shop', uid: 'uid-a', resourceVersion: '11', labels: { boring: '1' } },
  };
  const { lists, changes, until } = await watchRig(t, [
    json(aList([aPod('a'), boring])),
    lines([{ type: 'MODIFIED', object: boring }], 'stay'),
  ]);
  await until(() => changes.length === 1);
  assert.deepEqual(lists, [['a']]);
  assert.deepEqual(changes, ['-shop/a/uid-a']);
});

test('it knows whether it is in step, and for how long it has heard nothing', async (t) => {
  const { watch, clock, until, server, changes } = await watchRig(t, [listOfA, lines([added('b', '11')], 'stay')]);
  assert.deepEqual([watch.synced(), watch.silentMs()], [false, Infinity]);
  await until(() => changes.length === 1);
  await clock.advance(42_000);
  assert.equal(watch.synced(), true);
  assert.ok(watch.silentMs() >= 42_000 && watch.silentMs() < 50_000, String(watch.silentMs()));
  assert.equal(server.seen.length, 2);
});

const hooks = ['view', 'onList', 'onChange'] as const;
for (const hook of hooks) {
  test(`a throwing ${hook} is logged once and ends nothing`, async (t) => {
    const broken = (): never => {
      throw new Error('boom');
    };
    const { until, logged, told, asked } = await watchRig(
      t,
      [listOfA, lines([added('b', '11'), added('c', '12')]), lines([], 'stay')],
      { [hook]: broken },
    );
    await until(() => asked().length === 3);
    assert.deepEqual(asked(), ['list', 'watch 10', 'watch 12']);
    assert.deepEqual(told(), ['error: watch handler threw']);
    const { kind, what, error } = logged.find(({ level }) => level === 'error')!.fields;
    assert.deepEqual({ kind, what, error }, { kind: 'Pod', what: hook, error: 'boom' });
  });
}

test('a handler that rejects later ends nothing either', async (t) => {
  const { until, told } = await watchRig(t, [listOfA, lines([added('b', '11')], 'stay')], {
    onChange: async () => Promise.reject(new Error('boom')),
  });
  await until(() => told().length === 1);
  assert.deepEqual(told(), ['error: watch handler threw']);
});

const listOfB: Step = json(aList([aPod('b')], '30'));
const expired = refusal(410, 'Expired', 'too old resource version: 10 (20)');

/** `isRefused`: the server has looked at it, so this watch alone is broken, and that is logged at once. */
const failures: { name: string; step: Step; isRefused?: true }[] = [
  { name: 'a reset', step: reset() },
  { name: '403', step: refusal(403, 'Forbidden', 'no'), isRefused: true },
  { name: '429', step: refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '1' }) },
  { name: '500', step: refusal(500, 'InternalError', 'oh'), isRefused: true },
  { name: '503', step: page('upstream down', 503) },
  { name: 'a page in place of lines', step: page('<html>\nlogin\n</html>') },
  { name: 'a line of garbage', step: stream(['garbage\n']) },
  { name: 'a truncated line', step: stream(['{"type":"ADDED","object":{"metadata":{"resourceVersion":"99"']) },
  { name: 'an ERROR line', step: lines([errorLine(500, 'etcd is sad')]), isRefused: true },
  { name: 'a watch that ends as soon as it begins', step: lines([]) },
];

const inTwoLines = ['warn: watch is broken', 'info: watch is back'];

for (const { name, step, isRefused } of failures) {
  test(`${name} is survived: back off, go on from the last version, say so in two lines or none`, async (t) => {
    const { asked, changes, lists, told, until } = await watchRig(t, [
      listOfA,
      step,
      step,
      step,
      lines([added('b', '11')], 'stay'),
    ]);
    await until(() => changes.length === 1);
    assert.deepEqual(asked(), ['list', 'watch 10', 'watch 10', 'watch 10', 'watch 10']);
    assert.deepEqual(changes, ['+b']);
    assert.equal(lists.length, 1);
    assert.deepEqual(told(), isRefused ? inTwoLines : []);
  });
}

for (const { name, step, isRefused } of failures.slice(0, 6)) {
  test(`${name} on the list is survived`, async (t) => {
    const { asked, lists, told, watch, until } = await watchRig(t, [step, step, listOfA, lines([], 'stay')]);
    await until(() => asked().length === 4);
    assert.deepEqual(asked(), ['list', 'list', 'list', 'watch 10']);
    assert.deepEqual(lists, [['a']]);
    assert.equal(watch.synced(), true);
    assert.deepEqual(told(), isRefused ? inTwoLines : []);
  });
}

test('a watch that is not served for half a minute, while no outage is known, says so in two lines', async (t) => {
  const busy = refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '1' });
  const { told, changes, until } = await watchRig(t, [
    listOfA,
    ...Array<Step>(32).fill(busy),
    lines([added('b', '11')], 'stay'),
  ]);
  await until(() => changes.length === 1);
  assert.deepEqual(told(), inTwoLines);
});

test('a pause that the server asks for is kept, each time anew, and does not grow', async (t) => {
  const busy = refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '2' });
  const { clock, changes, until } = await watchRig(t, [
    listOfA,
    ...Array<Step>(8).fill(busy),
    lines([added('b', '11')], 'stay'),
  ]);
  const startMs = clock.now();
  await until(() => changes.length === 1);
  const tookMs = clock.now() - startMs;
  assert.ok(tookMs >= 16_000 && tookMs < 20_000, `${tookMs} ms`);
});

const expiries: { name: string; step: Step }[] = [
  { name: '410 as an answer', step: expired },
  { name: '410 as a line', step: lines([errorLine(410, 'too old resource version')]) },
  {
    name: 'a version newer than the server knows',
    step: refusal(504, 'Timeout', 'Too large resource version: 10, current: 3'),
  },
];

for (const { name, step } of expiries) {
  test(`${name} means: list again at once`, async (t) => {
    const { asked, lists, told, until } = await watchRig(t, [listOfA, step, listOfB, lines([], 'stay')]);
    await until(() => asked().length === 4);
    assert.deepEqual(asked(), ['list', 'watch 10', 'list', 'watch 30']);
    assert.deepEqual(lists, [['a'], ['b']], 'the second list shows that a is gone');
    assert.deepEqual(told(), [], 'nothing is broken');
  });
}

test('410 in mid-list starts the list over, and half a list is never handed on', async (t) => {
  const { asked, lists, until } = await watchRig(t, [
    json(aList([aPod('a')], '10', 'p2')),
    expired,
    listOfB,
    lines([], 'stay'),
  ]);
  await until(() => asked().length === 4);
  assert.deepEqual(asked(), ['list', 'list p2', 'list', 'watch 30']);
  assert.deepEqual(lists, [['b']]);
});

test('a server on which every version is too old is not asked without a pause', async (t) => {
  const { asked, clock, until } = await watchRig(t, Array.from({ length: 6 }, () => [listOfA, expired]).flat());
  await until(() => asked().length === 12);
  const tookMs = clock.now() - Date.parse('2026-11-16T03:12:00Z');
  assert.ok(tookMs >= 250 + 500 + 1000 + 2000, `${tookMs} ms`);
});

test('a server may ask for a pause of a minute, and gets no more', async (t) => {
  const { asked, clock, until } = await watchRig(t, [
    listOfA,
    refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '86400' }),
    lines([added('b', '11')], 'stay'),
  ]);
  await until(() => asked().length === 2);
  await clock.advance(55_000);
  assert.equal(asked().length, 2);
  await until(() => asked().length === 3);
});

test('a server that is gone and comes back is found again', async (t) => {
  const { server, told, changes, until } = await watchRig(t, [listOfA, lines([added('b', '11')], 'stay')]);
  await until(() => changes.length === 1);
  await server.close();
  await until(() => told().length === 1); // nobody else is there to speak of an outage
  const again = await scriptedServer({ port: Number(new URL(server.url).port) });
  t.after(() => again.close());
  again.script(lines([added('c', '12')], 'stay'));
  await until(() => changes.length === 2);
  assert.equal(again.seen[0]?.query['resourceVersion'], '11');
  assert.deepEqual(told(), ['warn: watch is broken', 'info: watch is back']);
});

test('a connection that breaks in the middle of its life is resumed', async (t) => {
  const { server, asked, changes, until } = await watchRig(t, [
    listOfA,
    lines([added('b', '11')], 'stay'),
    lines([added('c', '12')], 'stay'),
  ]);
  await until(() => changes.length === 1);
  server.resetAll();
  await until(() => changes.length === 2);
  assert.deepEqual(asked(), ['list', 'watch 10', 'watch 11']);
});

test('a connection without a sign of life is given up and opened anew', async (t) => {
  const { server, asked, clock, changes, until, logged } = await watchRig(t, [
    listOfA,
    lines([added('b', '11'), bookmark('15')], 'stay'),
    lines([added('c', '16')], 'stay'),
  ]);
  await until(() => changes.length === 1);
  await clock.advance(80_000);
  assert.equal(asked().length, 2, 'a minute and a bit of silence is normal');
  await clock.advance(11_000);
  await until(() => changes.length === 2);
  assert.deepEqual(asked(), ['list', 'watch 10', 'watch 15']);
  assert.match(
    String(logged.find(({ message }) => message === 'watch is still broken')?.fields['error']),
    /nothing heard for 90 s/,
  );
  await until(() => server.openConnections() <= 2);
});

test('bookmarks keep a quiet connection alive', async (t) => {
  let write = (_line: string): unknown => undefined;
  const quiet: Step = (response) => {
    response.writeHead(200).flushHeaders();
    write = (line) => response.write(line);
  };
  const { asked, clock, watch, until } = await watchRig(t, [listOfA, quiet]);
  await until(() => asked().length === 2);
  for (let minute = 1; minute <= 5; minute++) {
    await clock.advance(60_000);
    write(`${JSON.stringify(bookmark(String(10 + minute)))}\n`);
    await eventually(() => watch.silentMs() < 60_000);
  }
  assert.equal(asked().length, 2);
});

test('after a break the time in which nothing was seen is told, before what happened in it', async (t) => {
  const gaps: [number, number][] = [];
  const order: string[] = [];
  const { clock, until } = await watchRig(
    t,
    [listOfA, lines([bookmark('11')]), reset(), lines([added('b', '12')], 'stay')],
    {
      onGap: (fromMs, untilMs) => void (gaps.push([fromMs, untilMs]), order.push('gap')),
      onChange: () => void order.push('change'),
    },
  );
  const startMs = clock.now();
  await until(() => order.includes('change'));
  assert.deepEqual(order, ['gap', 'change']);
  const [[fromMs, untilMs]] = gaps as [[number, number]];
  assert.ok(fromMs >= startMs && untilMs > fromMs && untilMs <= clock.now());
});

test('a watch that the server ends in good order leaves no gap', async (t) => {
  const gaps: unknown[] = [];
  const { until, changes } = await watchRig(t, [listOfA, lines([bookmark('11')]), lines([added('b', '12')], 'stay')], {
    onGap: (...gap) => void gaps.push(gap),
  });
  await until(() => changes.length === 1);
  assert.deepEqual(gaps, []);
});

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

const moments: { name: string; steps: Step[]; asked: number }[] = [
  { name: 'while a list is unanswered', steps: [silence()], asked: 1 },
  { name: 'while a watch is unanswered', steps: [listOfA, silence()], asked: 2 },
  { name: 'while a watch is quiet', steps: [listOfA, lines([added('b', '11')], 'stay')], asked: 2 },
  { name: 'while backing off', steps: [listOfA, refusal(503, 'ServiceUnavailable', 'no')], asked: 2 },
];

for (const { name, steps, asked } of moments) {
  test(`stopped ${name} it ends at once and for good`, async (t) => {
    const { server, api, stop, ended, until, clock, told } = await watchRig(t, steps);
    await eventually(() => server.seen.length === asked);
    await new Promise((resolve) => setImmediate(resolve));
    stop();
    await ended;
    const toldBefore = told().length;
    await api.close();
    await clock.advance(600_000);
    assert.equal(server.seen.length, asked, 'nothing more is asked for');
    assert.equal(told().length, toldBefore, 'stopping is no news');
    await until(() => server.openConnections() === 0);
  });
}

test('stopped before it could connect, it never does', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  const deps = { api, clock: fakeClock(), log: recorder([]), kind: 'Pod', onList() {}, onChange() {} } as const;
  const watch = createWatch({ ...deps, view: ({ metadata }) => metadata.name });
  stop.abort();
  await watch.run(stop.signal);
  assert.equal(server.connections(), 0);
});

test('many watches one after another leave no listeners on the signal', async (t) => {
  const { api, server } = await rig(t);
  const stop = new AbortController();
  const hurried: Clock = { now: systemClock.now, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 2), signal) };
  server.script(listOfA, ...Array.from({ length: 10 }, () => lines([added('b', '11')])), silence());
  const deps = { api, clock: hurried, log: recorder([]), kind: 'Pod', onList() {}, onChange() {} } as const;
  const ended = createWatch({ ...deps, view: ({ metadata }) => metadata.name }).run(stop.signal);
  await eventually(() => server.seen.length === 12);
  assert.equal(getEventListeners(stop.signal, 'abort').length, 1);
  stop.abort();
  await ended;
  assert.equal(getEventListeners(stop.signal, 'abort').length, 0);
});

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

test('a list in pages is watched from where its first page stood: what changed between two pages is not missed', async (t) => {
  const { asked, until } = await watchRig(t, [
    json(aList([aPod('a')], '10', 'more')),
    json(aList([aPod('b')], '14')),
    silence(),
  ]);
  await until(() => asked().length === 3);
  assert.deepEqual(asked(), ['list', 'list more', 'watch 10']);
});

test('every page is asked for with the same selector and limit', async (t) => {
  const pages = [json(aList([aPod('a')], '10', 'more')), json(aList([], '10')), silence()];
  const { server, until } = await watchRig(t, pages, { fieldSelector: 'type=Warning' });
  await until(() => server.seen.length === 3);
  const [first, second, watch] = server.seen.map(({ query }) => query);
  assert.deepEqual([first?.['fieldSelector'], first?.['limit']], ['type=Warning', '250']);
  assert.deepEqual(second, { ...first, continue: 'more' });
  assert.equal(watch?.['fieldSelector'], 'type=Warning');
});

test('410 is enough, whatever the words', async (t) => {
  const { asked, until, told } = await watchRig(t, [listOfA, lines([errorLine(410, 'Gone')]), listOfA, silence()]);
  await until(() => asked().length === 4);
  assert.deepEqual(asked(), ['list', 'watch 10', 'list', 'watch 10']);
  assert.deepEqual(told(), []);
});

test('a version that grows too old now and then is listed anew at once each time', async (t) => {
  const expired = (version: string) => lines([added('b', version), errorLine(410, 'Gone')]);
  const { clock, asked, changes } = await watchRig(t, [
    listOfA,
    expired('11'),
    listOfA,
    expired('12'),
    listOfA,
    silence(),
  ]);
  const startMs = clock.now();
  await eventually(
    () => asked().length === 6,
    () => clock.advance(0),
  );
  assert.equal(clock.now(), startMs);
  assert.equal(changes.length, 2);
});

test('a line after a long silence, on a connection that was not given up: nobody could see meanwhile', async (t) => {
  let write = (_line: string): unknown => undefined;
  const quiet: Step = (response) => {
    response.writeHead(200).flushHeaders();
    write = (line) => response.write(line);
  };
  const gaps: number[] = [];
  const onGap = (fromMs: number, untilMs: number): void => void gaps.push(untilMs - fromMs);
  const { asked, clock, until, changes, watch } = await watchRig(t, [listOfA, quiet], { onGap });
  await until(() => asked().length === 2);
  await clock.advance(60_000);
  write(`${JSON.stringify(bookmark('11'))}\n`);
  await eventually(() => watch.silentMs() === 0);
  assert.deepEqual(gaps, [], 'a minute is normal');
  await clock.advance(80_000);
  write(`${JSON.stringify(added('b', '12'))}\n`);
  await eventually(() => changes.length === 1);
  assert.deepEqual(gaps, [80_000]);
});
