import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { type WatchDirectory, watchDirectory } from '../../../src/config/reload.ts';
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
