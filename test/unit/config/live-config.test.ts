import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween, createLiveConfig, problemOf, type Reload } from '../../../src/config/live-config.ts';
import { configIn } from '../../../src/config/load.ts';
import type { Config } from '../../../src/config/schema.ts';
import { UserError } from '../../../src/lib/errors.ts';
import { aConfig } from '../../support/config.ts';
import { fakeClock } from '../../support/fake-clock.ts';

const text = (over = ''): string => `cluster: one\nnamespaces: {include: [shop]}\nchannels: {console: {}}\n${over}`;

function aLive(build: () => Promise<string> = async () => 'built') {
  const lines: [string, object][] = [];
  const swaps: Reload<string>[] = [];
  const results: string[] = [];
  const say = (fields: object, message: string): void => void lines.push([message, fields]);
  const live = createLiveConfig({
    file: 'config.yaml',
    config: configIn(text(), 'config.yaml'),
    clock: fakeClock(),
    log: { debug: say, info: say, warn: say, error: say },
    build,
    onSwap: (swap) => swaps.push(swap),
    onResult: (result) => results.push(result),
  });
  return { live, lines, swaps, results };
}

test('a good text is in force, with what was built for it, and what changed is said field by field', async () => {
  const { live, lines, swaps, results } = aLive();
  const before = live.hash();
  await live.take(text('notices: {maxPerMinute: 6}\n'));
  assert.equal(live.current().notices.maxPerMinute, 6);
  assert.notEqual(live.hash(), before);
  assert.deepEqual(
    swaps.map(({ before, now, built }) => [before.notices.maxPerMinute, now.notices.maxPerMinute, built]),
    [[4, 6, 'built']],
  );
  const changes = [{ field: 'notices.maxPerMinute', from: '4', to: '6' }];
  assert.deepEqual(lines, [['configuration changed', { hash: live.hash(), changes }]]);
  assert.deepEqual(results, ['taken']);
});

test('a bad text changes nothing, nor does one for which something cannot be built', async () => {
  const { live, swaps } = aLive(async () => {
    throw new UserError('no such channel');
  });
  const before = live.current();
  await assert.rejects(live.take(text('notices: {maxPerMinute: 600}\n')), /notices.maxPerMinute/);
  await assert.rejects(live.take(text('notices: {maxPerMinute: 6}\n')), /no such channel/);
  assert.equal(live.current(), before);
  assert.deepEqual(swaps, []);
});

test('a refusal stands until something else is taken, or all is as before', async () => {
  const { live, lines, results } = aLive();
  live.refuse(new UserError('config.yaml does not exist'));
  assert.deepEqual(live.refusal(), { at: '2026-11-16T03:12:00.000Z', problem: 'config.yaml does not exist' });
  assert.deepEqual([lines.length, results], [1, ['refused']]);
  live.asBefore();
  assert.equal(live.refusal(), undefined);
  live.refuse(new UserError('config.yaml does not exist'));
  await live.take(text('notices: {maxPerMinute: 6}\n'));
  assert.equal(live.refusal(), undefined);
});

test('one line of what is wrong: the first problem with its line, and how many more', () => {
  const wrong = (over: string): string => {
    try {
      configIn(text(over), 'config.yaml');
    } catch (error) {
      return problemOf(error);
    }
    throw new Error('it is right');
  };
  assert.equal(
    wrong('approval:\n  approvers:\n  - {name: A, telegram: x}\n'),
    'approval.approvers[0].telegram must be a number (line 6)',
  );
  assert.equal(wrong('a: 1\nb: 2\nc: 3\n'), 'a is not a known key (line 4), and 2 more problems');
  assert.equal(wrong('ignore: &a [*a]\n').endsWith('(line 4)'), true);
  assert.equal(problemOf(new Error(`x 110201543:${'A'.repeat(35)}`)), 'x [secret]');
});

test('a change of server is said to wait for the next start', async () => {
  const { live, lines } = aLive();
  await live.take(text('server: {port: 9090}\n'));
  assert.deepEqual(
    lines.map(([words]) => words),
    ['configuration changed', 'the change of server takes effect at the next start'],
  );
});

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
