import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as realSleep } from 'node:timers/promises';
import { createLiveConfig } from '../../../src/config/live-config.ts';
import { configIn } from '../../../src/config/load.ts';
import { hashOf } from '../../../src/lib/hash.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aVolume, byAWatchThatDies, byLstat, byOneWatch, type Follower, ours } from './followers.ts';
import { goodText } from './reloading.ts';

const swaps = 100;
const withinMs = 10_000;
const stepMs = 1_000;
/** In memory where there is such a place, as the kubelet's own. */
const home = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** How many swaps in a row were in force within ten seconds, of virtual time: no machine is too slow for it. */
async function seen(t: TestContext, follower: Follower, how: 'rename' | 'replace'): Promise<number> {
  const folder = mkdtempSync(join(home, 'tapfix-swap-'));
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
    rmSync(folder, { recursive: true });
  });
  const clock = fakeClock();
  const volume = aVolume(folder, goodText('version-0'));
  const { file } = volume;
  const config = configIn(goodText('version-0'), file);
  const live = createLiveConfig({ file, config, clock, log: silent, build: async () => undefined });
  const reading = follower({ file, clock, signal: stop.signal, onText: live.take });

  /** The file system and its events are real: they get their turn before time passes. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await realSleep(1);
      while (reading() > 0) await realSleep(1);
      await clock.advance(stepMs);
      while (reading() > 0) await realSleep(1);
    }
  }

  let count = 0;
  await pass(1_000);
  for (let n = 1; n <= swaps; n++) {
    const text = goodText(`version-${n}`);
    const wanted = hashOf(configIn(text, file), 12);
    if (how === 'rename') volume.rename(text);
    else await volume.replace(text, () => pass(1_000));
    const endMs = clock.now() + withinMs;
    const isActive = (): boolean => live.hash() === wanted;
    while (!isActive() && clock.now() < endMs) await pass(stepMs);
    if (isActive()) count += 1;
  }
  return count;
}

describe('a hundred swaps in a row, each to be in force within ten seconds', { concurrency: 7 }, () => {
  for (const how of ['rename', 'replace'] as const) {
    const words = { rename: 'a link renamed over ..data', replace: '..data removed and a second later made again' };
    test(`${words[how]}: none is missed`, async (t) => assert.equal(await seen(t, ours, how), swaps));
    test(`${words[how]}: lstat sees none`, async (t) => assert.equal(await seen(t, byLstat, how), 0));
    test(`${words[how]}: one watch on the file sees one at most`, async (t) =>
      assert.ok((await seen(t, byOneWatch, how)) <= 1));
  }
  test('..data removed and a second later made again: a watch that dies of it sees none', async (t) =>
    assert.equal(await seen(t, byAWatchThatDies, 'replace'), 0));
});
