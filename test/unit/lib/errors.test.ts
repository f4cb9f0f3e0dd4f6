import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '../../../src/lib/errors.ts';

test('an error is told in one line, causes included once', () => {
  const cause = Object.assign(new Error('connect\nECONNREFUSED'), { code: 'ECONNREFUSED' });
  assert.equal(messageOf(new Error('no', { cause })), 'no: connect ECONNREFUSED');
  assert.equal(messageOf(Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' })), 'ETIMEDOUT');
  assert.equal(messageOf('text'), 'text');
  assert.equal(messageOf(new Error('x'.repeat(1000))).length, 500);
});
