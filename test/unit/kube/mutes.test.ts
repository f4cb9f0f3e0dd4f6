import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Api, ApiError } from '../../../src/kube/api.ts';
import { createMutes, mutesIn, mutesName, withMute } from '../../../src/kube/mutes.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const nowMs = Date.parse('2026-11-16T02:00:00Z');
const until = (minutes: number): string => new Date(nowMs + minutes * 60_000).toISOString();

const written: [string, string | undefined, string[]][] = [
  ['nothing', undefined, []],
  ['not JSON', 'shop: 1h', []],
  ['not a list', '{}', []],
  [
    'one that is over',
    JSON.stringify([
      { glob: 'a', until: until(-1) },
      { glob: 'b', until: until(1) },
    ]),
    ['b'],
  ],
  ['one by hand that is none', JSON.stringify([{ glob: 'a' }, 7, { glob: 'b', until: until(1) }]), ['b']],
];
for (const [name, text, want] of written)
  test(`what mutes when there is ${name}`, () =>
    assert.deepEqual(
      mutesIn(text, nowMs).map(({ glob }) => glob),
      want,
    ));

test('a later one of the same glob takes the place of the earlier, and one that ends at once takes it away', () => {
  const one = withMute([], { glob: 'shop-*', until: until(60) }, nowMs);
  const longer = withMute(one, { glob: 'shop-*', until: until(120) }, nowMs);
  assert.deepEqual(longer, [{ glob: 'shop-*', until: until(120) }]);
  assert.deepEqual(withMute(longer, { glob: 'shop-*', until: until(0) }, nowMs), []);
});

test('a hundred are kept: those that last longest', () => {
  const many = Array.from({ length: 105 }, (_, n) => ({ glob: `ns-${n}`, until: until(n + 1) }));
  const all = many.reduce((mutes, mute) => withMute(mutes, mute, nowMs), [] as typeof many);
  assert.deepEqual([all.length, all[0]!.glob], [100, 'ns-5']);
});

/** A ConfigMap on a server that honours resourceVersion. */
function aServer({ missing = false, conflicts = 0 } = {}) {
  let map = { metadata: { name: mutesName, resourceVersion: '1' }, data: undefined as Record<string, string> | undefined }; // prettier-ignore
  const api = {
    async get() {
      return missing ? undefined : structuredClone(map);
    },
    async patch(_ref: object, _type: string, body: typeof map) {
      if (conflicts-- > 0) map = { ...map, metadata: { ...map.metadata, resourceVersion: `${conflicts}x` } };
      if (body.metadata.resourceVersion !== map.metadata.resourceVersion) throw new ApiError('no', 409, 'Conflict');
      map = { ...map, data: { ...map.data, ...body.data }, metadata: { ...map.metadata, resourceVersion: '2' } };
      return map;
    },
  } as unknown as Api;
  const clock = fakeClock(nowMs);
  const lines: string[] = [];
  const note = (_: object, message: string): void => void lines.push(message);
  const log = { debug: note, info: note, warn: note, error: note };
  const start = () => createMutes({ api, clock, log, namespace: 'tapfix' });
  const fail = (): void => void (api.get = async () => Promise.reject(new Error('away')));
  return { start, clock, lines, fail };
}

test('a mute holds at once, survives a restart, and ends by itself', async () => {
  const { start, clock } = aServer();
  const first = start();
  await first.set({ glob: 'shop-*', until: until(60), by: 'telegram:1' });
  assert.deepEqual(
    first.active().map(({ glob }) => glob),
    ['shop-*'],
  );
  const second = start();
  assert.deepEqual(second.active(), []);
  await second.load();
  assert.deepEqual(second.active(), [{ glob: 'shop-*', until: until(60), by: 'telegram:1' }]);
  await clock.advance(60 * 60_000);
  assert.deepEqual(second.active(), []);
});

test('two at once: both are kept', async () => {
  const { start } = aServer({ conflicts: 2 });
  const mutes = start();
  await mutes.set({ glob: 'a', until: until(60) });
  await mutes.set({ glob: 'b', until: until(60) });
  assert.deepEqual(
    mutes.active().map(({ glob }) => glob),
    ['a', 'b'],
  );
});

test('without its ConfigMap nothing can be muted, and it says what to do', async () => {
  await assert.rejects(
    aServer({ missing: true })
      .start()
      .set({ glob: 'a', until: until(60) }),
    /apply the manifests/,
  );
});

test('what cannot be read stays as it was, and is said once', async () => {
  const { start, fail, lines } = aServer();
  const mutes = start();
  await mutes.set({ glob: 'a', until: until(60) });
  fail();
  await mutes.load();
  await mutes.load();
  assert.deepEqual([mutes.active().length, lines], [1, ['mutes not read']]);
});
