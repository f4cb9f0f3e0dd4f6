import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOf, someoneMayApprove } from '../../../../src/notices/cards/people.ts';
import { aConfig } from '../../../support/fixes.ts';

const routes = [
  { namespaces: ['pay*'], chat: '-2' },
  { namespaces: ['payments', 'shop-*'], thread: '7' },
];
const config = aConfig({ channels: { telegram: { chat: '-1', routes, apiRoot: '' }, console: {} } });

test('somebody may approve: by channel and namespace', () => {
  const only = aConfig({
    approval: {
      ttl: 1,
      confirm: [],
      approvers: [{ name: 'Ben', telegram: 2, namespaces: ['shop*'], kubernetesGroups: [] }],
    },
  });
  assert.equal(someoneMayApprove(only, 'telegram', 'shop-eu'), true);
  assert.equal(someoneMayApprove(only, 'telegram', 'mail'), false);
  assert.equal(someoneMayApprove(only, 'slack', 'shop-eu'), false);
  assert.equal(someoneMayApprove(only, 'console', 'mail'), true);
});

test('people are called by the name in the config; others as they are', () => {
  assert.equal(nameOf(config, 'telegram:123456789'), 'Ada');
  assert.equal(nameOf(config, 'telegram:5'), 'telegram:5');
  assert.equal(nameOf(config, 'ada@example.com'), 'ada@example.com');
});
