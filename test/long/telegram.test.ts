import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { plainText, renderTelegram } from '../../src/channels/telegram/render.ts';
import { composeMessage } from '../../src/notices/compose.ts';
import { decodePress } from '../../src/notices/payload.ts';
import { aContext } from '../golden/scenes.ts';
import { aFix, at } from '../support/fixes.ts';
import { anyFix, leaks, made, megabyte } from './any-fix.ts';

/**
 * Telegram's HTML as its server reads it, and stricter: only tags that we use, closed in order, none inside
 * itself or `pre`, every < > & an entity. Returns the text that is counted and shown.
 * https://core.telegram.org/bots/api#html-style
 */
function parseStrictly(html: string): string {
  const open: string[] = [];
  let text = '';
  for (const [token] of html.matchAll(/<[^>]*>?|&[^;]*;?|[^<&]+/g)) {
    if (token.startsWith('<')) {
      const tag = /^<(\/?)(b|pre|blockquote)( expandable)?>$/.exec(token);
      assert.ok(tag && (!tag[3] || (tag[2] === 'blockquote' && !tag[1])), `tag ${token}`);
      if (tag[1]) assert.equal(open.pop(), tag[2], `${token} closes nothing`);
      else {
        assert.ok(!open.includes(tag[2]!) && !open.includes('pre'), `${token} where it may not be`);
        open.push(tag[2]!);
      }
    } else if (token.startsWith('&')) {
      const character = ({ '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' } as Record<string, string>)[token];
      assert.ok(character, `entity ${token.slice(0, 20)}`);
      text += character;
    } else {
      assert.ok(!token.includes('>'), 'a bare >');
      text += token;
    }
  }
  assert.deepEqual(open, [], 'left open');
  return text;
}

test('whatever thousands of Remediations say, Telegram gets valid markup of at most 4096 characters', () => {
  let longest = 0;
  let buttons = 0;
  let told = 0;
  fc.assert(
    fc.property(fc.array(anyFix, { minLength: 1, maxLength: 12 }), fc.boolean(), (members, asking) => {
      const asked = { by: 'telegram:1', name: '<Ada>', untilMs: Date.parse(at('02:14:50')) };
      const message = composeMessage(members, aContext({ confirming: () => (asking ? asked : undefined) }));
      const { html, keyboard } = renderTelegram(message);
      const text = parseStrictly(html);
      told += members.length;
      longest = Math.max(longest, text.length);
      assert.ok(text.trim().length > 0 && text.length <= 4096, `${text.length} characters`);
      assert.ok(text.isWellFormed(), 'a character cut in two');
      assert.deepEqual([...leaks(text), ...leaks(plainText(message))], [], 'a secret');
      assert.ok(!/[\x00-\x08\x0b-\x1f\x7f]/.test(text), 'a control character');
      assert.ok(plainText(message).length <= 4096 && plainText(message).isWellFormed());
      for (const { text, callback_data } of keyboard.inline_keyboard.flat() as {
        text: string;
        callback_data: string;
      }[]) {
        // prettier-ignore
        buttons += 1;
        assert.ok(text.trim().length > 0 && text.isWellFormed());
        assert.ok(Buffer.byteLength(callback_data) <= 64);
        assert.ok(decodePress(callback_data), callback_data);
      }
    }),
    { numRuns: 1_000, endOnFailure: true }, // shrinking such texts takes minutes
  );
  assert.ok(told >= 3_000, `only ${told} Remediations`);
  console.log(`${made.texts} texts, ${made.planted} with a secret, in ${told} Remediations: all taken, none told`);
  assert.ok(made.texts >= 100_000 && made.planted >= 5_000, JSON.stringify(made));
  assert.ok(longest > 3_500, `the longest had only ${longest} characters: nothing was ever cut`);
  assert.ok(buttons > 500, `only ${buttons} buttons`);
});

test('lines of a megabyte are cut, and hide no secret', () =>
  fc.assert(
    fc.property(megabyte, fc.constantFrom('diagnosis', 'rationale', 'evidence'), (line, where) => {
      const fix = aFix();
      const spec = { ...fix.spec, ...(where === 'evidence' ? { context: { changed: [], evidence: [line] } } : { [where]: line }) }; // prettier-ignore
      const text = parseStrictly(renderTelegram(composeMessage([{ ...fix, spec }], aContext())).html);
      assert.ok(text.length <= 4096 && text.isWellFormed());
      assert.deepEqual(leaks(text), []);
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
    // prettier-ignore
    assert.throws(() => parseStrictly(html), assert.AssertionError, html);
  assert.equal(parseStrictly('<b>a &lt; b</b>\n<blockquote expandable>&amp;</blockquote>'), 'a < b\n&');
});
