import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { chatId } from './phone.ts';
import { aWorld, type World } from './world.ts';

const hellos = ({ phone }: World): string[] =>
  phone.messages
    .filter(({ message }) => message.cards[0]?.dot === 'hello')
    .map(({ chat, message }) => `${chat}${message.silent ? '' : ' with sound'}: ${message.cards[0]!.headline}`);

const words = 'tapfix is connected to sim and watches shop.';

describe('what tapfix says of itself in a chat that it has not been in', { concurrency: 3 }, () => {
  test('it introduces itself once, silently; a restart, a kill and a long time repeat nothing', async (t) => {
    const world = await aWorld(t, { isNew: true });
    world.start();
    await world.until('hello', () => world.phone.messages.length > 0, 30_000);
    assert.deepEqual(hellos(world), [`${chatId}: ${words}`]);
    await world.stop();
    world.start();
    await world.advance(60_000);
    world.kill();
    world.start();
    await world.advance(3 * 86_400_000);
    assert.equal(hellos(world).length, 1);
    assert.equal(world.phone.messages.length, 1, world.phone.text());
  });

  test('the replica that takes over says nothing', async (t) => {
    const world = await aWorld(t, { isNew: true });
    const first = world.start({ replica: 'one' });
    await world.until('hello', () => world.phone.messages.length > 0, 30_000);
    world.start({ replica: 'two' });
    await world.advance(10_000);
    first.die();
    first.stop.abort();
    await world.advance(60_000);
    assert.equal(hellos(world).length, 1);
  });

  test('a chat that comes with the configuration is greeted, those that are known are not', async (t) => {
    const world = await aWorld(t, { isNew: true });
    world.start();
    await world.until('hello', () => world.phone.messages.length > 0, 30_000);
    const routes = [{ namespaces: ['shop'], chat: -2002 }];
    world.configure({ channels: { telegram: { chat: chatId, routes }, slack: { channel: 'C0123456789' } } });
    await world.advance(30_000);
    assert.deepEqual(hellos(world), [`${chatId}: ${words}`, `-2002: ${words}`]);
    assert.equal(world.slack.messages.length, 1);
    world.configure({});
    world.configure({ channels: { telegram: { chat: chatId, routes } } });
    await world.advance(30_000);
    assert.equal(hellos(world).length, 2);
  });

  test('a group that becomes a supergroup is the same chat', async (t) => {
    const world = await aWorld(t, { isNew: true });
    world.phone.moved.set(String(chatId), '-1007');
    world.start();
    await world.until('hello', () => world.phone.messages.length > 0, 30_000);
    await world.advance(60_000);
    assert.deepEqual(hellos(world), [`-1007: ${words}`]);
  });
});

describe('/test', { concurrency: 3 }, () => {
  const card = ({ phone }: World) => phone.messages.at(-1)!.message;

  test('posts a harmless card; the press is answered with who pressed, and the card says so', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.advance(10_000);
    assert.deepEqual(await world.phone.write('test', undefined), { say: '', alert: false });
    await world.until('the card', () => world.phone.has(/^Press me$/), 10_000);
    assert.match((await world.phone.write('test', undefined)).say, /less than a minute ago/);
    assert.equal(await world.phone.press(/^Press me$/), 'It works: tapfix received the press of Ada.');
    await world.until('its words', () => card(world).cards[0]!.headline.startsWith('It works: Ada pressed'), 10_000);
    assert.equal(world.phone.has(/./), false);
    assert.equal(world.phone.messages.length, 1);
    assert.deepEqual(await world.api.list<Remediation>('Remediation', 'shop'), []);
    await world.advance(60_000);
    await world.phone.write('test', undefined);
    await world.until('another one', () => world.phone.messages.length === 2, 10_000);
  });

  test('nobody presses it: after ten minutes it has no button, also when tapfix was restarted', async (t) => {
    const world = await aWorld(t);
    world.start();
    await world.advance(10_000);
    await world.phone.write('test', undefined);
    await world.until('the card', () => world.phone.has(/^Press me$/), 10_000);
    const late = world.phone.keep(/^Press me$/);
    world.kill();
    world.start();
    await world.advance(620_000);
    assert.match(card(world).cards[0]!.headline, /has expired/);
    assert.equal(world.phone.has(/./), false);
    assert.equal(world.phone.messages.length, 1);
    assert.equal(await late(), 'This test card is over; /test posts another.');
  });
});
