import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../../src/config/load.ts';

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
  { name: 'a key like no other gets the list', yaml: 'server: {zebra: 1}', hint: 'one of: host, port' },
  { name: 'a mistyped class', yaml: 'classes: {OomKilled: {}}', hint: 'did you mean OOMKilled?' },
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
