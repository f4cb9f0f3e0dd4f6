import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Beat, ping, runHeartbeat } from '../../../src/ops/heartbeat.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { scriptedServer, type Step } from '../../support/scripted-server.ts';
import { type LogLine, recorder } from '../kube/watch-rig.ts';

/* A dead process cannot speak; a blind one must not say that it is fine. */

const url = 'https://watch.example.com/ping/s3cret?key=s3cret2';

function aHeart(over: { every?: number; url?: string } = {}) {
  const clock = fakeClock();
  const stop = new AbortController();
  const logged: LogLine[] = [];
  const beats: Beat[] = [];
  const world = { isWell: true, answer: async (_signal: AbortSignal): Promise<void> => {} };
  const settings = { url: over.url ?? url, every: over.every ?? 60_000 };
  const asked: string[] = [];
  const ended = runHeartbeat(
    {
      clock,
      log: recorder(logged),
      settings: () => ({ ...settings }),
      isWell: () => world.isWell,
      ping: async (to, signal) => (asked.push(to), world.answer(signal)),
      count: (result) => beats.push(result),
    },
    stop.signal,
  );
  return { clock, stop, logged, beats, world, settings, asked, ended };
}

test('it is pinged at once, and then as often as asked for', async () => {
  const { clock, beats, asked, stop, ended } = aHeart();
  await clock.advance(180_000);
  assert.deepEqual(
    [beats, asked],
    [
      ['sent', 'sent', 'sent', 'sent'],
      [url, url, url, url],
    ],
  );
  stop.abort();
  await ended;
});

test('without a url nothing is pinged and nothing counted', async () => {
  const { clock, beats, asked } = aHeart({ url: '' });
  await clock.advance(600_000);
  assert.deepEqual([beats, asked], [[], []]);
});

test('while something cannot be seen it is withheld, and comes back soon after', async () => {
  const { clock, beats, asked, world } = aHeart();
  world.isWell = false;
  await clock.advance(65_000);
  const before = asked.length;
  await clock.advance(120_000);
  assert.equal(asked.length, before);
  assert.equal(beats.at(-1), 'withheld');
  world.isWell = true;
  await clock.advance(10_000);
  assert.equal(asked.length, before + 1);
});

test('a failure is logged once, counted each time, tried again after ten seconds; its end is one line', async () => {
  const { clock, beats, logged, world } = aHeart();
  world.answer = async () => Promise.reject(new Error(`cannot GET ${url}, nor /ping/s3cret?key=s3cret2`));
  await clock.advance(0);
  await clock.advance(85_000);
  world.answer = async () => {};
  await clock.advance(15_000);
  assert.deepEqual(beats, ['sent', 'failed', 'failed', 'failed', 'sent']);
  assert.deepEqual(
    logged.map(({ level, message }) => `${level} ${message}`),
    ['warn heartbeat not sent', 'info heartbeat is sent again'],
  );
});

test('neither the path nor the query of its address is ever logged', async () => {
  const { clock, logged, world } = aHeart({ every: 1_000 });
  world.answer = async () =>
    Promise.reject(new Error(`cannot GET ${url}, nor /ping/s3cret?key=s3cret2, nor ?key=s3cret2`));
  await clock.advance(2_000);
  assert.deepEqual(
    logged.map(({ fields }) => fields),
    [{ to: 'watch.example.com', reason: 'cannot GET ..., nor ......, nor ...' }],
  );
});

test('whoever does not answer is given up after ten seconds, and asked again', async () => {
  const { clock, beats, world, logged, asked } = aHeart();
  let aborted = 0;
  world.answer = (signal) => {
    signal.addEventListener('abort', () => (aborted += 1));
    return new Promise(() => undefined);
  };
  await clock.advance(60_000); // the first was sent before
  await clock.advance(10_000);
  assert.deepEqual([beats, aborted, logged[0]?.fields['reason']], [['sent', 'failed'], 1, 'no answer within 10 s']);
  await clock.advance(10_000);
  assert.equal(asked.length, 3);
});

