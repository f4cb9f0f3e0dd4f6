import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween } from '../../../src/config/live-config.ts';
import type { Config } from '../../../src/config/schema.ts';
import { aConfig } from '../../support/config.ts';

const said = (over: Partial<Config>, from: Partial<Config> = {}): string[] =>
  changesBetween(aConfig(from), aConfig(over)).map(({ field, from, to }) => `${field}: ${from} -> ${to}`);

const ada = { name: 'Ada', telegram: 7, kubernetesGroups: [] };

test('nothing', () => assert.deepEqual(said({}), []));

test('one field, as the file writes it', () =>
  assert.deepEqual(said({ notices: { ...aConfig().notices, coalesce: 90_000 } }), [
    'notices.coalesce: "5s" -> "1m30s"',
  ]));

test('lists by their places', () =>
  assert.deepEqual(
    said({
      approval: {
        ...aConfig().approval,
        approvers: [
          { ...ada, telegram: 8 },
          { ...ada, name: 'Ben' },
        ],
      },
    }),
    [
      'approval.approvers[0].telegram: 7 -> 8',
      'approval.approvers[1]: not set -> {"name":"Ben","telegram":7,"kubernetesGroups":[]}',
    ],
  ));

test('a whole section that came or went', () =>
  assert.deepEqual(said({ channels: { slack: { channel: 'C01', routes: [], apiUrl: 'https://slack.com/api/' } } }), [
    'channels.console: {} -> not set',
    'channels.slack: not set -> {"channel":"C01","routes":[],"apiUrl":"https://slack.com/api/"}',
  ]));

test('whoever knows the address of the heartbeat could ping in our name: it is not shown', () => {
  const [one, two] = ['https://hc.example/aaa', 'https://hc.example/bbb'].map((url) => ({ url, every: 60_000 }));
  assert.deepEqual(said({ heartbeat: one! }), ['heartbeat.url: "" -> (not shown)']);
  assert.deepEqual(said({ heartbeat: two! }, { heartbeat: one! }), ['heartbeat.url: (not shown) -> (not shown)']);
});

test('no more than somebody reads, and no secret', () => {
  const include = Array.from({ length: 80 }, (_, n) => `ns-${n}`);
  assert.equal(said({ namespaces: { include, exclude: [] } }).length, 50);
  const token = `110201543:${'A'.repeat(35)}`;
  assert.deepEqual(said({ cluster: token }), ['cluster: "prod-eu" -> "[secret]"']);
  assert.equal(said({ cluster: 'x'.repeat(5000) })[0]!.length < 300, true);
});
