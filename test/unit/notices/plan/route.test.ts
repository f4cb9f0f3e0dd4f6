import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesOf, everyChat } from '../../../../src/notices/plan/route.ts';
import { aConfig } from '../../../support/fixes.ts';

const routes = [
  { namespaces: ['pay*'], chat: '-2' },
  { namespaces: ['payments', 'shop-*'], thread: '7' },
];
const config = aConfig({ channels: { telegram: { chat: '-1', routes, apiRoot: '' }, console: {} } });

const places: [string, string, object][] = [
  ['no route: the usual chat', 'mail', { channel: 'telegram', chat: '-1' }],
  ['the first route that matches wins', 'payments', { channel: 'telegram', chat: '-2' }],
  ['a route without a chat is a topic of the usual one', 'shop-eu', { channel: 'telegram', chat: '-1', thread: '7' }],
];
for (const [name, namespace, place] of places) {
  test(name, () => assert.deepEqual(addressesOf(config, namespace), [place, { channel: 'console', chat: 'console' }]));
}

test('every chat is spoken in once: the usual one in its usual place, others in the first place they have', () => {
  const routes = [
    { namespaces: ['a'], thread: '1' },
    { namespaces: ['b'], chat: '-200', thread: '2' },
    { namespaces: ['c'], chat: '-200' },
  ];
  const config = aConfig({ channels: { telegram: { chat: '-100', routes, apiRoot: 'x' }, console: {} } });
  assert.deepEqual(everyChat(config), [
    { channel: 'telegram', chat: '-100' },
    { channel: 'telegram', chat: '-200', thread: '2' },
    { channel: 'console', chat: 'console' },
  ]);
});
