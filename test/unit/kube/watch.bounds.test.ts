import assert from 'node:assert/strict';
import { test } from 'node:test';
import { json, lines, stream, type Step } from '../../support/scripted-server.ts';
import { aList, aPod } from './support.ts';
import { added, watchRig } from './watch-rig.ts';

const megabyte = 'x'.repeat(1024 * 1024);
/** More than any legal object has. */
const thirteen = Array.from({ length: 13 }, () => megabyte);

const identity = '"name":"huge","namespace":"shop","uid":"uid-huge","resourceVersion":"11"';
const huge = (type: string, of = identity): string[] => [
  `{"type":"${type}","object":{"kind":"Pod","apiVersion":"v1","metadata":{${of},"annotations":{"a":"`,
  ...thirteen,
  '"}}}}\n',
];
const asLine = (object: object): string => `${JSON.stringify(object)}\n`;

test('a line that is too long is skipped: the watch goes on behind it', async (t) => {
  const { changes, asked, told, until } = await watchRig(t, [
    json(aList([aPod('a')], '10')),
    stream([...huge('MODIFIED'), asLine(added('b', '12'))], 'stay'),
  ]);
  await until(() => changes.length === 2);
  assert.deepEqual(changes, ['-shop/huge/uid-huge', '+b']);
  assert.deepEqual(asked(), ['list', 'watch 10']);
  assert.deepEqual(told(), ['warn: an object is too large to be watched']);
});

test('nor is it asked for again when the watch is opened anew', async (t) => {
  const { asked, until } = await watchRig(t, [json(aList([], '10')), stream(huge('ADDED')), lines([], 'stay')]);
  await until(() => asked().length === 3);
  assert.deepEqual(asked(), ['list', 'watch 10', 'watch 11']);
});

test('a line that is too long and says not whose it is: everything is listed again, with the real reason', async (t) => {
  const { asked, logged, changes, until } = await watchRig(t, [
    json(aList([aPod('a')], '10')),
    stream(huge('MODIFIED', '"labels":{}')),
    json(aList([aPod('a')], '20')),
    lines([added('b', '21')], 'stay'),
  ]);
  await until(() => changes.length === 1);
  assert.deepEqual(asked(), ['list', 'watch 10', 'list', 'watch 20']);
  const broken = logged.find(({ message }) => message === 'watch is broken');
  assert.match(String(broken?.fields['error']), /^a line of a watch \(.*\) is larger than 12 MB$/);
});

/** Pods of a megabyte each, as many as the limit asks for, from the one that `continue` names. */
const largePods =
  (count: number): Step =>
  (response, request) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const [from, limit] = [Number(query.get('continue') ?? 0), Number(query.get('limit'))];
    const names = Array.from({ length: count }, (_, n) => n).slice(from, from + limit);
    const items = names.map((n) => ({ ...aPod(`p${n}`), status: { message: megabyte } }));
    const metadata = { resourceVersion: '10', ...(from + limit < count && { continue: `${from + limit}` }) };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata, items }));
  };

test('a list whose pages would be too large is read in smaller ones', async (t) => {
  const { lists, server, until } = await watchRig(
    t,
    Array.from({ length: 20 }, () => largePods(20)),
  );
  await until(() => lists.length === 1);
  assert.deepEqual(
    lists[0],
    Array.from({ length: 20 }, (_, n) => `p${n}`),
  );
  const limits = server.seen.flatMap(({ query }) => (query['watch'] ? [] : [query['limit']]));
  assert.deepEqual(limits.slice(0, 3), ['250', '32', '4']);
});
