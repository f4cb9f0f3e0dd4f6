import * as fc from 'fast-check';
import { phases, type Phase, type Remediation } from '../../src/kube/remediation.ts';
import { aFix, aNotice, aQuotaFix, at, condition, executed, type FixOptions } from '../support/fixes.ts';

/** The same texts each time; SEED=n makes others. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

/* What a cluster, a person or an attacker may write, as far as the resource's schema lets it through. */
const nasty = fc.constantFrom(
  '<b>',
  '</b>',
  '</pre>',
  '<a href="tg://user?id=1">',
  '&amp;',
  '&#60;',
  '&',
  '<',
  '>',
  '"',
  "'",
  '<!--',
  '😀',
  '👨‍👩‍👧‍👦',
  '🇩🇪',
  '\u202e',
  '\u2066',
  '\u200f',
  'שלום',
  'مرحبا',
  'ﷺ',
  '\u0301',
  '\n',
  '\t',
  '\u0085',
  '\u2028',
  '\u00ad',
  '\ufeff',
  '…',
  '`',
  '*',
  '_',
  '[x](y)',
  '@everyone',
  '/approve',
  ' ',
  ' /approve ',
  '(/approve@tapfix_bot)',
  ' @ada ',
  ' #incident ',
  ' $USD ',
  ' evil.com ',
  'https://evil.com/x?y#z',
  ' tg://resolve?domain=x ',
  ' 10.0.0.1:8080/approve ',
  ' пример.рф ',
  ' ada@evil.com ',
  ' +49 170 1234567 ',
  ' 4111 1111 1111 1111 ',
  '<!here>',
  '<@U123>',
  '<https://evil.com|here>',
  ':fire:',
  '\u200b',
  '\u200d',
  '\u2060',
  '\u061c',
  '\u034f',
  '\u3164',
  '\u115f',
  '\ufe0f',
  '\u180e',
  '\u{e0041}\u{e007f}',
  '\u{e0100}',
  '\ufff9',
  '\ue000',
  '\u{10ffff}',
);
const piece = fc.oneof(
  nasty,
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('word', 'x'.repeat(200), '&'.repeat(90), '<'.repeat(90), '😀'.repeat(60)),
);
/** What must never be seen in a chat, as somebody's program may log it. */
export const secrets = ['hunter2-s3cr3t-Zq9', 'AKIAIOSFODNN7EXAMPLE', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx', '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'] as const; // prettier-ignore
const [plain, aws, git, slack, telegram, key, jwt, hex] = secrets;
const planted = fc.constantFrom(
  ` password=${plain} `,
  ` DB_PASSWORD: "${plain}" `,
  ` postgres://app:${plain}@db:5432/shop `,
  ` {"token": "${plain}"} `,
  ` aws ${aws} `,
  ` git clone https://${git}@github.com/x/y `,
  ` slack ${slack} `,
  ` https://api.telegram.org/bot${telegram}/sendMessage `,
  `\n-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`,
  ` Authorization: Bearer ${jwt}\n`,
  ` the password is ${plain} `,
  ` pass\u200bword=${plain} `,
  ` curl -u ada:${plain} https://x `,
  ` mysql -p${plain} `,
  ` key ${hex} `,
  ` Exec lifecycle hook ([sh -c ${plain}]) for Container "app" failed `,
);

/**
 * Each text bears a number of its own, so that it is known again in what a renderer is handed: most of what a Remediation
 * says is on its card, much only in its Details, some nowhere. Where a secret was planted is remembered.
 */
const mark = fc.noBias(fc.nat()).map((n) => `¤${n.toString(36)}¤`);
const plantedIn = new Set<string>();
export const leaks = (text: string): string[] => secrets.filter((secret) => text.includes(secret));

/** Counts the texts, and those with a secret, that reached a renderer. */
export function countTexts() {
  const texts = new Set<string>();
  return {
    hand: (message: object): void => {
      for (const [marked] of JSON.stringify(message).matchAll(/¤[0-9a-z]+¤/g)) texts.add(marked);
    },
    texts: (): number => texts.size,
    planted: (): number => [...texts].filter((marked) => plantedIn.has(marked)).length,
  };
}

const fitted = (text: string, max: number): string =>
  text
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, ' ')
    .slice(0, max)
    .replace(/[\uD800-\uDBFF]$/, '');
/** Now and then nothing, or much of the same. */
const times = fc.oneof(
  { arbitrary: fc.constant(1), weight: 26 },
  { arbitrary: fc.constantFrom(4, 4, 4, 40), weight: 4 },
  { arbitrary: fc.constant(0), weight: 1 },
);
const textOf = (of: fc.Arbitrary<string>, max: number): fc.Arbitrary<string> =>
  fc.tuple(fc.array(of, { maxLength: 40 }), fc.nat(), mark, times).map(([pieces, at, marked, often]) => {
    const whole = pieces.toSpliced(at % (pieces.length + 1), 0, marked).join('');
    const text = fitted(whole.repeat(often), max);
    if (leaks(text).length > 0) plantedIn.add(marked);
    return text;
  });
/** Never longer than the schema allows, and mostly short. */
const names = (max: number) => textOf(piece, max);
export const words = (max: number) =>
  textOf(fc.oneof({ arbitrary: piece, weight: 15 }, { arbitrary: planted, weight: 1 }), max);
/** What no schema saw: a line of a megabyte. */
export const megabyte = words(1_000).map((text) => (text || 'x').repeat(Math.ceil(1_048_576 / (text.length || 1))));
const lines = fc.array(words(512), { maxLength: 10 });

const options: fc.Arbitrary<FixOptions & { make: number }> = fc
  .record({
    make: fc.nat(2),
    n: fc.integer({ min: 1, max: 99 }),
    name: fc.oneof(fc.constantFrom('checkout', 'a', 'x'.repeat(253)), names(253).filter(Boolean)),
    phase: fc.oneof(fc.constant('Proposed' as const), fc.constantFrom(...phases)),
    state: fc.constantFrom('Pending', 'Pending', 'Pending', 'Approved', 'Rejected'),
    by: fc.constantFrom('telegram:123456789', 'telegram:1', '<b>ada</b>@example.com'),
    texts: fc.tuple(words(512), words(2048), words(8192), words(4096), words(512), words(1024)),
    changed: lines,
    evidence: lines,
    affected: fc.array(names(317), { maxLength: 50 }),
    severity: fc.constantFrom('critical' as const, 'warning' as const, 'info' as const),
  })
  .map(({ make, n, name, phase, state, by, texts, changed, evidence, affected, severity }) => {
    const [diagnosis, rationale, diff, undo, note, said] = texts;
    const status = {
      preview: { diff, targetHash: 'h', at: at('02:12:36') },
      execution: { ...executed, undo },
      sightings: { count: n, lastSeen: at('02:12:34'), ready: 0, desired: n, affected },
    };
    return {
      make,
      n,
      name,
      phase: phase as Phase,
      approval: { state: state as 'Pending', by, note, at: at('02:14:10') },
      incident: { severity },
      spec: { diagnosis, rationale, context: { changed, evidence } },
      conditions: [condition(phase, '02:14:12', { message: said })],
      status,
    };
  });
/** Any Remediation that the resource's schema lets through. */
export const anyFix = options.map(({ make, ...over }): Remediation => [aFix, aQuotaFix, aNotice][make]!(over));
