import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../../src/config/schema.ts';
import type { aDesk } from '../desk.ts';
import { aDeskWithReminders } from '../desk.ts';

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
