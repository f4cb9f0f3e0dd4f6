import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { html as markup, maxText, renderTelegram } from '../../../src/channels/telegram/render.ts';
import { createTelegram } from '../../../src/channels/telegram/telegram.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import type { Card, Message } from '../../../src/notices/cards/message.ts';
import { aContext } from '../../golden/scenes.ts';
import { botToken, startFakeTelegram } from '../../support/fake-telegram.ts';
import { aFix, at } from '../../support/fixes.ts';
import { silentLog } from '../notices/desk.ts';

const nasty = '<b>&amp;"\'</b> <script>alert(1)</script> &nbsp; 😀';

test('everything from the cluster is escaped', () => {
  const fix = aFix({
    name: 'a<b>',
    spec: { diagnosis: nasty, rationale: nasty, context: { changed: [nasty], evidence: [nasty] } },
  });
  const { html } = renderTelegram(composeMessage([fix], aContext()));
  assert.ok(!html.includes('<script>') && html.includes('&lt;script&gt;'));
  assert.match(html, /a&lt;b&gt; keeps crashing/);
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
  const limits = { messagesAMinute: Infinity, callsASecond: Infinity }; // it is about markup
  const fake = await startFakeTelegram({ limits });
  const channel = createTelegram({
    token: async () => botToken,
    apiRoot: fake.apiRoot,
    chats: () => [],
    log: silentLog,
    clock: systemClock,
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
  const { html } = renderTelegram(composeMessage([fix], aContext()));
  assert.match(
    html,
    /<b>Exactly<\/b>\n<blockquote expandable>app env SETTING_0 {2}a → b\n[^<]*SETTING_29 {2}a → b<\/blockquote>/,
  );
  assert.match(renderTelegram(composeMessage([aFix()], aContext())).html, /<pre>app image/);
});
