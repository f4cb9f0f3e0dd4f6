import { cut } from './cut.ts';

/**
 * Control characters, and those that make a line read in another order than it is written: on a card, which somebody
 * approves by what it says, they are nothing but a trick. Newline and tab stay.
 */
// oxlint-disable-next-line no-control-regex
const unprintable = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Text that the resource's schema accepts and a phone can show, cut to fit. */
export const plain = (text: string, maxLength: number): string => cut(text.replace(unprintable, ' '), maxLength);

/** The same on one line. */
export const line = (text: string, maxLength: number): string =>
  plain(plain(text, text.length).replace(/\s+/g, ' ').trim(), maxLength);
