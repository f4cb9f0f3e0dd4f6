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

test('a class of your own, from extraReasons, may be tuned and ignored by name', () => {
  const yaml = `${base}extraReasons: [{reason: TokenExpired}]\nclasses: {TokenExpired: {for: 5m}}\nignore: [{class: TokenExpired}]\n`;
  const parsed = parseConfig(yaml, 'config.yaml');
  assert(parsed.ok);
  assert.deepEqual(parsed.config.extraReasons, [
    { reason: 'TokenExpired', class: 'TokenExpired', severity: 'warning', for: 60_000 },
  ]);
});
