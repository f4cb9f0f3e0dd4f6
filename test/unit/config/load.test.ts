import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { humanConfig, humanDuration } from '../../../src/config/human.ts';
import { loadConfig, parseConfig, readToken } from '../../../src/config/load.ts';
import { imageReasons } from '../../../src/health/event-words.ts';
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
    links: [],
    notices: { coalesce: 5000, maxPerMinute: 4, storm: { incidents: 10 }, reminders: [600_000, 1_800_000, 3_600_000] },
    escalation: [],
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
    leaderElection: { leaseDuration: 6_000, renewDeadline: 4_000, retryPeriod: 1_000 },
    server: { host: '0.0.0.0', port: 8080, localPort: 8081 },
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

test('reminders: gaps whose last one repeats, the old key for a single one, or none', () => {
  const noticesIn = (yaml: string): unknown => {
    const parsed = parseConfig(readFileSync(fixture('minimal'), 'utf8') + yaml, 'x');
    assert(parsed.ok, JSON.stringify(parsed));
    const { reminders, reminder } = parsed.config.notices;
    return { reminders, ...(reminder !== undefined && { reminder }) };
  };
  assert.deepEqual(noticesIn('notices: {reminders: [5m, 2h]}'), { reminders: [300_000, 7_200_000] });
  assert.deepEqual(noticesIn('notices: {reminders: []}'), { reminders: [] });
  assert.deepEqual(noticesIn('notices: {reminder: 5m}'), { reminders: [300_000], reminder: 300_000 });
  assert.deepEqual(noticesIn('notices: {reminder: 0s}'), { reminders: [], reminder: 0 });
});

