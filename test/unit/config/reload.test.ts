import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { setTimeout as realSleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createLiveConfig } from '../../../src/config/live-config.ts';
import { configIn } from '../../../src/config/load.ts';
import { type Standing, type WatchDirectory, watchDirectory, weigh, type Weighed } from '../../../src/config/reload.ts';
import { hashOf } from '../../../src/lib/hash.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { aVolume, byAWatchThatDies, byLstat, byOneWatch, type Follower, ours } from './followers.ts';
import { goodText, reloading } from './reloading.ts';

function aFile(t: TestContext, watch?: WatchDirectory) {
  const folder = mkdtempSync(join(tmpdir(), 'tapfix-reload-'));
  const file = join(folder, 'config.yaml');
  writeFileSync(file, goodText('one'));
  const world = reloading(file, watch);
  t.after(async () => {
    await world.end();
    rmSync(folder, { recursive: true, force: true });
  });
  return { ...world, folder, file, write: (text: string | Buffer) => writeFileSync(file, text) };
}

const refused = 'configuration change refused, the old one stays';
const noWatch: WatchDirectory = () => ({ close: () => undefined });

test('the watch alone tells: nobody waits for the next look', { timeout: 60_000 }, async (t) => {
  const told = Promise.withResolvers<void>();
  const telling: WatchDirectory = (folder, onChange, onDeath) =>
    watchDirectory(folder, () => (onChange(), told.resolve()), onDeath);
  const { live, settled, pass, write } = aFile(t, telling);
  await settled();
  write(goodText('two'));
  await told.promise; // no time passes but the machine's own
  await pass(1_000);
  assert.equal(live.current().cluster, 'two');
});

test('without any word of the watch the next look finds it', async (t) => {
  const { live, pass, write } = aFile(t, noWatch);
  await pass(500);
  write(goodText('two'));
  await pass(4_000);
  assert.equal(live.current().cluster, 'two');
});

test('asked for (SIGHUP), it looks at once', async (t) => {
  const { live, pass, poke, write } = aFile(t, noWatch);
  await pass(500);
  write(goodText('two'));
  poke();
  await pass(750);
  assert.equal(live.current().cluster, 'two');
});

test('a watch that dies is begun again, and the file is read at once; one that cannot live is not tried without a pause', async (t) => {
  const deaths: (() => void)[] = [];
  const { reads, pass } = aFile(t, (_folder, _onChange, onDeath) => {
    deaths.push(onDeath);
    return { close: () => undefined };
  });
  await pass(2_000);
  assert.deepEqual([deaths.length, reads()], [1, 1]);
  deaths[0]!();
  await pass(250);
  assert.deepEqual([deaths.length, reads()], [2, 2]);
  deaths[1]!();
  await pass(500);
  assert.equal(deaths.length, 2);
  await pass(3_000);
  assert.equal(deaths.length, 3);
});

test('the directory itself is replaced: found by the next look, and watched from then on', async (t) => {
  let watches = 0;
  const counting: WatchDirectory = (...words) => {
    watches += 1;
    return watchDirectory(...words);
  };
  const { live, pass, folder } = aFile(t, counting);
  await pass(500);
  const next = `${folder}-next`;
  mkdirSync(next);
  writeFileSync(join(next, 'config.yaml'), goodText('two'));
  renameSync(folder, `${folder}-old`);
  renameSync(next, folder);
  t.after(() => rmSync(`${folder}-old`, { recursive: true }));
  await pass(8_000);
  assert.equal(live.current().cluster, 'two');
  assert.ok(watches > 1);
});

test('half a file is not judged: it is on its way', async (t) => {
  const { live, lines, pass, poke, write } = aFile(t);
  await pass(500);
  write('');
  poke();
  await pass(250);
  write('cluster: tw');
  poke();
  await pass(250);
  write(goodText('two'));
  poke();
  await pass(1_000);
  assert.equal(live.current().cluster, 'two');
  assert.deepEqual(lines, ['configuration changed']);
});

test('a file that is gone for good is a refusal; the same text again is no news', async (t) => {
  const { live, lines, pass, write, file } = aFile(t);
  await pass(500);
  rmSync(file);
  await pass(7_000);
  assert.deepEqual(lines, []);
  await pass(5_000);
  assert.deepEqual(lines, [refused]);
  assert.equal(live.refusal()?.problem, `${file} does not exist`);
  write(goodText('one'));
  await pass(4_000);
  assert.deepEqual(lines, [refused, 'configuration is as before']);
  assert.equal(live.refusal(), undefined);
});

