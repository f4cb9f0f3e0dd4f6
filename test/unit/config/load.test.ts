import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { humanConfig, humanDuration } from '../../../src/config/human.ts';
import { loadConfig, parseConfig } from '../../../src/config/load.ts';
import { parseDuration } from '../../../src/lib/duration.ts';
import { UserError } from '../../../src/lib/errors.ts';

const fixture = (name: string): string => new URL(`../../fixtures/config/${name}.yaml`, import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'tapfix-config-'));
after(() => rmSync(folder, { recursive: true }));

function written(name: string, content: string | Buffer): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

test('the smallest file gets every default of the contract', async () => {
  assert.deepEqual(await loadConfig(fixture('minimal')), {
    cluster: 'prod-eu',
    namespaces: { include: ['shop-*'], exclude: [] },
    ignore: [],
    classes: {},
    extraReasons: [],
    notices: { coalesce: 5000, maxPerMinute: 4, storm: { incidents: 10 }, reminder: 600_000 },
    approval: { ttl: 1_800_000, confirm: ['DeleteResourceQuota'], approvers: [] },
    actions: {
      allow: [
        'DeleteResourceQuota',
        'PatchDeploymentImage',
        'ScaleDeployment',
        'RolloutRestart',
        'DeletePod',
        'RolloutUndo',
      ],
    },
    recovery: { stableFor: 30_000, timeout: 600_000 },
    retention: 604_800_000,
    diagnosis: { logs: false },
    channels: { console: {} },
    heartbeat: { url: '', every: 60_000 },
    server: { host: '0.0.0.0', port: 8080 },
  });
});

test('chats, topics and routes have one shape whatever the vendor', async () => {
  const { channels } = await loadConfig(fixture('full'));
  assert.deepEqual(channels.telegram, {
    chat: '-1001234567890',
    routes: [
      { namespaces: ['payments'], chat: '-1009876543210', thread: '17' },
      { namespaces: ['shop-*'], chat: '-1001234567890', thread: '4' },
    ],
    apiRoot: 'http://localhost:8081',
  });
  assert.deepEqual(channels.slack, {
    channel: 'C0123456789',
    routes: [{ namespaces: ['payments'], chat: 'C0123456780' }],
    apiUrl: 'http://localhost:8082/api/',
  });
});

for (const name of ['minimal', 'full']) {
  test(`${name}.yaml, printed with its defaults, loads to the same again`, async () => {
    const config = await loadConfig(fixture(name));
    const again = parseConfig(stringify(humanConfig(config)), 'printed');
    assert(again.ok);
    assert.deepEqual(again.config, config);
  });
}

test('a printed duration reads back as the same', () => {
  fc.assert(fc.property(fc.nat(), (ms) => parseDuration(humanDuration(ms)) === ms));
});

test('no text whatsoever makes the parser throw', () => {
  const whole = readFileSync(fixture('full'), 'utf8');
  fc.assert(fc.property(fc.string(), (text) => typeof parseConfig(text, 'x').ok === 'boolean'));
  fc.assert(
    fc.property(fc.nat(whole.length), fc.string({ maxLength: 3 }), (at, typo) => {
      const parsed = parseConfig(whole.slice(0, at) + typo + whole.slice(at + 1), 'x');
      assert(parsed.ok || parsed.problems.every(({ line }) => line >= 1 && line <= whole.split('\n').length + 3));
    }),
  );
});

test('brackets without end are a problem like any other', () => {
  const parsed = parseConfig('['.repeat(100_000), 'deep.yaml');
  assert(!parsed.ok && parsed.problems.length > 0 && parsed.problems.length < 10);
});