test('an escalation: each step with its targets', async () => {
  const { escalation } = await loadConfig(fixture('full'));
  assert.deepEqual(escalation, [
    { after: 900_000, telegram: { chat: '-1005555555555', mention: [123456789] } },
    {
      after: 1_800_000,
      slack: { channel: 'C0123456781', mention: ['U012AB3CD'] },
      webhook: { format: 'json', urlFile: '/var/run/tapfix-escalation/url' },
    },
    {
      after: 3_600_000,
      webhook: {
        format: 'pagerduty',
        urlFile: '/var/run/tapfix-escalation/eu',
        routingKeyFile: '/var/run/tapfix-escalation/routing-key',
      },
    },
  ]);
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

describe('bad files', () => {
  const folder = new URL('../../fixtures/config/bad/', import.meta.url);

  /** One file per mistake, and all that is said about it: line, path, words. */
  const said: Record<string, string[]> = {
    'a-list': ['1 the file must consist of "key: value" lines'],
    'alias-bomb': ['1 uses too many aliases'],
    'alias-inside-its-own-map': ['9 ignore[0].name: an alias that contains itself'],
    'alias-of-itself': ['6 ignore[0]: an alias that contains itself'],
    'approver-for-no-namespace': ['10 approval.approvers[0].namespaces: must list at least one'],
    'approver-groups-without-user': [
      '10 approval.approvers[0].kubernetesGroups: kubernetesGroups needs kubernetesUser as well',
    ],
    'approver-slack-name': ['9 approval.approvers[0].slack: must be a Slack member id such as U012AB3CD'],
    'approver-telegram-name': ['11 approval.approvers[1].telegram: must be a number'],
    'approver-telegram-not-a-person': [
      "8 approval.approvers[0].telegram: must be a person's id, a positive number",
      "9 approval.approvers[1].telegram: must be a person's id, a positive number",
      "10 approval.approvers[2].telegram: must be a person's id, a positive number",
      "11 approval.approvers[3].telegram: must be a person's id, a positive number",
    ],
    'approver-telegram-quoted': ['9 approval.approvers[0].telegram: must be a number'],
    'approver-twice': ['11 approval.approvers[1].telegram: is the id of approvers[0] as well'],
    'approver-without-id': ['8 approval.approvers[0]: needs a telegram or slack id'],
    'approver-without-name': ['8 approval.approvers[0].name: is missing'],
    'cluster-without-value': ['1 cluster: is missing'],
    'coalesce-too-long': ['7 notices.coalesce: must be between 0s and 60s, not 1m1s'],
    'duplicate-key': ['8 notices.maxPerMinute: appears twice'],
    'duration-in-words': ['7 notices.reminder: "ten minutes" is not a duration'],
    'duration-without-unit': ['7 notices.reminder: must be a duration, not a number'],
    'empty-ignore-rule': ['7 ignore[0]: is empty and would ignore everything'],
    'empty-include': ['3 namespaces.include: must list at least one'],
    empty: ['1 the file is empty'],
    'everything-excluded': ['4 namespaces.exclude: leaves nothing to watch'],
    'everything-excluded-by-name': ['4 namespaces.exclude: leaves nothing to watch'],
    'include-not-a-list': ['3 namespaces.include: must be a list'],
    'logs-as-text': ['7 diagnosis.logs: must be true or false, not text'],
    'many-mistakes': [
      '1 cluster: is missing',
      '1 clustr: is not a known key',
      '3 namespaces.include: must list at least one',
      '5 notices.coalesce: must be between 0s and 60s, not 2m',
      '8 approval.approvers[0].name: is missing',
      '8 approval.approvers[0].telegram: must be a number',
      '9 channels: needs at least one channel',
      '11 server.port: must be between 0 and 65535, not -1',
    ],
    'missing-channels': ['1 channels: needs at least one channel'],
    'missing-cluster': ['1 cluster: is missing'],
    'missing-include': ['2 namespaces.include: is missing'],
    'missing-namespaces': ['1 namespaces.include: is missing'],
    'mistyped-class-in-extra-reasons': ['8 extraReasons[0].class: there is no class "CrashLop"'],
    'mistyped-key-in-ignore': ['7 ignore[0].clas: is not a known key'],
    'namespace-as-number': [
      '3 namespaces.include[0]: must be a namespace name or a pattern like "shop-*", not a number',
    ],
    'namespace-in-capitals': ['3 namespaces.include[1]: must be a namespace name or a pattern like "shop-*"'],
    'nested-too-deeply': ['6 ignore: is nested too deeply'],
    'no-channel': ['4 channels: needs at least one channel'],
    'port-as-text': ['7 server.port: must be a whole number, not text'],
    'port-twice': ['6 server.localPort: is server.port as well'],
    'port-out-of-range': ['7 server.port: must be between 0 and 65535, not 65536'],
    'proto-as-a-key': [
      '7 classes.__proto__: there is no class "__proto__"',
      '9 classes.CrashLoop.__proto__: is not a known key',
    ],
    'route-with-slack-word': [
      '8 channels.telegram.routes[0]: needs a chat, a thread or both',
      '9 channels.telegram.routes[0].channel: is not a known key',
    ],
    'route-without-chat': ['8 channels.telegram.routes[0]: needs a chat, a thread or both'],
    'route-without-namespaces': ['8 channels.telegram.routes[0].namespaces: is missing'],
    'slack-app-token': ['8 channels.slack.appToken: a token does not belong in this file'],
    'slack-channel-name': ['7 channels.slack.channel: must be a Slack channel id such as C0123456789'],
    'slack-token': ['8 channels.slack.token: a token does not belong in this file'],
    'stable-for-too-short': ['7 recovery.stableFor: must be between 1s and 10m, not 500ms'],
    tabs: ['3 not valid YAML: Tabs are not allowed as indentation'],
    'telegram-chat-by-title': ['6 channels.telegram.chat: must be a Telegram chat id such as -1001234567890'],
    'telegram-chat-by-name': ['6 channels.telegram.chat: must be a Telegram chat id such as -1001234567890'],
    'telegram-chat-fraction': ['6 channels.telegram.chat: must be a Telegram chat id such as -1001234567890'],
    'telegram-chat-in-odd-digits': [
      '6 channels.telegram.chat: must be a number in plain digits',
      '8 channels.telegram.routes[0].chat: must be a number in plain digits',
      '8 channels.telegram.routes[0].thread: must be a number in plain digits',
      '9 channels.telegram.routes[1].namespaces[0]: must be a namespace name or a pattern like "shop-*", not a number',
    ],
    'telegram-chat-too-long-for-a-number': [
      '6 channels.telegram.chat: must be a Telegram chat id such as -1001234567890',
    ],
    'telegram-chat-too-long-in-quotes': ['6 channels.telegram.chat: must be a Telegram chat id such as -1001234567890'],
    'telegram-token-elsewhere': ['1 cluster: a token does not belong in this file'],
    'telegram-token': ['7 channels.telegram.botToken: a token does not belong in this file'],
    'telegram-without-chat': ['5 channels.telegram.chat: is missing'],
    'telegram-without-settings': ['5 channels.telegram.chat: is missing'],
    'timeout-zero': ['7 recovery.timeout: must be between 1s and 24h, not 0s'],
    'token-beside-a-syntax-error': ['7 not valid YAML: a closing quote or bracket is missing here or above'],
    'too-many-messages': ['7 notices.maxPerMinute: must be between 1 and 20, not 21'],
    'ttl-not-whole-minutes': ['7 approval.ttl: must be whole minutes, not 1m30s'],
    'ttl-too-long': ['7 approval.ttl: must be between 1m and 60m, not 2h'],
    'ttl-too-short': ['7 approval.ttl: must be between 1m and 60m, not 30s'],
    'two-documents': ['6 not valid YAML: a second document begins here'],
    'unclosed-quote': ['1 not valid YAML: a closing quote or bracket is missing here or above'],
    'unknown-action': ['7 actions.allow[1]: "DeleteQuota" is not known'],
    'unknown-channel': ['6 channels.telegramm: is not a known key'],
    'unknown-class-in-ignore': ['8 ignore[0].class: there is no class "imagepull"'],
    'unknown-class': ['7 classes.CrashLop: there is no class "CrashLop"'],
    'unknown-key': ['6 notice: is not a known key'],
    'unknown-nested-key': ['8 notices.maxPerMinutes: is not a known key'],
    'unknown-severity': ['8 classes.CrashLoop.severity: "high" is not known'],
    'unquoted-star-in-front': ['3 not valid YAML: an alias (*name) without its anchor (&name)'],
    'unquoted-star': ['3 not valid YAML: Alias cannot be an empty string'],
    'actions-as-text': ['7 actions.allow: must be a list'],
    'approver-kubernetes-user-as-number': [
      '8 approval.approvers[0].kubernetesUser: must be a Kubernetes user name, not a number',
    ],
    'approvers-as-a-group': ['7 approval.approvers: must be a list'],
    'class-enabled-as-text': ['7 classes.CrashLoop.enabled: must be true or false, not text'],
    'classes-as-a-list': ['6 classes: must be a group of keys'],
    'cluster-as-number': ['1 cluster: must be a name, not a number'],
    'cluster-in-two-lines': ['1 cluster: must be one line without control characters'],
    'cluster-too-long': ['1 cluster: must not be longer than 253 characters'],
    'console-with-settings': ['5 channels.console.color: is not a known key'],
    'exclude-as-text': ['4 namespaces.exclude: must be a list'],
    'extra-reason-class-in-small-letters': ['7 extraReasons[0].class: must be a class name'],
    'extra-reason-in-two-words': ['7 extraReasons[0].reason: must be an event reason'],
    'extra-reason-missing': ['7 extraReasons[0].reason: is missing'],
    'extra-reason-too-long-for-a-class': [
      '7 extraReasons[0].reason: is longer than the 64 characters of a class, and would be its own',
    ],
    'heartbeat-too-often': ['8 heartbeat.every: must be between 1s and 24h, not 500ms'],
    'heartbeat-url-of-files': ['7 heartbeat.url: must be an http or https URL'],
    'host-empty': ['7 server.host: must not be empty'],
    'ignore-as-a-group': ['6 ignore: must be a list'],
    'link-of-a-class-that-is-not': ['7 links[0].class: there is no class "CrashLop"'],
    'link-to-a-host-from-the-cluster': ['7 links[0].url: has a placeholder in its host'],
    'link-with-a-script': ['7 links[0].url: must be an http or https URL'],
    'link-with-an-unknown-value': ['7 links[0].url: has no value for {nmae}'],
    'link-without-label': ['7 links[0].label: is missing'],
    'messages-as-fraction': ['7 notices.maxPerMinute: must be a whole number, not 2.5'],
    'patience-too-long': ['7 classes.CrashLoop.for: must be between 0s and 24h, not 25h'],
    'reminder-too-long': ['7 notices.reminder: must be between 0s and 24h, not 25h'],
    'retention-too-long': ['6 retention: must be between 1m and 8760h, not 9000h'],
    'retention-too-short': ['6 retention: must be between 1m and 8760h, not 30s'],
    'stable-for-too-long': ['7 recovery.stableFor: must be between 1s and 10m, not 11m'],
    'storm-as-number': ['7 notices.storm: must be a group of keys'],
    'storm-of-none': ['7 notices.storm.incidents: must be between 1 and 1000, not 0'],
    'storm-too-large': ['7 notices.storm.incidents: must be between 1 and 1000, not 1001'],
    'telegram-thread-by-name': ['8 channels.telegram.routes[0].thread: must be the number of a topic'],
    'timeout-too-long': ['7 recovery.timeout: must be between 1s and 24h, not 25h'],
    'unknown-action-to-confirm': ['7 approval.confirm[0]: "DeleteEverything" is not known'],
    'url-with-password': ['7 heartbeat.url: must not contain a user name or password'],
    'reminders-beside-reminder': ['7 notices.reminder: cannot stand beside notices.reminders, which replaces it'],
    'reminders-as-text': ['7 notices.reminders: must be a list'],
    'reminders-too-long': ['7 notices.reminders[1]: must be between 1s and 24h, not 25h'],
    'reminders-too-many': ['7 notices.reminders: must not list more than 10'],
    'escalation-as-a-group': ['6 escalation: must be a list'],
    'escalation-to-nobody': ['7 escalation[0]: leads nowhere'],
    'escalation-too-soon': ['7 escalation[0].after: must be between 1m and 24h, not 30s'],
    'escalation-without-its-channel': [
      '8 escalation[0].telegram: needs channels.telegram as well',
      '9 escalation[0].slack: needs channels.slack as well',
    ],
    'escalation-mentions-a-name': ['9 escalation[0].telegram.mention[0]: must be a number'],
    'webhook-without-url-file': ['8 escalation[0].webhook.urlFile: is missing'],
    'webhook-without-routing-key': ['8 escalation[0].webhook.routingKeyFile: is missing'],
    'webhook-with-a-url': [
      '8 escalation[0].webhook.url: is not a known key',
      '8 escalation[0].webhook.urlFile: must be the absolute path of a file',
    ],
    'webhook-of-an-unknown-format': ['8 escalation[0].webhook.format: "opsgenie" is not known'],
    'webhook-json-with-a-key': ['8 escalation[0].webhook.routingKeyFile: is only for format: pagerduty'],
    'url-without-scheme': ['7 channels.telegram.apiRoot: must be a URL'],
  };

  for (const [mistake, want] of Object.entries(said)) {
    test(`bad config: ${mistake.replaceAll('-', ' ')}`, () => {
      const parsed = parseConfig(readFileSync(new URL(`${mistake}.yaml`, folder), 'utf8'), mistake);
      assert(!parsed.ok);
      const got = parsed.problems.map(({ line, path, message }) => `${line} ${path ? `${path}: ` : ''}${message}`);
      assert.deepEqual(got, want);
      const unhelpful = parsed.problems.filter(({ hint }) => !hint);
      assert.deepEqual(unhelpful, [], 'every problem says what to do about it');
      assert.doesNotMatch(JSON.stringify(parsed), /[Ff]ake/, 'a token was repeated');
    });
  }

  test('every bad fixture is in the table', () => {
    const files = readdirSync(folder).map((file) => file.replace('.yaml', ''));
    assert.deepEqual(files.sort(), Object.keys(said).sort());
  });
});

const parts = {
  cluster: 'cluster: prod-eu\n',
  namespaces: 'namespaces: {include: ["*"]}\n',
  channels: 'channels: {console: {}}\n',
};
const base = Object.values(parts).join('');

/** What is required, unless the mistake is about it. */
const around = (yaml: string): string =>
  Object.entries(parts)
    .filter(([key]) => !yaml.startsWith(`${key}:`))
    .map(([, part]) => part)
    .join('');

const cases = [
  { name: 'a mistyped key gets the right one', yaml: 'sevrer: {}', hint: 'did you mean server?' },
  { name: 'a key in the wrong case as well', yaml: 'Notices: {}', hint: 'did you mean notices?' },
  { name: 'a key like no other gets the list', yaml: 'server: {zebra: 1}', hint: 'one of: host, port, localPort' },
  { name: 'a mistyped class', yaml: 'classes: {OomKilled: {}}', hint: 'did you mean OOMKilled?' },
  { name: 'what kubectl shows for it', yaml: 'classes: {CrashLoopBackOff: {}}', hint: 'did you mean CrashLoop?' },
  { name: 'the same in a rule', yaml: 'ignore: [{class: ErrImagePull}]', hint: 'did you mean ImagePull?' },
  { name: 'the reason of an Event', yaml: 'classes: {FailedScheduling: {}}', hint: 'did you mean Unschedulable?' },
  ...[...imageReasons].map((word) => ({ name: word, yaml: `classes: {${word}: {}}`, hint: 'did you mean ImagePull?' })),
  { name: 'a mistyped action', yaml: 'actions: {allow: [RolloutUnod]}', hint: 'did you mean RolloutUndo?' },
  {
    name: 'an approver by @name',
    yaml: 'approval: {approvers: [{name: Ada, telegram: "@ada"}]}',
    hint: 'the numeric id, not the @name; @userinfobot tells each person theirs',
  },
  { name: 'a number that YAML took for text', yaml: 'server: {port: "80"}', hint: 'without quotes' },
  { name: 'a bare number of seconds', yaml: 'retention: 10', hint: 'a number with its unit, such as 30s, 5m or 1h30m' },
  {
    name: "a group's id for a person's",
    yaml: 'approval: {approvers: [{name: Ada, telegram: -7}]}',
    hint: "a negative one is a group's",
  },
  { name: 'a number in another notation', yaml: 'server: {port: 0x50}', hint: '0x50 is read as 80' },
  {
    name: 'everything excluded',
    yaml: 'namespaces: {include: [a], exclude: ["*"]}',
    hint: 'every pattern of include is excluded',
  },
  { name: 'no channel at all', yaml: 'channels: {}', hint: 'telegram, slack or console: {}' },
  { name: 'no name of the cluster', yaml: 'cluster:', hint: 'such as cluster: prod-eu' },
  { name: 'no namespaces', yaml: 'namespaces:', hint: 'such as include: ["*"]' },
  { name: 'nothing to watch', yaml: 'namespaces: {exclude: [a]}', hint: 'such as include: ["*"]' },
  {
    name: 'a route for no namespace',
    yaml: 'channels: {slack: {channel: C0123456789, routes: [{channel: C0123456789}]}}',
    hint: 'such as namespaces: ["*"]',
  },
  { name: 'a chat without its id', yaml: 'channels: {telegram: {}}', hint: 'such as chat: -1001234567890' },
  { name: 'a channel without its id', yaml: 'channels: {slack: {}}', hint: 'such as channel: C0123456789' },
  {
    name: 'too large a number',
    yaml: 'server: {port: 70000}',
    hint: '65535 at most; without the key it has its default',
  },
  {
    name: 'too small a number',
    yaml: 'notices: {maxPerMinute: 0}',
    hint: '1 at least; without the key it has its default',
  },
  {
    name: 'too long a duration',
    yaml: 'notices: {coalesce: 2m}',
    hint: '60s at most; without the key it has its default',
  },
  { name: 'too short a duration', yaml: 'retention: 1s', hint: '1m at least; without the key it has its default' },
  { name: 'a duration of no whole minutes', yaml: 'approval: {ttl: 90s}', hint: 'such as 2m' },
  { name: 'the last of them', yaml: 'approval: {ttl: 59m1s}', hint: 'such as 1h' },
  {
    name: 'a word for true',
    yaml: 'diagnosis: {logs: yes}',
    hint: 'the bare word true or false; in quotes it is text, and so are yes and no',
  },
  {
    name: 'credentials in a url',
    yaml: 'heartbeat: {url: "https://me:pass@example.com/"}',
    hint: 'remove what stands between // and @',
  },
  { name: 'an alias that contains itself', yaml: 'ignore: &x [*x]', hint: 'write the value out' },
  {
    name: 'a token',
    yaml: 'slackToken: xoxb-fake-fake-fake',
    hint: 'remove it and set SLACK_BOT_TOKEN or SLACK_BOT_TOKEN_FILE in the environment',
  },
];

for (const { name, yaml, hint } of cases) {
  test(`hint for ${name}`, () => {
    const parsed = parseConfig(`${around(yaml)}${yaml}\n`, 'config.yaml');
    assert(!parsed.ok);
    assert.deepEqual(
      parsed.problems.map((problem) => problem.hint),
      [hint],
    );
  });
}

const longReason = 'R'.repeat(65);

for (const { name, extra, ok } of [
  { name: 'a reason as long as a class may be is one', extra: `{reason: ${'R'.repeat(64)}}`, ok: true },
  { name: 'a longer one is none', extra: `{reason: ${longReason}}`, ok: false },
  { name: 'a longer one with a class of its own', extra: `{reason: ${longReason}, class: TooLong}`, ok: true },
  { name: 'a class as long as it may be', extra: `{reason: One, class: ${'C'.repeat(64)}}`, ok: true },
  { name: 'a longer class', extra: `{reason: One, class: ${'C'.repeat(65)}}`, ok: false },
])
  test(name, () => assert.equal(parseConfig(`${base}extraReasons: [${extra}]\n`, 'config.yaml').ok, ok));

test('a class of your own, from extraReasons, may be tuned and ignored by name', () => {
  const yaml = `${base}extraReasons: [{reason: TokenExpired}]\nclasses: {TokenExpired: {for: 5m}}\nignore: [{class: TokenExpired}]\n`;
  const parsed = parseConfig(yaml, 'config.yaml');
  assert(parsed.ok);
  assert.deepEqual(parsed.config.extraReasons, [
    { reason: 'TokenExpired', class: 'TokenExpired', severity: 'warning', for: 60_000 },
  ]);
});

describe('tokens', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tapfix-tokens-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'token');
  writeFileSync(file, 'from-file\n');
  const empty = join(folder, 'empty');
  writeFileSync(empty, '\n');
  const missing = join(folder, 'missing');

  const cases = [
    { name: 'nothing is set', env: {}, want: undefined },
    { name: 'the variable is set', env: { TELEGRAM_BOT_TOKEN: ' from-env\n' }, want: 'from-env' },
    { name: 'the variable is empty', env: { TELEGRAM_BOT_TOKEN: '' }, want: undefined },
    { name: 'a file is named', env: { TELEGRAM_BOT_TOKEN_FILE: file }, want: 'from-file' },
    {
      name: 'both are given: the file wins',
      env: { TELEGRAM_BOT_TOKEN: 'x', TELEGRAM_BOT_TOKEN_FILE: file },
      want: 'from-file',
    },
    {
      name: 'the file is not there, the variable is',
      env: { TELEGRAM_BOT_TOKEN: 'x', TELEGRAM_BOT_TOKEN_FILE: missing },
      want: 'x',
    },
    { name: "another's variable is set", env: { SLACK_BOT_TOKEN: 'x' }, want: undefined },
  ];

  for (const { name, env, want } of cases) {
    test(`token when ${name}`, async () => assert.equal(await readToken('TELEGRAM_BOT_TOKEN', env), want));
  }

  for (const named of [missing, empty])
    test(`a token file that is ${named === missing ? 'not there' : 'empty'} is said by its name`, () =>
      assert.rejects(readToken('TELEGRAM_BOT_TOKEN', { TELEGRAM_BOT_TOKEN_FILE: named }), {
        name: 'UserError',
        message: `TELEGRAM_BOT_TOKEN_FILE names ${named}, which does not exist (yet) or is empty`,
      }));

  test('a token file that is a directory is one line', async () => {
    await assert.rejects(readToken('SLACK_APP_TOKEN', { SLACK_APP_TOKEN_FILE: folder }), {
      name: 'UserError',
      message: /^SLACK_APP_TOKEN_FILE names a file that cannot be read: EISDIR/,
    });
  });
});

