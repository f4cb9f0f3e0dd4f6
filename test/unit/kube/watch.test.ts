import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, lines, type Step } from '../../support/scripted-server.ts';
import { aList, aPod } from './support.ts';
import { added, bookmark, deleted, watchRig } from './watch-rig.ts';

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
