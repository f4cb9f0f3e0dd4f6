import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelName } from '../../../../src/channels/channel.ts';
import type { Config } from '../../../../src/config/schema.ts';
import { createReminders } from '../../../../src/notices/outbox/reminder-writer.ts';
import { aFix } from '../../../support/fixes.ts';
import { aDesk, silentLog } from '../desk.ts';

/** The outbox with who reminds beside it, as they run: each sees what the other writes. */
function aDeskWithReminders() {
  const desk = aDesk();
  const { api } = desk.server;
  const removeAtOnce = api.delete;
  // Another call of the network: whoever created it has had its answer by then.
  api.delete = async (...which) => new Promise(setImmediate).then(() => removeAtOnce(...which));
  const { outbox } = desk.startWith([aFix()]);
  const stop = new AbortController();
  const channels = () => new Map<ChannelName, unknown>([['telegram', {}]]);
  const more = { current: () => desk.config, channels, namespace: 'tapfix', isMuted: () => false };
  const { fixes, notices } = outbox.stores;
  const reminders = createReminders({
    api: desk.server.api,
    fixes,
    notices,
    clock: desk.clock,
    log: silentLog,
    signal: stop.signal,
    ...more,
  });
  desk.server.watch((change) => {
    outbox.onNotice(change);
  });
  fixes.subscribe(reminders.listener);
  notices.subscribe(reminders.listener);
  notices.repeat();
  const created = (): number => desk.server.calls.filter((call) => call === 'create').length;
  return { ...desk, outbox, stop, created };
}

const heard = ({ said }: Pick<ReturnType<typeof aDesk>, 'said'>): string[] =>
  said.map(({ what, chat }) => `${what} ${chat}`);

const elsewhere = (config: Config): void =>
  void Object.assign(config.channels.telegram!, { routes: [{ namespaces: ['shop'], chat: '-100600' }] });

test('the route changed since: who reads the card is reminded where the card is, once', async () => {
  const desk = aDeskWithReminders();
  await desk.clock.advance(6_000);
  elsewhere(desk.config);
  await desk.clock.advance(11 * 60_000);
  assert.deepEqual(heard(desk), ['post -100500', 'post -100500']);
  assert.equal(desk.created(), 2);
  desk.stop.abort();
});

test('the namespace was left since: nobody is reminded, and nothing is written again and again', async () => {
  const desk = aDeskWithReminders();
  await desk.clock.advance(6_000);
  desk.config.namespaces.exclude.push('shop');
  desk.outbox.refresh();
  await desk.clock.advance(11 * 60_000);
  assert.equal(desk.said.filter(({ what }) => what === 'post').length, 1);
  assert.equal(desk.created(), 1);
  desk.stop.abort();
});
