import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { plainText, renderTelegram } from '../../src/channels/telegram/render.ts';
import { parseStrictly } from '../support/telegram-html.ts';
import { leaks } from './any-fix.ts';
import { anyLongShown } from './any-message.ts';

test('lines of a megabyte are cut for Telegram, and hide no secret', () =>
  fc.assert(
    fc.property(anyLongShown, ({ messages }) => {
      for (const message of messages)
        for (const text of [parseStrictly(renderTelegram(message).html), plainText(message)]) {
          assert.ok(text.length <= 4096 && text.isWellFormed());
          assert.deepEqual(leaks(text), []);
        }
    }),
    { numRuns: 10, endOnFailure: true },
  ));

test('the parser of this test refuses what Telegram refuses', () => {
  for (const html of [
    '<b>x',
    'x</b>',
    '<b><pre>x</b></pre>',
    'a < b',
    'a > b',
    'a & b',
    '&nbsp;',
    '<i x>y</i>',
    '<b a="1">x</b>',
    '<pre>&lt</pre>',
  ])
    assert.throws(() => parseStrictly(html), assert.AssertionError, html);
  assert.equal(parseStrictly('<b>a &lt; b</b>\n<blockquote expandable>&amp;</blockquote>'), 'a < b\n&');
});