const text = readFileSync(new URL('../../../config.example.yaml', import.meta.url), 'utf8');
const minimal = readFileSync(new URL('../../fixtures/config/minimal.yaml', import.meta.url), 'utf8');

function loaded(yaml: string) {
  const parsed = parseConfig(yaml, 'config.yaml');
  assert(parsed.ok, JSON.stringify(parsed));
  return parsed.config;
}

test('the example loads', () => assert.equal(loaded(text).cluster, 'prod-eu'));

test('where there is a default the example shows it', () => {
  const { cluster, namespaces, ignore, classes, extraReasons, escalation, links, approval, channels, ...rest } =
    loaded(text);
  assert(
    cluster && escalation.length > 0 && ignore.length > 0 && Object.keys(classes).length > 0,
    'the example has examples',
  );
  const defaults = loaded(minimal);
  for (const [key, value] of Object.entries(rest)) assert.deepEqual(value, defaults[key as keyof typeof rest], key);
  assert.deepEqual({ ...approval, approvers: [] }, defaults.approval);
  assert.deepEqual(namespaces.exclude, defaults.namespaces.exclude);
  const bare = loaded(minimal.replace('console: {}', 'telegram: {chat: 1}\n  slack: {channel: C012}\n  console: {}'));
  assert.equal(channels.telegram?.apiRoot, bare.channels.telegram?.apiRoot);
  assert.equal(channels.slack?.apiUrl, bare.channels.slack?.apiUrl);
  const [extra] = loaded(`${minimal}extraReasons: [{reason: BackupFailed}]\n`).extraReasons;
  assert.deepEqual(extraReasons[0], extra);
  const [link] = loaded(`${minimal}links: [{label: Dashboard, url: ${JSON.stringify(links[0]!.url)}}]\n`).links;
  assert.deepEqual(links[0], link);
});
