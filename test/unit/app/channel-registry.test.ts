import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChannelRegistry } from '../../../src/app/channel-registry.ts';
import type { Channel, ChannelName } from '../../../src/channels/channel.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createReadiness } from '../../../src/ops/readiness.ts';
import { fakeClock } from '../../support/fake-clock.ts';

function aChannel(name: ChannelName, log: string[], id: string = name): Channel {
  return {
    name,
    post: async () => '1',
    edit: async () => undefined,
    async run(_onPress, signal) {
      log.push(`${id} runs`);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      log.push(`${id} ends`);
    },
    health: () => ({ ok: true, detail: id }),
  };
}

const nothing = { say: '', alert: false };
const handlers = { onPress: async () => nothing, onCommand: async () => nothing, commands: [] };

test('channels come and go: nothing is received before all is listed, and one that was left can be edited for a minute', async () => {
  const clock = fakeClock();
  const log: string[] = [];
  const listed = Promise.withResolvers<void>();
  const stop = new AbortController();
  const readiness = createReadiness();
  const registry = createChannelRegistry({
    clock,
    metrics: createMetrics(),
    readiness,
    installation: [],
    onForeign: () => nothing,
    term: { signal: stop.signal, mustLead: () => undefined },
  });
  registry.start(handlers, listed.promise);
  const [telegram, slack] = [aChannel('telegram', log), aChannel('slack', log)];
  registry.use(new Map([['telegram', telegram]]));
  await clock.advance(0);
  assert.deepEqual(log, []);
  listed.resolve();
  await clock.advance(0);
  registry.use(
    new Map([
      ['telegram', telegram],
      ['slack', slack],
    ]),
  );
  await clock.advance(0);
  assert.deepEqual(log, ['telegram runs', 'slack runs']);

  registry.use(new Map([['telegram', telegram]]));
  await clock.advance(59_000);
  assert.deepEqual([log.at(-1), [...registry.channels().keys()]], ['slack ends', ['telegram', 'slack']]);
  assert.deepEqual(Object.keys(readiness.report().checks), ['channel-telegram']);
  await clock.advance(2_000);
  assert.deepEqual([...registry.channels().keys()], ['telegram']);

  const another = aChannel('telegram', log, 'another');
  registry.use(new Map([['telegram', another]]));
  await clock.advance(120_000);
  assert.deepEqual(log.slice(-2), ['telegram ends', 'another runs']);
  assert.equal(registry.channels().get('telegram')?.health, another.health);
  stop.abort();
  await registry.ended();
  assert.equal(log.at(-1), 'another ends');
});

test('a replica that no longer leads posts and edits nothing, and a message that waits is checked once more', async () => {
  const sent: string[] = [];
  const slow: Channel = {
    ...aChannel('telegram', []),
    async post(_place, _message, _replyTo, turn) {
      await clock.sleep(1_000); // it waits for its turn
      turn?.check?.();
      sent.push('posted');
      return '1';
    },
    edit: async () => void sent.push('edited'),
  };
  const clock = fakeClock();
  const stop = new AbortController();
  let leads = true;
  const mustLead = (): void => assert(leads, 'this replica does not lead');
  const registry = createChannelRegistry({
    clock,
    metrics: createMetrics(),
    readiness: createReadiness(),
    installation: [],
    onForeign: () => nothing,
    term: { signal: stop.signal, mustLead },
  });
  registry.start(handlers, Promise.resolve());
  registry.use(new Map([['telegram', slow]]));
  const channel = registry.channels().get('telegram')!;
  const message = { cards: [] } as never;
  const first = channel.post({ chat: '1' }, message);
  await clock.advance(1_000);
  assert.equal(await first, '1');
  const waiting = channel.post({ chat: '1' }, message).catch(String);
  leads = false;
  await clock.advance(1_000);
  assert.match(await waiting, /does not lead/);
  await assert.rejects(channel.post({ chat: '1' }, message), /does not lead/);
  await assert.rejects(channel.edit({ chat: '1' }, '1', message), /does not lead/);
  assert.deepEqual(sent, ['posted']);
  stop.abort();
});
