import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, lines, page, refusal, reset, scriptedServer, type Step, stream } from '../../support/scripted-server.ts';
import { aList, aPod, eventually } from './support.ts';
import { added, bookmark, errorLine, watchRig } from './watch-rig.ts';

const listOfA: Step = json(aList([aPod('a')], '10'));
const listOfB: Step = json(aList([aPod('b')], '30'));
const expired = refusal(410, 'Expired', 'too old resource version: 10 (20)');

const failures: { name: string; step: Step }[] = [
  { name: 'a reset', step: reset() },
  { name: '403', step: refusal(403, 'Forbidden', 'no') },
  { name: '429', step: refusal(429, 'TooManyRequests', 'slow down', { 'retry-after': '1' }) },
  { name: '500', step: refusal(500, 'InternalError', 'oh') },
  { name: '503', step: page('upstream down', 503) },
  { name: 'a page in place of lines', step: page('<html>\nlogin\n</html>') },
  { name: 'a line of garbage', step: stream(['garbage\n']) },
  { name: 'a truncated line', step: stream(['{"type":"ADDED","object":{"metadata":{"resourceVersion":"99"']) },
  { name: 'an ERROR line', step: lines([errorLine(500, 'etcd is sad')]) },
  { name: 'a watch that ends as soon as it begins', step: lines([]) },
];

for (const { name, step } of failures) {
  test(`${name} is survived: back off, go on from the last version, say so in two lines`, async (t) => {
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
    assert.deepEqual(told(), ['warn: watch is broken', 'info: watch is back']);
  });
}

for (const { name, step } of failures.slice(0, 6)) {
  test(`${name} on the list is survived`, async (t) => {
    const { asked, lists, told, watch, until } = await watchRig(t, [step, step, listOfA, lines([], 'stay')]);
    await until(() => asked().length === 4);
    assert.deepEqual(asked(), ['list', 'list', 'list', 'watch 10']);
    assert.deepEqual(lists, [['a']]);
    assert.equal(watch.synced(), true);
    assert.deepEqual(told(), ['warn: watch is broken', 'info: watch is back']);
  });
}

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
  await until(() => told().length === 1);
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
  assert.match(String(logged.find(({ level }) => level === 'warn')?.fields['error']), /nothing heard for 90 s/);
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
