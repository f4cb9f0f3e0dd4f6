import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleText } from '../../../src/channels/console/console-text.ts';
import { legible } from '../../../src/channels/lines.ts';
import { renderAnswer, renderPlainly, renderSlack } from '../../../src/channels/slack/render.ts';
import { plainText, renderTelegram } from '../../../src/channels/telegram/render.ts';
import type { Message } from '../../../src/notices/cards/message.ts';
import { readMessage } from '../../support/block-kit.ts';
import { saying } from './saying.ts';

const unseen = [
  ...'\u0007\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u200b\u200c\u200d',
  ...'\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2064\u2066\u2069\u206f\u2800\u3164\ufe00',
  ...'\ufe0f\ufeff\uffa0\ufff9\ufffb\u{1d173}\u{e0001}\u{e0041}\u{e007f}\u{e0100}\ue000\u{10ffff}',
  '\ud800',
];

const message = (text: string): Message => ({
  ...saying(text, { tap: '/x', words: text }),
  hint: { tap: '/show', words: text },
});

for (const character of unseen)
  test(`U+${character.codePointAt(0)!.toString(16)} is on no channel`, () => {
    const given = message(`a${character}b`);
    const all = [
      renderTelegram(given),
      plainText(given),
      renderSlack(given),
      renderPlainly(given),
      renderAnswer(`a${character}b`),
      consoleText(given, (data) => data),
    ];
    for (const rendered of all)
      assert.ok(!JSON.stringify([rendered]).includes(JSON.stringify(character).slice(1, -1)), JSON.stringify(rendered));
  });

test('a headline is one line, whatever is in it', () => {
  const { cards, title } = legible(message('down\nFix  roll back'));
  assert.deepEqual([title?.text, cards[0]?.headline], ['down Fix roll back', 'down Fix roll back']);
});

test('Slack is given no links, mentions or emoji, only words', () => {
  const text = '<!here> <@U1> <https://evil.com|x> https://evil.com :fire: @here #ops *b* `c`';
  for (const rendered of [renderSlack(message(text)), renderPlainly(message(text)), renderAnswer(text)]) {
    readMessage(rendered); // refuses unescaped markup and every element but words
    const types = [...JSON.stringify(rendered.blocks).matchAll(/"type":"([^"]+)"/g)].map(([, type]) => type!);
    const words = ['text', 'plain_text', 'header', 'section', 'context', 'actions', 'button', 'rich_text', 'rich_text_section', 'rich_text_preformatted', 'rich_text_quote']; // prettier-ignore
    assert.deepEqual(
      types.filter((type) => !words.includes(type)),
      [],
    );
    assert.doesNotMatch(JSON.stringify(rendered.blocks), /"emoji":true/);
  }
});
