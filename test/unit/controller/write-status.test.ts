import assert from 'node:assert/strict';
import { test } from 'node:test';
import { condition } from '../../../src/controller/write-status.ts';

test('a condition, its Event and its log line hold no secret and nothing invisible', () => {
  const { message } = condition('Failed', true, 'Refused', 'it: password is hunter2\u200b, curl -u a:b\u202ec');
  assert.equal(message, 'it: password is [redacted] curl -u a:[redacted] c');
});
