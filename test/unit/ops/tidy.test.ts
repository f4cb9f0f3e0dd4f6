import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runTidy } from '../../../src/ops/tidy.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const mb = 1024 * 1024;

/** A process with 20 MB in use; `work` takes a CPU and leaves garbage behind. */
function aProcess({ mayCollect = true } = {}) {
  const clock = fakeClock();
  const stop = new AbortController();
  let [cpuMs, inUse, garbage, collections] = [1_000, 20 * mb, 0, 0];
  const collect = (): void => {
    collections += 1;
    garbage = 0;
  };
  const usage = () => ({ cpuMs, heapBytes: inUse + garbage });
  const ended = runTidy({ clock, usage, collect: mayCollect ? collect : undefined }, stop.signal);
  return {
    ended,
    stop: () => stop.abort(),
    collections: () => collections,
    async pass(seconds: number, each: { cpuMs?: number; garbageMb?: number; keptMb?: number } = {}): Promise<void> {
      for (let n = 0; n < seconds; n++) {
        cpuMs += each.cpuMs ?? 1;
        garbage += (each.garbageMb ?? 0) * mb;
        inUse += (each.keptMb ?? 0) * mb;
        await clock.advance(1_000);
      }
    },
  };
}

test('what a burst left behind is given back once it is quiet, and once', async () => {
  const { pass, collections, stop, ended } = aProcess();
  await pass(30, { cpuMs: 900, garbageMb: 0.3 });
  assert.equal(collections(), 0, 'not while there is work');
  await pass(60);
  assert.equal(collections(), 1);
  stop();
  await ended;
});

test('a little is not worth it', async () => {
  const { pass, collections, stop } = aProcess();
  await pass(10, { cpuMs: 900, garbageMb: 0.2 });
  await pass(600);
  assert.equal(collections(), 0);
  stop();
});

test('what stays in use is not asked for again and again', async () => {
  const { pass, collections, stop } = aProcess();
  await pass(10, { cpuMs: 900, keptMb: 1 });
  await pass(600);
  assert.equal(collections(), 1);
  stop();
});

test('where nobody may ask it ends at once', async () => {
  const { pass, ended, collections } = aProcess({ mayCollect: false });
  await ended;
  await pass(30, { garbageMb: 1 });
  assert.equal(collections(), 0);
});
