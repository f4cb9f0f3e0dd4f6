import { redact } from '../../lib/redact.ts';

/** A made-up word: letters and digits. "password authentication failed" has none. */
const made = String.raw`(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])`;
const shown = '[redacted]';

/** What programs say of their own accord, where a secret may follow its name as in a sentence. */
const rules: readonly RegExp[] = [
  new RegExp(String.raw`(?<![\w-])((?:pass(?:word|wd|phrase|code)?|pwd|pw)\s{1,3}(?:is\s{1,3}|was\s{1,3})?)(?:"[^"\n]+"|'[^'\n]+'|${made}[^\s"'[]{4,})`, 'gi'), // prettier-ignore
  new RegExp(String.raw`(?<![\w-])((?:token|bearer|(?:api|access|secret)[-_ ]?key)\s{1,3}(?:token\s{1,3}|is\s{1,3})?)${made}[\w.~+/=-]{6,}`, 'gi'), // prettier-ignore
  /((?<![\w-])(?:-u|--user)[\s=]{1,3}[^\s:]{1,64}:)(?!\d+(?:\s|$))\S+/g,
  /(\b[a-z][A-Za-z0-9]{0,40}(?:Pass|Pw)\s{0,4}[=:]\s{0,4})(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"']+)/g,
  /((?<![\w./-])[\w.-]{1,64}\/)[^\s@/]{1,128}(?=@\/\/)/g, // as Oracle's clients write it
];

/** The same text without what looks like a secret: of logs and last words, which nobody has read before. */
export const redactProse = (text: string): string =>
  redact(rules.reduce((clean, rule) => clean.replace(rule, `$1${shown}`), text));
