import { scrub } from './log.ts';
import { visible } from './text.ts';

/**
 * Removes what must not appear in a chat from text that somebody else wrote: event messages, last lines of a container,
 * log lines. In doubt it is removed: a missing word is a nuisance, a password in a chat stays for ever. Every
 * repetition in a pattern is bounded or cannot overlap another, so that no text, however odd, takes long.
 */
export const hidden = '[redacted]';

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

/** Words that follow the name of a secret and do not tell it: "the token is expired". */
const remarks =
  '(?:not|no|a|an|the|too|in|on|at|for|from|of|to|by|with|as|and|or|but|if|it|that|this|wrong|invalid|incorrect|required|' +
  'missing|expired|empty|blank|unknown|unset|set|unused|used|needed|mandatory|optional|null|nil|undefined|ok|valid|correct|' +
  'good|bad|weak|short|long|longer|shorter|shared|unavailable|available|disabled|enabled|absent|present|different|the same|' +
  'being|been|already|still|now|never|always|only|about|stale|revoked|rejected|refused|denied|malformed|managed|stored|' +
  'mounted|rotated|read|written|checked|hashed|encrypted|supported|allowed|forbidden|accepted|given|provided|found|lost)';
/** A generated word: letters and digits. "password authentication failed" has none. */
const made = String.raw`(?=\S{0,200}\d)(?=\S{0,200}[A-Za-z])`;
const spoken = String.raw`(?<![\w-])(?:pass(?:word|wd|phrase|code)?|pwd|pw|secret|(?:auth |access |bearer )?token|(?:api|access|secret|private)[-_ ]?key)`;
const someQuoted = String.raw`"[^"\n]{1,500}"?|'[^'\n]{1,500}'?`;

/** Sentences of programs, in which a secret follows its name as in speech. */
const sentences: readonly Rule[] = [
  // "password is hunter2", "the token was 'x y'"; not "the token is expired".
  [
    new RegExp(
      String.raw`(${spoken}\s{1,3}(?:is|was|equals|set to|changed to)(?: now)?:?\s{1,3})(?!\[redacted]|${remarks}(?![\w-])(?!['"]))(?:${someQuoted}|\S+)`,
      'gi',
    ),
    `$1${hidden}`,
  ],
  // "password hunter2", "with token abc123"
  [
    new RegExp(
      String.raw`((?<![\w/-])(?:pass(?:word|wd|phrase|code)?|pwd|pw)\s{1,3})(?:${someQuoted}|${made}[^\s"'[-][^\s"'[]{3,})`,
      'gi',
    ),
    `$1${hidden}`,
  ],
  [
    new RegExp(
      String.raw`((?<![\w/-])(?:token|bearer|(?:api|access|secret)[-_ ]?key)\s{1,3}(?:token\s{1,3})?)${made}[\w.~+/=][\w.~+/=-]{5,}`,
      'gi',
    ),
    `$1${hidden}`,
  ],
  // curl -u user:password. Two numbers are a user and a group.
  [
    /((?<![\w-])(?:-u|--user|--proxy-user|-U)[\s=]{0,3}(?!\d+:\d+(?:\s|$))["']?[^\s:"'-][^\s:"']{0,63}:)(?!\[redacted])\S+/g,
    `$1${hidden}`,
  ],
  // mysql -pSECRET, and what is as obviously no word and no port: -phunter2
  [/((?:mysql|mariadb|sshpass)[\w-]{0,20}(?:\s[^\n]{0,200}?)?\s-p[ \t]?)(?!\[redacted])\S+/gi, `$1${hidden}`],
  [
    /((?<![\w-])-p)(?=[^\s=:/]{0,100}[A-Z\d])(?!\d[\d.:/-]*(?:\/?(?:tcp|udp))?(?:[\s,;)\]"']|$))[^\s=:/[]\S{2,}/g,
    `$1${hidden}`,
  ],
  [/(\b[a-z][A-Za-z0-9]{0,40}(?:Pass|Pw)\s{0,4}[=:]\s{0,4})(?:"[^"\n]*"?|'[^'\n]*'?|[^\s"']+)/g, `$1${hidden}`],
  [/((?<![\w./-])[\w.-]{1,64}\/)[^\s@/]{1,128}(?=@\/\/)/g, `$1${hidden}`], // the notation of Oracle's clients
];

/** Messages of Kubernetes that quote what a pod template holds: a secret has no form there, only a position. */
const quotations: readonly Rule[] = [
  [/(\bprobe (?:failed|errored[^:\n]{0,60}): Get "[^\s"?]{1,500}\?)[^"\n]{1,2000}/g, `$1${hidden}`],
  [
    /((?:Exec|HTTP|PostStart|PreStop|lifecycle) ?(?:lifecycle )?hook \()[^\n]{0,2000}?(\) for Container|\) (?:failed|exited)|$)/gi,
    `$1${hidden}$2`,
  ],
  [/(\bcommand (?:timed out: )?")[^\n]{0,2000}?(" timed out|"$|$)/gim, `$1${hidden}$2`],
  [
    /((?:\benv\[\d+\]\.value|\b(?:args|command)(?:\[\d+\])?|\bhttpHeaders\[\d+\]\.value|\bannotations(?:\.\S{1,300}|\[[^\]\n]{1,300}\])?|\bvolumeAttributes(?:\[[^\]\n]{1,300}\])?): (?:Invalid|Unsupported|Duplicate|Forbidden|Required|Too long|Too many)[^:\n]{0,20}: )(?:"(?:[^"\\\n]|\\.)*"?|\S+?)(?=:? |$)/g,
    `$1${hidden}`,
  ],
];

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
  ...quotations,
  ...sentences,
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
  // Hexadecimal digits of a key. The digest of an image, a commit (40 digits) and the id of a container are no keys.
  [/(?<![\w:@/+=-])(?<!(?:sandbox|container|containerID|id) "?)(?=[a-f]*\d)[0-9a-f]{48,}(?![\w+/=-])/gi, hidden],
  // Long and with all sorts of characters: no name in Kubernetes looks like that, but keys do.
  [/[A-Za-z0-9+/_-]{40,}={0,2}/g, (word) => (isMixed(word) ? hidden : word)],
];

/** The same text without anything that looks like a secret or an email address. */
export const redact = (text: string): string =>
  rules.reduce(
    (clean, [pattern, by]) => clean.replace(pattern, by as string),
    scrub(visible(text)).replaceAll('[secret]', hidden), // an invisible character could hide a name from the rules
  );