/** Each took the time of the square of its length, or all of the stack. */
const oversized = [
  { name: '100,000 open quotes', text: 'a: "\n'.repeat(100_000) },
  { name: '60,000 unknown keys', text: numbered(60_000, (n) => `k${n}: 1`) },
  { name: '30,000 tokens', text: numbered(30_000, (n) => `a${n}token: 1`) },
  { name: '30,000 anchors and aliases', text: `a:\n${numbered(30_000, (n) => `- &a${n} x\n- *a${n}`)}` },
  { name: '5,000 lists in each other', text: `cluster: ${'['.repeat(5_000)}${']'.repeat(5_000)}` },
  { name: '5,000 groups in each other', text: `cluster: ${'{a: '.repeat(5_000)}1${'}'.repeat(5_000)}` },
];
for (const { name, text } of oversized) {
  test(`${name} are refused without much work, in words for people`, () => {
    const before = process.cpuUsage(); // not the time on the wall: the machine may be busy otherwise
    const parsed = parseConfig(text, 'oversized.yaml');
    const { user, system } = process.cpuUsage(before);
    assert((user + system) / 1e6 < 30, `${(user + system) / 1e6} s of computing`);
    assert(!parsed.ok && parsed.problems.length > 0);
    for (const { message } of parsed.problems) assert.doesNotMatch(message, /call stack/);
  });
}

function numbered(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => `${line(n)}\n`).join('');
}

test('of more than a hundred problems the first hundred are told, and how many more there are', async () => {
  const file = written(
    'hopeless',
    numbered(250, (n) => `k${n}: 1`),
  );
  await assert.rejects(loadConfig(file), (error: Error) => {
    const lines = error.message.split('\n');
    assert.equal(lines.at(-1), '... and 153 more problems'); // cluster, namespaces and channels are missing as well
    return lines.length === 101;
  });
});

test('Slack may be the only channel', () => {
  const text = readFileSync(fixture('minimal'), 'utf8').replace('console: {}', 'slack: {channel: C012}');
  assert(parseConfig(text, 'x').ok);
});

const stillWatched = [
  { include: ['shop-*'], exclude: ['shop-?'] },
  { include: ['shop-*'], exclude: ['shop-test', '*-test'] },
  { include: ['shop-*', 'payments'], exclude: ['shop-*'] },
  { include: ['*'], exclude: ['?*-*'] },
];
for (const namespaces of stillWatched) {
  test(`include ${namespaces.include.join(', ')} without ${namespaces.exclude.join(', ')} leaves something`, () => {
    const text = stringify({ cluster: 'a', namespaces, channels: { console: {} } });
    assert(parseConfig(text, 'x').ok);
  });
}

test('keys without a value mean their defaults', () => {
  const text = 'cluster: a\nnamespaces: {include: [a]}\nchannels:\n  console:\napproval:\n  approvers:\nignore:\n';
  assert(parseConfig(text, 'x').ok);
});

test('a file behind a link loads, as Kubernetes mounts it', async () => {
  const link = join(folder, 'link.yaml');
  symlinkSync(fixture('minimal'), link);
  assert.equal((await loadConfig(link)).cluster, 'prod-eu');
});

const refused = [
  { name: 'a missing file', file: join(folder, 'none.yaml'), say: /none\.yaml does not exist$/ },
  { name: 'a file without a name', file: '', say: /^"" does not exist$/ },
  { name: 'a directory', file: folder, say: /is a directory: name the file in it$/ },
  { name: 'a huge file', file: written('huge', '#'.repeat(1024 * 1024 + 1)), say: /is larger than 1 MB/ },
  { name: 'an endless device', file: '/dev/zero', say: /is larger than 1 MB/ },
  { name: 'a binary', file: written('binary', 'cluster: \0'), say: /contains a NUL byte$/ },
  { name: 'Latin-1', file: written('latin', Buffer.from([0x63, 0xe9])), say: /not a text file in UTF-8$/ },
];

for (const { name, file, say } of refused) {
  test(`${name} is refused in one line, with exit code 2`, async () => {
    const error = await loadConfig(file).catch((caught: unknown) => caught);
    assert(error instanceof UserError);
    assert.equal(error.exitCode, 2);
    assert.match(error.message, say);
    assert.equal(error.message.split('\n').length, 1);
  });
}

test('all problems come as lines of file, line, path, message and hint', async () => {
  const file = fixture('bad/many-mistakes');
  await assert.rejects(loadConfig(file), (error: Error) => {
    const lines = error.message.split('\n').map((line) => line.replace(file, 'FILE'));
    assert.equal(lines[1], 'FILE:1 clustr: is not a known key (did you mean cluster?)');
    assert.equal(
      lines.at(-1),
      'FILE:11 server.port: must be between 0 and 65535, not -1 (0 at least; without the key it has its default)',
    );
    return lines.length === 8;
  });
});
