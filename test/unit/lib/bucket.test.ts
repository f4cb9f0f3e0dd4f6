import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createBucket } from '../../../src/lib/bucket.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function aBucket() {
  const clock = fakeClock();
  const bucket = createBucket({ clock, perSecond: 50, burst: 100 });
  const startMs = clock.now();
  const served: { who: number; atMs: number }[] = [];
  const ask = (who: number): void => void bucket.turn().then(() => served.push({ who, atMs: clock.now() - startMs }));
  return { clock, ask, served };
}

test('a burst goes through at once, then fifty a second, first come first served', async () => {
  const { clock, ask, served } = aBucket();
  for (let n = 0; n < 250; n++) ask(n);
  await clock.advance(0);
  assert.equal(served.length, 100);
  await clock.advance(1_000);
  assert.equal(served.length, 150);
  await clock.advance(2_000);
  assert.equal(served.length, 250);
  assert.deepEqual(
    served.map(({ who }) => who),
    Array.from({ length: 250 }, (_, n) => n),
  );
});

test('in no second more than the burst and a second of turns go through', async () => {
  const { clock, ask, served } = aBucket();
  for (let n = 0; n < 60; n++) {
    for (let many = 0; many < 20; many++) ask(n);
    await clock.advance(100);
  }
  for (const { atMs } of served) {
    const within = served.filter((one) => one.atMs >= atMs && one.atMs < atMs + 1_000).length;
    assert.ok(within <= 151, `${within} from ${atMs} ms on`);
  }
});

test('turns come back while nobody asks, up to the burst', async () => {
  const { clock, ask, served } = aBucket();
  for (let n = 0; n < 100; n++) ask(n);
  await clock.advance(3_600_000);
  for (let n = 0; n < 150; n++) ask(n);
  await clock.advance(0);
  assert.equal(served.length, 200);
});

test('a clock that is set back keeps nobody waiting for longer', async () => {
  const { clock, ask, served } = aBucket();
  for (let n = 0; n < 110; n++) ask(n);
  await clock.advance(0);
  clock.set(-3_600_000);
  await clock.advance(300);
  assert.equal(served.length, 110);
});
