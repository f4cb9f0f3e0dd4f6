import assert from 'node:assert/strict';

/** From this character of the text to before that one. */
interface Range {
  from: number;
  to: number;
}

/**
 * Telegram's HTML as its server reads it, and stricter: only tags that we use, closed in order, none inside itself or
 * code, code in nothing that is bold, every < > & an entity.
 * https://core.telegram.org/bots/api#html-style
 */
export function readHtml(html: string): { text: string; code: Range[] } {
  const open: { tag: string; from: number }[] = [];
  const code: Range[] = [];
  let text = '';
  for (const [token] of html.matchAll(/<[^>]*>?|&[^;]*;?|[^<&]+/g)) {
    if (token.startsWith('<')) {
      const [, closing, tag = '', expandable] = /^<(\/?)(b|code|pre|blockquote)( expandable)?>$/.exec(token) ?? [];
      assert.ok(tag && (!expandable || (tag === 'blockquote' && !closing)), `tag ${token}`);
      if (closing) {
        const opened = open.pop();
        assert.equal(opened?.tag, tag, `${token} closes nothing`);
        if (tag === 'code' || tag === 'pre') code.push({ from: opened!.from, to: text.length });
      } else {
        const around = open.map((one) => one.tag);
        const forbidden = tag === 'code' || tag === 'pre' ? [tag, 'code', 'pre', 'b'] : [tag, 'code', 'pre'];
        assert.ok(!forbidden.some((one) => around.includes(one)), `${token} where it may not be`);
        open.push({ tag, from: text.length });
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
  return { text, code };
}

/** The text that is counted and shown. */
export const parseStrictly = (html: string): string => readHtml(html).text;

type Detector = (text: string) => Range[];

const matches =
  (pattern: RegExp, isOne: (match: string) => boolean = () => true): Detector =>
  (text) =>
    [...text.matchAll(pattern)]
      .filter(([match]) => isOne(match))
      .map(({ 0: match, index }) => ({ from: index, to: index + match.length }));

/** Names that no server answers to, now or ever: RFC 2606, RFC 6762, ICANN's .internal; and two words of quotas. */
const noTopLevel = /\.(?:internal|local|localhost|test|example|invalid|cpu|memory)$/i;

/** An address is one with a scheme that Telegram knows and a dot, an IPv4 address, or a name under a top level. */
function isUrl(word: string): boolean {
  const [, scheme, host = ''] = /^(?:(https?|ftp|tg|ton):\/\/)?([^/?#]*)/i.exec(word) ?? [];
  if (scheme && /^(?:tg|ton)$/i.test(scheme)) return true;
  const domain = host.replace(/^.*@/, '').replace(/:\d*$/, '').replace(/\.+$/, '');
  if (!domain.includes('.')) return false;
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(domain)) return true;
  if (scheme) return !/\.\p{N}*$/u.test(domain);
  return /\.(?:\p{L}{2,}|xn--[\w-]+)$/u.test(domain) && !noTopLevel.test(domain);
}

const luhn = (digits: string): boolean =>
  [...digits]
    .toReversed()
    .map((digit, index) => (index % 2 === 0 ? Number(digit) : Number(digit) * 2 - (Number(digit) > 4 ? 9 : 0)))
    .reduce((sum, digit) => sum + digit, 0) %
    10 ===
  0;

/**
 * What Telegram makes tappable by itself in a text, as its library for clients finds it (find_entities), and phone
 * numbers, which its apps find. https://core.telegram.org/api/entities
 */
const detectors: Readonly<Record<string, Detector>> = {
  command: matches(/(?<![\p{L}\p{N}_/<>])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\p{L}\p{N}_/<>])/gu),
  mention: matches(/(?<![\p{L}\p{N}_])@[A-Za-z0-9_]{2,32}(?![\p{L}\p{N}_])/gu),
  hashtag: matches(/(?<![\p{L}\p{N}_])#[\p{L}\p{N}_]{1,256}(?![\p{L}\p{N}_#])/gu, (tag) => /\p{L}/u.test(tag)),
  cashtag: matches(/(?<![\p{L}\p{N}_$])\$(?:1INCH|[A-Z]{1,8})(?![\p{L}\p{N}_$])/gu),
  url: matches(/(?:(?:https?|ftp|tg|ton):\/\/)?[^\s<>"«»()[\]{}'`,;!?#/\\|=*&%^]+(?:[/?#][^\s<>"«»]*)?/giu, isUrl),
  email: matches(/(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9][\w-]*\.){1,6}[A-Za-z]{2,8}(?![A-Za-z])/g),
  card: matches(/(?<![\p{L}\p{N}_+.,-])\d(?:[ -]?\d){12,18}(?![\p{L}\p{N}_-])/gu, (text) =>
    luhn(text.replace(/\D/g, '')),
  ),
  phone: matches(/\+\d(?:[ .-]?\(?\d\)?){6,18}(?!\d)/g),
};

/** What people could tap in such a message, apart from its buttons. Code is left alone. */
export function tappableIn(html: string): string[] {
  const { text, code } = readHtml(html);
  const isInCode = ({ from, to }: Range): boolean => code.some((block) => block.from <= from && to <= block.to);
  return Object.entries(detectors).flatMap(([kind, detect]) =>
    detect(text)
      .filter((found) => !isInCode(found))
      .map(({ from, to }) => `${kind} ${text.slice(from, to)}`),
  );
}
