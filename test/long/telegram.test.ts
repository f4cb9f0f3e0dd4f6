import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { plainText, renderTelegram } from '../../src/channels/telegram/render.ts';
import { phases, type Phase, type Remediation } from '../../src/kube/remediation.ts';
import { composeMessage } from '../../src/notices/compose.ts';
import { decodePress } from '../../src/notices/payload.ts';
import { aContext } from '../golden/scenes.ts';
import { aFix, aNotice, aQuotaFix, at, condition, executed, type FixOptions } from '../support/fixes.ts';

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

/* What a cluster, a person or an attacker may write, as far as the resource's schema lets it through. */
const nasty = fc.constantFrom('<b>', '</b>', '</pre>', '<a href="tg://user?id=1">', '&amp;', '&#60;', '&', '<', '>', '"', "'", '<!--', '😀', '👨‍👩‍👧‍👦', '🇩🇪', '\u202e', '\u2066', '\u200f', 'שלום', 'مرحبا', 'ﷺ', '\u0301', '\n', '\t', '\u0085', '\u2028', '\u00ad', '\ufeff', '…', '`', '*', '_', '[x](y)', '@everyone', '/approve', ' '); // prettier-ignore
const piece = fc.oneof(nasty, fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('word', 'x'.repeat(200), '&'.repeat(90), '<'.repeat(90), '😀'.repeat(60))); // prettier-ignore
/** Never longer than the schema allows, and mostly short. */
const words = (max: number) =>
  fc
    .tuple(fc.array(piece, { maxLength: 40 }), fc.constantFrom(1, 1, 1, 1, 4, 40))
    .map(([pieces, times]) => pieces.join('').repeat(times).replace(/[\x00-\x08\x0b-\x1f\x7f]/g, ' ').slice(0, max).replace(/[\uD800-\uDBFF]$/, '')); // prettier-ignore
const lines = fc.array(words(512), { maxLength: 10 });

const options: fc.Arbitrary<FixOptions & { make: number }> = fc
  .record({
    make: fc.nat(2),
    n: fc.integer({ min: 1, max: 99 }),
    name: fc.oneof(fc.constantFrom('checkout', 'a', 'x'.repeat(253)), words(253).filter(Boolean)),
    phase: fc.oneof(fc.constant('Proposed' as const), fc.constantFrom(...phases)),
    state: fc.constantFrom('Pending', 'Pending', 'Pending', 'Approved', 'Rejected'),
    by: fc.constantFrom('telegram:123456789', 'telegram:1', '<b>ada</b>@example.com'),
    texts: fc.tuple(words(512), words(2048), words(8192), words(4096), words(512), words(1024)),
    changed: lines,
    evidence: lines,
    affected: fc.array(words(317), { maxLength: 50 }),
    severity: fc.constantFrom('critical' as const, 'warning' as const, 'info' as const),
  })
  .map(({ make, n, name, phase, state, by, texts, changed, evidence, affected, severity }) => {
    const [diagnosis, rationale, diff, undo, note, said] = texts;
    const status = {
      preview: { diff, targetHash: 'h', at: at('02:12:36') },
      execution: { ...executed, undo },
      sightings: { count: n, lastSeen: at('02:12:34'), ready: 0, desired: n, affected },
    };
    return {
      make,
      n,
      name,
      phase: phase as Phase,
      approval: { state: state as 'Pending', by, note, at: at('02:14:10') },
      incident: { severity },
      spec: { diagnosis, rationale, context: { changed, evidence } },
      conditions: [condition(phase, '02:14:12', { message: said })],
      status,
    };
  });
const fix = options.map(({ make, ...over }): Remediation => [aFix, aQuotaFix, aNotice][make]!(over));

test('whatever thousands of Remediations say, Telegram gets valid markup of at most 4096 characters', () => {
  let longest = 0;
  let buttons = 0;
  let told = 0;
  fc.assert(
    fc.property(fc.array(fix, { minLength: 1, maxLength: 12 }), fc.boolean(), (members, asking) => {
      const asked = { by: 'telegram:1', name: '<Ada>', untilMs: Date.parse(at('02:14:50')) };
      const message = composeMessage(members, aContext({ confirming: () => (asking ? asked : undefined) }));
      const { html, keyboard } = renderTelegram(message);
      const text = parseStrictly(html);
      told += members.length;
      longest = Math.max(longest, text.length);
      assert.ok(text.trim().length > 0 && text.length <= 4096, `${text.length} characters`);
      assert.ok(text.isWellFormed(), 'a character cut in two');
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
  assert.ok(longest > 3_500, `the longest had only ${longest} characters: nothing was ever cut`);
  assert.ok(buttons > 500, `only ${buttons} buttons`);
});

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
