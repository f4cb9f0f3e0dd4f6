import { scrub } from './log.ts';

/**
 * Removes what must not appear in a chat from text that somebody else wrote: event messages, last lines of a container,
 * log lines. In doubt it is removed: a missing word is a nuisance, a password in a chat stays for ever. Every
 * repetition in a pattern is bounded or cannot overlap another, so that no text, however odd, takes long.
 */
const hidden = '[redacted]';

type Rule = [pattern: RegExp, by: string | ((match: string, ...groups: string[]) => string)];

/**
 * Every quota of Secrets says how many there may be, with exactly this word ("secrets: 10"), so that is not redacted.
 */
const secret = String.raw`secret(?!(?<=(?<![\w.-])secret)s\\{0,8}["']?\s{0,8}[:=]\s{0,8}\\{0,8}["']?\d{1,9}(?![\w.-]))`;
/** Names whose value is secret, also as part of a longer name: DB_PASSWORD, x-api-key, clientSecret. */
const secretive =
  `passwords?|passwd|passphrase|passcode|pwd|${secret}|tokens?|credentials?|(?:api|access|private|encryption|signing|account)[-_. ]?key|` +
  'signature|session[-_. ]?id|cookie|connection[-_. ]?string|dsn|webhook[-_. ]?url';
/** These only as a whole word, or as the last word of a name: "author" is not a secret. */
const word = '(?:key|sig|pass|pw|auth)(?![A-Za-z])';
const name = String.raw`(?:(?:${secretive})[\w.-]{0,40}|(?:(?<![\w-])|[-_.])${word})`;
const secretName = new RegExp(`${secretive}|^(?:key|sig|pass|auth)$|key$|pass$|[-_.]pw$|auth$|auth[-_.]`, 'i');

/** Whether a name alone implies that its value is secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);

const quoted = String.raw`(?<q>\\+)"[^\n]{0,500}?\k<q>"|"(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?`;
/** NAME=value, name: value. Redacted up to the next space, whatever is in between. */
const bareName = new RegExp(
  String.raw`(${name}\s{0,8}(?:=>|=|:\s)\s{0,8})(?:${quoted}|(?!\[redacted])[^\s"']\S*)`,
  'gi',
);
/** name:value, unless it is an image and its tag: "shop/token-service:1.42". */
const tightName = new RegExp(
  String.raw`(?<!\/[\w.-]{0,60})(${name}:)(?!v?\d+\.\d+[\w.-]{0,20}(?!\w))(?:${quoted}|(?!\[redacted])[^\s"']\S*)`,
  'gi',
);
/** "name": value, unless kubelet wrote it: volume "db-credentials" : secret "db-credentials" not found */
const quotedName = new RegExp(
  String.raw`(?<!volume ["'][\w.-]{0,60})(${name}\\{0,8}["']\s{0,8}(?:=>|[:=])\s{0,8})(?:${quoted}|(?!\[redacted])[^\s"',}]+)`,
  'gi',
);
/** --name value, only where a word begins: "user-auth exits 1" does not match. */
const flag = new RegExp(
  String.raw`((?<![\w.-])-{1,2}[\w.-]{0,40}?(?:(?:${secretive})[\w.-]{0,40}|${word})[ \t]{1,8})(?:${quoted}|(?!\[redacted])[^\s"'-]\S*)`,
  'gi',
);

const looksMade = (word: string): boolean => word.length >= 24 || /[\dA-Z+/=~]/.test(word);
const isMixed = (word: string): boolean => /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word);

const rules: readonly Rule[] = [
  // A key whose beginning or end is outside of the given text is still a key.
  [/-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY[\s\S]*?(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,8}-----|$)/g, hidden],
  [/^[\s\S]*-----END [A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,8}-----/g, hidden],
  // Redacted to the end of the line, because anything may follow the first word.
  [/((?:authorization|(?:set-)?cookie|passphrase)\\*["']?\s{0,8}[:=]\s{0,8})[^\n]+/gi, `$1${hidden}`],
  [
    /(bearer|basic)(\s{1,8})([A-Za-z0-9._~+/=-]{8,})/gi,
    (all, scheme, gap, word) => (looksMade(word!) ? `${scheme}${gap}${hidden}` : all),
  ],
  // The user:password@ of an address. A port is not a password, and an image's digest is not an address.
  [/([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'<>/@:]{0,128}:(?!\d+(?:[/?#\s"']|$))[^\s"'<>]{0,512}@/gi, `$1${hidden}@`],
  [/([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'<>/@]{1,512}@/gi, `$1${hidden}@`],
  // An address that was cut off before its @: at the very end, and neither a port nor a version.
  [
    /([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s"'<>/@:[\]]{1,128}:(?!v?\d+(?:\.\d[\w.-]*)?[…\s]*$)[^\s"'<>/@]{1,512}\s*$/gi,
    `$1${hidden}`,
  ],
  [/[^\s"'<>/@:]{1,64}:[^\s"'<>]{1,256}@(?=(?:tcp|unix|udp)\()/gi, `${hidden}@`], // as Go's MySQL driver writes it
  [bareName, `$1${hidden}`],
  [tightName, `$1${hidden}`],
  [quotedName, `$1${hidden}`],
  [flag, `$1${hidden}`],
  // Secrets that are recognised by their form.
  [/(?:AKIA|ASIA|AROA|AIDA)[0-9A-Z]{16}/g, hidden],
  [/AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}/g, hidden],
  [/gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}/g, hidden],
  [/(?<![A-Za-z0-9])(?:npm_|pypi-|hf_|hvs\.|dop_v1_|[sr]k_(?:live|test)_|whsec_|SG\.|sk-)[A-Za-z0-9_.-]{16,}/g, hidden],
  [/https:\/\/hooks\.slack\.com\/\S+/gi, hidden],
  [/[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,}/gu, '[email]'],
  // Long and with all sorts of characters: no name in Kubernetes looks like that, but keys do.
  [/[A-Za-z0-9+/_-]{40,}={0,2}/g, (word) => (isMixed(word) ? hidden : word)],
];

/** The same text without anything that looks like a secret or an email address. */
export const redact = (text: string): string =>
  rules.reduce(
    (clean, [pattern, by]) => clean.replace(pattern, by as string),
    scrub(text).replaceAll('[secret]', hidden),
  );
