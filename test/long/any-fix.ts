import * as fc from 'fast-check';
import { phases, type Phase, type Remediation } from '../../src/kube/remediation.ts';
import { aFix, aNotice, aQuotaFix, at, condition, executed, type FixOptions } from '../support/fixes.ts';

/** The same texts each time; SEED=n makes others. */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

/* What a cluster, a person or an attacker may write, as far as the resource's schema lets it through. */
const nasty = fc.constantFrom('<b>', '</b>', '</pre>', '<a href="tg://user?id=1">', '&amp;', '&#60;', '&', '<', '>', '"', "'", '<!--', '😀', '👨‍👩‍👧‍👦', '🇩🇪', '\u202e', '\u2066', '\u200f', 'שלום', 'مرحبا', 'ﷺ', '\u0301', '\n', '\t', '\u0085', '\u2028', '\u00ad', '\ufeff', '…', '`', '*', '_', '[x](y)', '@everyone', '/approve', ' '); // prettier-ignore
const piece = fc.oneof(nasty, fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constantFrom('word', 'x'.repeat(200), '&'.repeat(90), '<'.repeat(90), '😀'.repeat(60))); // prettier-ignore
/** What must never be seen in a chat, as somebody's program may log it. */
export const secrets = ['hunter2-s3cr3t-Zq9', 'AKIAIOSFODNN7EXAMPLE', 'ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx', '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsawX', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U'] as const; // prettier-ignore
const [plain, aws, git, slack, telegram, key, jwt] = secrets;
const planted = fc.constantFrom(` password=${plain} `, ` DB_PASSWORD: "${plain}" `, ` postgres://app:${plain}@db:5432/shop `, ` {"token": "${plain}"} `, ` aws ${aws} `, ` git clone https://${git}@github.com/x/y `, ` slack ${slack} `, ` https://api.telegram.org/bot${telegram}/sendMessage `, `\n-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`, ` Authorization: Bearer ${jwt}\n`); // prettier-ignore

/** How many texts were made, and how many of them hold a secret: thousands of Remediations have tens each. */
export const made = { texts: 0, planted: 0 };
export const leaks = (text: string): string[] => secrets.filter((secret) => text.includes(secret));

const fitted = (text: string, max: number): string => {
  const fit = text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, ' ').slice(0, max).replace(/[\uD800-\uDBFF]$/, ''); // prettier-ignore
  made.texts += 1;
  if (leaks(fit).length > 0) made.planted += 1;
  return fit;
};
const times = fc.constantFrom(1, 1, 1, 1, 4, 40);
/** Never longer than the schema allows, and mostly short. */
const names = (max: number) =>
  fc
    .tuple(fc.array(piece, { maxLength: 40 }), times)
    .map(([pieces, often]) => fitted(pieces.join('').repeat(often), max));
const words = (max: number) =>
  fc
    .tuple(
      fc.array(fc.oneof({ arbitrary: piece, weight: 15 }, { arbitrary: planted, weight: 1 }), { maxLength: 40 }),
      times,
    ) // prettier-ignore
    .map(([pieces, often]) => fitted(pieces.join('').repeat(often), max));
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
