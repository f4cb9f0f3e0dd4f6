import assert from 'node:assert/strict';

/**
 * Telegram's HTML as its server reads it, and stricter: only tags that we use, closed in order, none inside
 * itself or `pre`, every < > & an entity. Returns the text that is counted and shown.
 * https://core.telegram.org/bots/api#html-style
 */
export function parseStrictly(html: string): string {
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
