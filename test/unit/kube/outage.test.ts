import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Unreachable } from '../../../src/kube/api.ts';
import { createOutage, levelOf } from '../../../src/kube/outage.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { json, page, refusal, reset, type Step } from '../../support/scripted-server.ts';
import { aPod, rig } from './support.ts';
import { type LogLine, recorder } from './watch-rig.ts';

const begins = 'error: not connected to the API server, trying again';
const ends = 'info: the API server answers';

function anOutage() {
  const clock = fakeClock();
  const lines: LogLine[] = [];
  const outage = createOutage({ clock, log: recorder(lines) });
  const said = (): string[] => lines.map(({ level, message }) => `${level}: ${message}`);
  /** Whether the error is marked as said. */
  const fail = (error = new Unreachable('cannot reach it')): boolean => {
    outage.failed(error);
    return error.isSaid;
  };
  return { clock, outage, lines, said, fail };
}

const busy = (): ApiError => new ApiError('slow down', 429, 'TooManyRequests', 1_000);

test('an outage is two lines, whatever the number of failures', async () => {
  const { clock, outage, said, fail, lines } = anOutage();
  outage.reached();
  for (let n = 0; n < 500; n++) {
    fail();
    await clock.advance(100);
  }
  assert.deepEqual(said(), [begins]);
  outage.reached();
  outage.reached();
  assert.deepEqual(said(), [begins, ends]);
  assert.equal(lines[0]?.fields['err'], 'cannot reach it');
  assert.deepEqual(lines[1]?.fields, { failures: 500, downMs: 50_000 });
});

test('a failure that does not last is no outage', async () => {
  const { clock, outage, said, fail } = anOutage();
  for (let n = 0; n < 20; n++) {
    outage.reached();
    assert.equal(fail(), false);
    await clock.advance(900);
    assert.equal(fail(), false);
  }
  outage.reached();
  assert.deepEqual(said(), []);
});

test('before the first answer there is no reason to wait: it is said at once', () => {
  const { outage, said, fail } = anOutage();
  assert.equal(fail(), true);
  outage.reached();
  assert.deepEqual(said(), [begins, ends]);
});

test('a server that answers half of all requests is busy, not away', async () => {
  const { clock, outage, said, fail } = anOutage();
  outage.reached();
  for (let n = 0; n < 60; n++) {
    fail(busy() as never);
    await clock.advance(1_000);
    if (n % 4 === 0) outage.reached();
  }
  assert.deepEqual(said(), []);
});

test('a server that answers none for ten seconds is as good as away', async () => {
  const { clock, outage, said, fail } = anOutage();
  outage.reached();
  for (let n = 0; n < 12; n++) {
    fail(busy() as never);
    await clock.advance(1_000);
  }
  assert.deepEqual(said(), [begins]);
});

test('the errors of an outage are marked once it is said, refusals never', async () => {
  const { clock, outage, fail } = anOutage();
  outage.reached();
  assert.equal(fail(), false);
  await clock.advance(1_000);
  assert.equal(fail(), true);
  const forbidden = new ApiError('no', 403, 'Forbidden');
  outage.failed(forbidden);
  assert.equal(forbidden.isSaid, false);
});

test('work that fails has a line of its own: for a refusal at once, else when it alone is not served', () => {
  const said = new Unreachable('x');
  said.isSaid = true;
  const forbidden = new ApiError('no', 403, 'Forbidden');
  assert.deepEqual(
    [1, 4, 5].map((failures) => levelOf(new Unreachable('x'), failures)),
    ['debug', 'debug', 'warn'],
  );
  assert.deepEqual([levelOf(said, 99), levelOf(busy(), 1), levelOf(forbidden, 1)], ['debug', 'debug', 'warn']);
  assert.equal(levelOf(new Error('a bug'), 1), 'warn');
});

const pod = { kind: 'Pod', namespace: 'shop', name: 'api-1' } as const;
const ok = json(aPod('api-1'));

async function served(t: Parameters<typeof rig>[0], steps: readonly Step[]) {
  const { clock, outage, said } = anOutage();
  const { server, api } = await rig(t, { outage, retry: false, clock });
  server.script(ok, ...steps);
  await api.get(pod);
  return { clock, api, server, said };
}

for (const [name, step] of Object.entries({
  'a reset': reset(),
  'a page of a proxy': page('upstream down', 503),
  'a bad gateway': page('upstream down', 502),
}))
  test(`calls and watches report ${name}`, async (t) => {
    const { clock, api, said } = await served(t, [step, step, step, ok]);
    const watching = api.watch('Pod', 'shop', {}, new AbortController().signal)[Symbol.asyncIterator]();
    const first = await watching.next().catch((error: unknown) => error);
    assert.equal((first as Unreachable).isSaid, false);
    await clock.advance(1_000);
    await assert.rejects(api.withToken('minted').patch(pod, 'merge', {}), { isSaid: true });
    await assert.rejects(api.get(pod), { isSaid: true });
    assert.deepEqual(said(), [begins]);
    await api.get(pod);
    assert.deepEqual(said(), [begins, ends]);
  });

test('a refusal ends an outage: somebody answered', async (t) => {
  const { clock, api, said } = await served(t, [reset(), reset(), refusal(403, 'Forbidden', 'no')]);
  await assert.rejects(api.get(pod));
  await clock.advance(1_000);
  await assert.rejects(api.get(pod));
  await assert.rejects(api.get(pod), { code: 403, isSaid: false });
  assert.deepEqual(said(), [begins, ends]);
});

test('so does a watch that opens, though nothing happens on it', async (t) => {
  const quiet: Step = (response) => void response.writeHead(200).flushHeaders();
  const { clock, api, said, server } = await served(t, [reset(), reset(), quiet]);
  await assert.rejects(api.get(pod));
  await clock.advance(1_000);
  await assert.rejects(api.get(pod));
  const end = new AbortController();
  const next = api.watch('Pod', 'shop', {}, end.signal)[Symbol.asyncIterator]().next();
  while (said().length < 2 && server.seen.length < 9) await new Promise((resolve) => setTimeout(resolve, 5));
  end.abort();
  await next;
  assert.deepEqual(said(), [begins, ends]);
});

test("the disruption budget's answer is an answer", async (t) => {
  const budget = refusal(429, 'TooManyRequests', 'Cannot evict pod', { 'retry-after': '10' });
  const { clock, api, said } = await served(t, Array<Step>(3).fill(budget));
  for (let n = 0; n < 3; n++) {
    await assert.rejects(api.createSub({ ...pod, subresource: 'eviction' }, {}), { code: 429, isSaid: false });
    await clock.advance(20_000);
  }
  assert.deepEqual(said(), []);
});
