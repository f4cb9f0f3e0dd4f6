import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTelegramHtml } from '../../../scripts/pictures/telegram-html.ts';

test('a message becomes the tree that Telegram would show', () => {
  assert.deepEqual(parseTelegramHtml('🔴 <b>a &lt; b</b>\n<pre>x &amp; &quot;y&quot;</pre>&#8594;'), [
    '🔴 ',
    { tag: 'b', attribute: '', children: ['a < b'] },
    '\n',
    { tag: 'pre', attribute: '', children: ['x & "y"'] },
    '→',
  ]);
  assert.deepEqual(parseTelegramHtml('<blockquote expandable><i>a</i></blockquote>'), [
    { tag: 'blockquote', attribute: ' expandable', children: [{ tag: 'i', attribute: '', children: ['a'] }] },
  ]);
});

const refused: Readonly<Record<string, string>> = {
  'a tag it does not know': '<div>x</div>',
  'a tag in capitals': '<B>x</B>',
  'an attribute': '<b onclick="x">x</b>',
  'a name from the object itself': '<constructor>x</constructor>',
  'a tag that is never closed': '<b>x',
  'an end without a start': 'x</b>',
  'tags across each other': '<b><i>x</b></i>',
  'a bare <': '1 < 2',
  'a bare >': '2 > 1',
  'a bare &': 'a & b',
  'an entity that it shows as written': 'a&nbsp;b',
  'an entity without its end': 'a &lt b',
};

for (const [what, html] of Object.entries(refused))
  test(`refused: ${what}`, () =>
    assert.throws(() => parseTelegramHtml(html), /^Error: (Telegram does not|a bare|<b> is never|<\/b> closes)/));
