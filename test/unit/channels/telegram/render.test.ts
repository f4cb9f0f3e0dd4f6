import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { html as markup, maxText, plainText, renderTelegram } from '../../../../src/channels/telegram/render.ts';
import { createTelegram } from '../../../../src/channels/telegram/telegram.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../../src/notices/cards/details.ts';
import type { Card, Line, Message } from '../../../../src/notices/cards/message.ts';
import { aContext } from '../../../golden/scenes.ts';
import { botToken, startFakeTelegram } from '../../../support/fake-telegram.ts';
import { aFix, at } from '../../../support/fixes.ts';
import { silentLog } from '../../notices/desk.ts';
import { commandOf, failed, longCommands, printed, proposed } from '../long-commands.ts';

const nasty = '<b>&amp;"\'</b> <script>alert(1)</script> &nbsp; 😀';

test('everything from the cluster is escaped', () => {
  const fix = aFix({
    name: 'a<b>',
    spec: { diagnosis: nasty, rationale: nasty, context: { changed: [nasty], evidence: [nasty] } },
  });
  const { html } = renderTelegram(composeMessage([fix], aContext()));
  assert.ok(!html.includes('<script>') && html.includes('&lt;script&gt;'));
  assert.match(html, /a&lt;b&gt; is down, 0\/3 ready/);
});

test('a card of the longest texts the resource allows still fits, and says what is broken', () => {
  const long = '😀&<'.repeat(170);
  const fixes = Array.from({ length: 40 }, (_, n) =>
    aFix({
      n: n + 1,
      name: 'x'.repeat(250),
      spec: {
        diagnosis: long,
        rationale: long.repeat(4),
        context: { changed: Array(10).fill(long), evidence: Array(10).fill(long) },
      },
      status: { preview: { diff: `${long}\n`.repeat(16), targetHash: 'h', at: '2026-11-16T02:12:36Z' } },
    }),
  );
  for (const members of [fixes.slice(0, 1), fixes.slice(0, 3), fixes]) {
    const { html } = renderTelegram(composeMessage(members, aContext()));
    assert.ok(markup.visible(html).length <= maxText, String(markup.visible(html).length));
    assert.match(html, /^🔴/);
  }
});

test('a button payload beyond 64 bytes is our bug and found here', () => {
  const message: Message = {
    cards: [{ dot: 'red', headline: 'x', rows: [], footer: [], buttons: [[{ label: 'x', data: 'x'.repeat(65) }]] }],
    silent: false,
  };
  assert.throws(() => renderTelegram(message), RangeError);
});

test('whatever the words are, Telegram takes the markup', async () => {
  const limits = { burstInChat: Infinity, messagesAMinute: Infinity, callsASecond: Infinity }; // it is about markup
  const fake = await startFakeTelegram({ limits });
  const channel = createTelegram({
    token: async () => botToken,
    apiRoot: fake.apiRoot,
    chats: () => [],
    log: silentLog,
    clock: { ...systemClock, sleep: (_ms, signal) => systemClock.sleep(1, signal) }, // nor about time
  });
  const words = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 3000 }),
    fc.constantFrom(nasty, nasty.repeat(200), '</pre>', '&'),
  );
  const line = fc.oneof(words, fc.record({ code: words }), fc.record({ command: words, orElse: words }));
  const row = fc.record({
    label: fc.constantFrom('Why', 'Fix'),
    lines: fc.array(line, { maxLength: 12 }),
    fold: fc.boolean(),
  });
  const card = fc.record({
    dot: fc.constantFrom('red' as const, 'grey' as const),
    headline: words,
    rows: fc.array(row, { maxLength: 5 }),
    footer: fc.array(line, { maxLength: 3 }),
    buttons: fc.constant<Card['buttons']>([]),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(card, { minLength: 1, maxLength: 9 }), async (cards) => {
      await channel.post({ chat: '-100500' }, { cards, silent: false });
    }),
    { numRuns: 30 },
  );
  await fake.close();
});

test('a long diff is folded, as words: nothing else may be inside', () => {
  const diff = Array.from({ length: 30 }, (_, n) => `app env SETTING_${n}  a → b`).join('\n');
  const fix = aFix({ status: { preview: { diff, targetHash: 'h', at: at('02:12:36') } } });
  const { html } = renderTelegram(composeDetails(fix, [], aContext()));
  assert.match(
    html,
    /<b>Exactly<\/b>\n<blockquote expandable>app env SETTING_0 {2}a → b\n[^<]*SETTING_29 {2}a → b<\/blockquote>/,
  );
  assert.match(renderTelegram(composeDetails(aFix(), [], aContext())).html, /<pre>app image/);
});

const unescaped = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

for (const [name, fix, length, instead] of longCommands) {
  const message = composeDetails(fix, [], aContext());
  const { html } = renderTelegram(message);

  test(`whole or not at all, in Telegram: ${name}`, () => {
    assert.ok(markup.visible(html).length <= maxText);
    const block = `<pre>${(instead ?? commandOf(length)).replaceAll('<', '&lt;')}</pre>`;
    assert.ok(html.includes(block), html);
    if (instead) assert.doesNotMatch(html, /create -f/);
  });
  test(`whole or not at all, without markup: ${name}`, () => {
    const text = plainText(message);
    assert.ok(text.length <= maxText && text.includes(`\n${instead ?? commandOf(length)}`), text);
    if (instead) assert.doesNotMatch(text, /create -f/);
  });
}

test('what stands in for a command says that it is not the command', () => {
  assert.match(
    renderTelegram(composeDetails(failed(4_096), [], aContext())).html,
    /<b>Undo<\/b> {2}with\na command too long for this message; this prints it:\n<pre>kubectl -n shop get fix /,
  );
});

test('a diff that is cut says so', () => {
  const { html } = renderTelegram(composeDetails(proposed(200, 8_000), [], aContext()));
  assert.match(html, /<blockquote expandable>d+…<\/blockquote>/);
});

test('whatever else a message says, a command in it is whole or not there', () => {
  const words = fc.string({ unit: 'grapheme-ascii', maxLength: 2_000 });
  const command = fc.integer({ min: 60, max: 4_096 }).map(commandOf);
  const line: fc.Arbitrary<Line> = fc.oneof(
    words,
    fc.record({ code: words }),
    fc.record({ command, orElse: fc.constant(printed.undo) }),
  );
  const lines = fc.array(line, { maxLength: 5 });
  const card = fc.record({ headline: words, subtitle: words, footer: lines, label: words, lines });
  fc.assert(
    fc.property(fc.array(card, { minLength: 1, maxLength: 9 }), (cards) => {
      const message: Message = {
        silent: false,
        cards: cards.map(({ headline, subtitle, footer, label, lines }) => ({
          dot: 'red' as const,
          headline,
          subtitle,
          rows: [{ label, lines }],
          footer,
          buttons: [],
        })),
      };
      for (const text of [unescaped(renderTelegram(message).html), plainText(message)]) {
        assert.ok(text.length <= maxText);
        const begun = text.split('create -f - <<').length;
        assert.equal(text.split('x}\nEOF').length, begun);
        assert.equal(text.split('kubectl -n shop get fix').length, text.split(printed.undo).length);
      }
    }),
    { numRuns: 300 },
  );
});
