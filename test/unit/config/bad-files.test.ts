import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseConfig } from '../../../src/config/load.ts';

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
  'namespace-as-number': ['3 namespaces.include[0]: must be a namespace name or a pattern like "shop-*", not a number'],
  'namespace-in-capitals': ['3 namespaces.include[1]: must be a namespace name or a pattern like "shop-*"'],
  'nested-too-deeply': ['6 ignore: is nested too deeply'],
  'no-channel': ['4 channels: needs at least one channel'],
  'port-as-text': ['7 server.port: must be a whole number, not text'],
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
