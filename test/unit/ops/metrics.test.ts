import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics } from '../../../src/ops/metrics.ts';

async function lines(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith('tapfix_'));
}

test('counters carry their labels', async () => {
  const metrics = createMetrics();
  metrics.signals.inc({ outcome: 'IgnoredNamespace' });
  metrics.notices.inc({ channel: 'telegram', form: 'card', result: 'posted' }, 2);
  assert.deepEqual(await lines(metrics), [
    'tapfix_signals_total{outcome="IgnoredNamespace"} 1',
    'tapfix_notices_total{channel="telegram",form="card",result="posted"} 2',
  ]);
});

test('gauges are asked at each scrape', async () => {
  const metrics = createMetrics();
  let silentMs = Infinity;
  let up = true;
  metrics.watchSilence('Pod', () => silentMs);
  metrics.channelUp('telegram', () => up);
  assert.deepEqual(await lines(metrics), [
    'tapfix_watch_silence_seconds{kind="Pod"} +Inf',
    'tapfix_channel_up{channel="telegram"} 1',
  ]);
  silentMs = 1500;
  up = false;
  assert.deepEqual(await lines(metrics), [
    'tapfix_watch_silence_seconds{kind="Pod"} 1.5',
    'tapfix_channel_up{channel="telegram"} 0',
  ]);
});

test('a channel that is there no longer has no value, not an old one', async () => {
  const metrics = createMetrics();
  metrics.channelUp('slack', () => true);
  assert.deepEqual(await lines(metrics), ['tapfix_channel_up{channel="slack"} 1']);
  metrics.channelUp('slack', undefined);
  assert.deepEqual(await lines(metrics), []);
});

test('what is in the way of the configuration', async () => {
  const metrics = createMetrics();
  metrics.configTrouble('refused', () => true);
  metrics.configTrouble('frozen', () => false);
  assert.deepEqual(await lines(metrics), [
    'tapfix_config_trouble{what="refused"} 1',
    'tapfix_config_trouble{what="frozen"} 0',
  ]);
});

test('only the configuration in force is shown', async () => {
  const metrics = createMetrics();
  metrics.configInfo('aaa');
  metrics.configInfo('bbb');
  assert.deepEqual(await lines(metrics), ['tapfix_config_info{hash="bbb"} 1']);
});

test('two of them do not meet, and both know the process', async () => {
  const [one, two] = [createMetrics(), createMetrics()];
  one.incidents.inc({ class: 'CrashLoop' });
  assert.deepEqual(await lines(two), []);
  assert.match(await two.text(), /^process_resident_memory_bytes \d+/m);
});
