import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { allCode, plainText, renderTelegram } from '../../../../src/channels/telegram/render.ts';
import { partsOf } from '../../../../src/channels/telegram/tappable.ts';
import { tappableIn } from '../../../support/telegram-html.ts';
import { saying } from '../saying.ts';

const tappable = [
  '/approve',
  'run: /approve@tapfix_bot now',
  '(/reject)',
  'ask @ada',
  '"@ada"',
  'see #incident and #1a',
  'in $PATH, for $USD',
  'evil.com',
  'https://evil.com/approve?x=1#y',
  'http://10.0.0.1:8080/healthz',
  'dial tcp 10.0.0.1:5432',
  'main.py',
  'пример.рф',
  'xn--e1afmkfd.xn--p1ai',
  'tg://resolve?domain=x',
  'ada@evil.com',
  'call +49 170 1234567',
  'call +1-212-555-0123',
  'card 4111 1111 1111 1111',
];
const harmless = [
  'shop/checkout:1.42 → shop/checkout:1.41',
  'image shop/web@sha256:abc',
  '0/3 ready since 03:12:05 CET, 2026-11-16',
  'requests.memory 50Mi, registry.internal, a b. Cd',
  'cat: /var/lib/x: No such file',
  'and 5 of 12345 restarts, #12',
];
for (const text of tappable)
  test(`cannot be tapped, and is shown as it is: ${text}`, () => {
    assert.ok(tappableIn(text.replaceAll('"', '&quot;')).length > 0, 'the judge finds nothing in it');
    const { html } = renderTelegram(saying(text));
    assert.deepEqual(tappableIn(html), []);
    assert.equal(
      partsOf(text)
        .map((part) => part.text)
        .join(''),
      text,
    );
  });

for (const text of harmless)
  test(`needs no code: ${text}`, () => {
    assert.deepEqual(tappableIn(text), []);
    assert.deepEqual(partsOf(text), [{ text, tappable: false }]);
  });

test('our own commands can be tapped, the names after them cannot', () => {
  const message = { cards: [], hint: { tap: '/show', words: ' NAME: evil.com, /approve' }, silent: true };
  assert.deepEqual(tappableIn(renderTelegram(message).html), ['command /show']);
});

test('whatever is between them, nothing can be tapped', () => {
  const piece = fc.oneof(
    fc.constantFrom(...tappable, ...harmless, ' ', '\n', '(', ')', '"', '<b>', '&', '.', ',', '/', '@', ':', '-'),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const { html } = renderTelegram(saying(`x${pieces.join('')}`));
      assert.deepEqual(tappableIn(html), []);
    }),
    { numRuns: 1_000, seed: 14 }, // test/long has it with others
  );
});

test('without markup all of it is code', () => {
  const text = plainText(saying('/approve'));
  assert.deepEqual(allCode(text), { entities: [{ type: 'pre', offset: 0, length: text.length }] });
});