const hour = 3_600_000;
const other = 'https://other.example.com/ping';

test('a shorter pause counts from the last beat, and does not wait for the end of the longer one', async () => {
  const { clock, asked, settings } = aHeart({ every: hour });
  await clock.advance(30_000);
  settings.every = 60_000;
  await clock.advance(29_000);
  assert.equal(asked.length, 1, 'not sooner than a minute after the first');
  await clock.advance(11_000);
  assert.equal(asked.length, 2);
  await clock.advance(60_000);
  assert.equal(asked.length, 3);
});

test('a longer pause holds from the last beat on', async () => {
  const { clock, asked, settings } = aHeart();
  await clock.advance(30_000);
  settings.every = 300_000;
  await clock.advance(269_000);
  assert.equal(asked.length, 1);
  await clock.advance(1_000);
  assert.equal(asked.length, 2);
});

for (const { name, from } of [
  { name: 'another watchdog is pinged soon, whatever is left of the pause', from: url },
  { name: 'a url that is written into the file is pinged soon', from: '' },
])
  test(name, async () => {
    const { clock, asked, settings } = aHeart({ every: hour, url: from });
    await clock.advance(60_000);
    settings.url = other;
    await clock.advance(10_000);
    assert.deepEqual(asked, [...(from ? [from] : []), other]);
    await clock.advance(hour - 60_000);
    assert.equal(asked.at(-2), from || undefined, 'and then as often as asked for');
  });

test('a url that is removed is not pinged again', async () => {
  const { clock, asked, settings } = aHeart();
  await clock.advance(30_000);
  settings.url = '';
  await clock.advance(600_000);
  assert.deepEqual(asked, [url]);
});

test('stopping cuts short what is under way, and is no failure', async () => {
  const { clock, beats, world, stop, ended } = aHeart();
  world.answer = (signal) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  await clock.advance(61_000);
  stop.abort();
  await ended;
  assert.deepEqual(beats, ['sent']);
});

const answer =
  (status: number, body = ''): Step =>
  (response) =>
    void response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end(body);

const cases: [string, Step, RegExp | undefined][] = [
  ['200 is a yes', answer(200, 'OK'), undefined],
  ['204 is a yes', answer(204), undefined],
  ['a megabyte of answer is a yes, and not kept', answer(200, 'x'.repeat(1_000_000)), undefined],
  ['404 is a no', answer(404), /^answered with HTTP 404$/],
  ['500 is a no', answer(500), /^answered with HTTP 500$/],
  ['a redirect is a no', answer(302), /^answered with HTTP 302$/],
  ['a connection that breaks is a no', (response) => void response.destroy(), /./],
];
for (const [name, step, refusal] of cases)
  test(name, async (t) => {
    const server = await scriptedServer();
    t.after(() => server.close());
    server.script(step);
    const said = await ping(`${server.url}/ping/abc?x=1`, new AbortController().signal).then(
      () => '',
      (error: Error) => error.message,
    );
    if (refusal) assert.match(said, refusal);
    else assert.equal(said, '');
    const [seen, ...others] = server.seen;
    assert.deepEqual([seen?.method, seen?.path, seen?.query, others.length], ['GET', '/ping/abc', { x: '1' }, 0]);
    assert.match(String(seen?.headers['user-agent']), /^tapfix\/\d/);
    assert.equal(seen?.headers['content-length'], undefined);
  });

test('who is told to stop stops, and leaves no connection', async (t) => {
  const server = await scriptedServer();
  t.after(() => server.close());
  const stop = new AbortController();
  const asked = ping(server.url, stop.signal);
  while (server.seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await assert.rejects(asked);
  while (server.openConnections() > 0) await new Promise((resolve) => setImmediate(resolve));
});