/** Four levels of nine aliases each: 6561 times its innermost text. */
const bomb = `${goodText('two')}a: &a [${'x,'.repeat(9)}]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: [${'*c,'.repeat(9)}]\n`;

const hostile: [string, (file: string) => void, RegExp][] = [
  ['a YAML bomb', (file) => writeFileSync(file, bomb), /uses too many aliases \(line 1\)$/],
  [
    'ten megabytes',
    (file) => writeFileSync(file, Buffer.alloc(10_000_000, 'a')),
    /config\.yaml is larger than 1 MB: is it the right file\?$/,
  ],
  [
    'a NUL',
    (file) => writeFileSync(file, `${goodText('two')}#\0`),
    /config\.yaml is not a text file: it contains a NUL byte$/,
  ],
  [
    'not UTF-8',
    (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x41])),
    /config\.yaml is not a text file in UTF-8$/,
  ],
  [
    'a directory in its place',
    (file) => (rmSync(file), mkdirSync(file)),
    /config\.yaml is a directory: name the file in it$/,
  ],
  ['nothing at all', (file) => writeFileSync(file, ''), /^the file is empty \(line 1\)$/],
];
for (const [name, make, problem] of hostile)
  test(`${name}: one clear line, the old configuration stays, and a good file ends it`, async (t) => {
    const { live, lines, pass, file } = aFile(t);
    const before = live.hash();
    await pass(500);
    make(file);
    await pass(30_000);
    assert.deepEqual(lines, [refused]);
    assert.match(live.refusal()?.problem ?? '', problem);
    assert.doesNotMatch(live.refusal()?.problem ?? '', /\n/);
    assert.equal(live.hash(), before);
    rmSync(file, { recursive: true });
    writeFileSync(file, goodText('three'));
    await pass(4_000);
    assert.equal(live.current().cluster, 'three');
    assert.equal(live.refusal(), undefined);
  });

const nobody = 65_534;

test('a file that may not be read: one clear line, and the old configuration stays', async () => {
  const script = new URL('./unreadable.ts', import.meta.url).pathname;
  // Root may read everything.
  const as = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  const { stdout } = await promisify(execFile)(process.execPath, [script], as);
  assert.deepEqual(JSON.parse(stdout), {
    lines: ['configuration change refused, the old one stays'],
    problem: '/config.yaml may not be read by this user',
    cluster: 'one',
  });
});

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

const text = (hash: string) => ({ hash, isMissing: false });
const missing = { hash: 'gone', isMissing: true };

const cases: [string, Standing, Parameters<typeof weigh>[1], number, Weighed][] = [
  ['what is in force is nothing new', { judged: 'a' }, text('a'), 0, { standing: { judged: 'a' }, do: 'nothing' }],
  [
    'something new may be half written',
    { judged: 'a' },
    text('b'),
    1000,
    { standing: { judged: 'a', other: { hash: 'b', sinceMs: 1000 } }, do: 'lookAgain', inMs: 500 },
  ],
  [
    'it grew meanwhile: its time begins anew',
    { judged: 'a', other: { hash: 'b', sinceMs: 1000 } },
    text('bb'),
    1400,
    { standing: { judged: 'a', other: { hash: 'bb', sinceMs: 1400 } }, do: 'lookAgain', inMs: 500 },
  ],
  [
    'it stayed: it is judged',
    { judged: 'a', other: { hash: 'b', sinceMs: 1000 } },
    text('b'),
    1500,
    { standing: { judged: 'b' }, do: 'judge' },
  ],
  [
    'the old text is back before that: nothing happened',
    { judged: 'a', other: { hash: 'b', sinceMs: 1000 } },
    text('a'),
    1500,
    { standing: { judged: 'a' }, do: 'nothing' },
  ],
  [
    'a file that is not there is waited for',
    { judged: 'a', other: { hash: 'gone', sinceMs: 1000 } },
    missing,
    6000,
    { standing: { judged: 'a', other: { hash: 'gone', sinceMs: 1000 } }, do: 'lookAgain', inMs: 3000 },
  ],
  [
    'not for ever',
    { judged: 'a', other: { hash: 'gone', sinceMs: 1000 } },
    missing,
    9000,
    { standing: { judged: 'gone' }, do: 'judge' },
  ],
];
for (const [name, standing, reading, nowMs, want] of cases)
  test(name, () => assert.deepEqual(weigh(standing, reading, nowMs), want));
