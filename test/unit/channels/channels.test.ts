import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Channel, ChannelName } from '../../../src/channels/channel.ts';
import { rebuildChannels } from '../../../src/channels/channels.ts';
import type { Config } from '../../../src/config/schema.ts';
import { aConfig } from '../../support/config.ts';

const telegram = { chat: '-1', routes: [], apiRoot: 'https://api.telegram.org' };
const slack = { channel: 'C1', routes: [], apiUrl: 'https://slack.com/api/' };
let made: string[] = [];
const make = async ({ channels }: Config): Promise<Map<ChannelName, Channel>> => {
  made = Object.keys(channels);
  return new Map(made.map((name) => [name as ChannelName, { name, made: true } as unknown as Channel]));
};
const old = { name: 'telegram' } as unknown as Channel;

const cases: [string, Config['channels'], Record<string, 'kept' | 'made'>][] = [
  ['another chat: the same one goes on', { telegram: { ...telegram, chat: '-2' } }, { telegram: 'kept' }],
  ['another server: a new one', { telegram: { ...telegram, apiRoot: 'http://localhost' } }, { telegram: 'made' }],
  ['one more: only that is made', { telegram, slack }, { telegram: 'kept', slack: 'made' }],
  ['another instead', { slack }, { slack: 'made' }],
];
for (const [name, channels, want] of cases)
  test(name, async () => {
    const before = aConfig({ channels: { telegram } });
    const got = await rebuildChannels(new Map([['telegram', old]]), before, aConfig({ channels }), make);
    assert.deepEqual(Object.fromEntries([...got].map(([key, one]) => [key, one === old ? 'kept' : 'made'])), want);
    assert.deepEqual(
      made,
      Object.entries(want).flatMap(([key, how]) => (how === 'made' ? [key] : [])),
    );
  });
