import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Api, WatchLine } from '../../../src/kube/api.ts';
import { type Ending, lines, page, refusal, reset, type Step, stream } from '../../support/scripted-server.ts';
import { aPod, eventually, rig } from './support.ts';

const added = (name: string): object => ({ type: 'ADDED', object: aPod(name) });
const asLine = (object: object): string => `${JSON.stringify(object)}\n`;

/** The names that came, and what ended it. */
async function collect(api: Api, signal = new AbortController().signal): Promise<{ names: string[]; error?: Error }> {
  const names: string[] = [];
  try {
    for await (const line of api.watch('Pod', 'shop', { resourceVersion: '7' }, signal)) names.push(nameOf(line));
    return { names };
  } catch (error) {
    return { names, error: error as Error };
  }
}

const nameOf = ({ object }: WatchLine): string => object.metadata.name;

/** Each byte in a chunk of its own. */
const drops = (text: string): Uint8Array[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));

const cases: { name: string; step: Step; names: string[]; error?: { name: string; message: RegExp } }[] = [
  { name: 'lines come until the server ends it', step: lines([added('a'), added('b')]), names: ['a', 'b'] },
  {
    name: 'lines and characters split between chunks are whole',
    step: stream(drops(asLine(added('ä€😀')))),
    names: ['ä€😀'],
  },
  {
    name: 'many lines in one chunk are many',
    step: stream([asLine(added('a')) + asLine(added('b'))]),
    names: ['a', 'b'],
  },
  { name: 'empty lines are nothing', step: stream(['\n\r\n', asLine(added('a'))]), names: ['a'] },
  {
    name: 'a truncated last line is not a line',
    step: stream([asLine(added('a')), asLine(added('b')).slice(0, -9)]),
    names: ['a'],
    error: { name: 'Unreachable', message: /ended in the middle of a line/ },
  },
  {
    name: 'nor is one cut off with the connection',
    step: stream([asLine(added('a')), asLine(added('b')).slice(0, -9)], 'break' satisfies Ending),
    names: ['a'],
    error: { name: 'Unreachable', message: /cannot reach the API server/ },
  },
  {
    name: 'garbage is an error',
    step: stream([asLine(added('a')), '<html>\n']),
    names: ['a'],
    error: { name: 'ApiError', message: /not JSON: <html>/ },
  },
  {
    name: 'so is JSON that is no line of a watch',
    step: stream(['{"type":"PARTY","object":{}}\n']),
    names: [],
    error: { name: 'ApiError', message: /not a line of a watch/ },
  },
  {
    name: 'so is a line without an end',
    step: stream(Array.from({ length: 10 }, () => 'x'.repeat(1024 * 1024))),
    names: [],
    error: { name: 'Unreachable', message: /a line longer than 8388608 bytes/ },
  },
  {
    name: 'a refusal is one',
    step: refusal(410, 'Expired', 'too old resource version'),
    names: [],
    error: { name: 'ApiError', message: /too old resource version/ },
  },
  {
    name: 'a page that is an error is one',
    step: page('<p>', 500),
    names: [],
    error: { name: 'ApiError', message: /HTTP 500/ },
  },
  { name: 'a reset is no end', step: reset(), names: [], error: { name: 'Unreachable', message: /cannot reach/ } },
];

for (const { name, step, names, error } of cases) {
  test(name, async (t) => {
    const { server, api } = await rig(t);
    server.script(step);
    const got = await collect(api);
    assert.deepEqual(got.names, names);
    assert.equal(got.error?.name, error?.name);
    if (error) assert.match(got.error?.message ?? '', error.message);
    assert.deepEqual(server.seen[0]?.query, { resourceVersion: '7', watch: 'true' });
  });
}

test('the signal ends it in order, and frees the connection', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  server.script(lines([added('a')], 'stay'));
  const collecting = collect(api, stop.signal);
  await eventually(() => server.seen.length === 1);
  stop.abort();
  const { error } = await collecting;
  assert.equal(error, undefined);
  await eventually(() => server.openConnections() === 0);
});

test('a signal that comes while connecting is in time', async (t) => {
  const { server, api } = await rig(t);
  const stop = new AbortController();
  const collecting = collect(api, stop.signal);
  stop.abort();
  assert.deepEqual(await collecting, { names: [] });
  assert.equal(server.seen.length, 0);
});

test('whoever stops reading frees the connection', async (t) => {
  const { server, api } = await rig(t);
  server.script(lines([added('a'), added('b')], 'stay'));
  for await (const line of api.watch('Pod', 'shop', {}, new AbortController().signal)) {
    assert.equal(nameOf(line), 'a');
    break;
  }
  await eventually(() => server.openConnections() === 0);
});
