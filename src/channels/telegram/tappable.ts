/*
 * Telegram makes links of what looks like one, whoever wrote it: a tap on "/approve" in a container's last words sends
 * that command. It leaves code alone, so whatever it could take for a link is shown as code, and can still be read and
 * copied. The rules here take more than Telegram does, which also depends on the server and on each phone.
 */

/** A command at the start of a word: /approve, but neither shop/web nor /var/lib. */
const command = /(?<![A-Za-z0-9_/])\/[A-Za-z0-9_]{1,64}(?![A-Za-z0-9_/])/;
const mention = /(?<![A-Za-z0-9_])@[A-Za-z0-9_]/;
const hashtag = /#[^\s#]*[\p{L}_]/u;
const cashtag = /\$(?:[A-Z]|1INCH)/;
const address = /:\/\//;
/** A name with a dot in it: evil.com, main.py, 10.0.0.1. */
const dotted = /\.(?:xn--|\p{L}{2})/u;
const ipAddress = /\d{1,3}(?:\.\d{1,3}){3}/;

/** Top-level domains that do not exist and never will (RFC 2606, RFC 6762, ICANN's .internal), and what quotas count. */
const noDomain =
  /\.(?:internal|local|localhost|test|example|invalid|cpu|memory)(?![\p{L}\p{N}_-])(?!\.[\p{L}\p{N}])/giu;

const links: readonly RegExp[] = [command, mention, hashtag, cashtag, address, dotted, ipAddress];

const isLink = (word: string): boolean => {
  const rest = address.test(word) || word.includes('@') ? word : word.replace(noDomain, '');
  return links.some((link) => link.test(rest));
};

/** The number of a phone or a card, which may have spaces in it; not a date. */
const number = /(?:\+\(?|(?<![\p{L}\p{N}_-])\(?)\d[\d ().-]{5,40}\d/gu;
const isNumber = (text: string): boolean => text.replace(/\D/g, '').length >= 7 && !/^\d{4}-\d\d-\d\d$/.test(text);

interface Part {
  text: string;
  tappable: boolean;
}

/** The text in parts, each as long as possible. A word is in one part, whatever stands in it. */
export function partsOf(text: string): Part[] {
  const numbers = [...text.matchAll(number)]
    .filter(([match]) => isNumber(match))
    .map(({ 0: match, index }) => ({ from: index, to: index + match.length }));
  const parts: Part[] = [];
  for (const { 0: piece, index } of text.matchAll(/\S+|\s+/gu)) {
    const isInNumber = numbers.some(({ from, to }) => from < index + piece.length && index < to);
    const tappable = isInNumber || isLink(piece);
    const last = parts.at(-1);
    if (last?.tappable === tappable) last.text += piece;
    else parts.push({ text: piece, tappable });
  }
  return parts;
}
