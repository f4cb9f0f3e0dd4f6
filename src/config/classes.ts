import { z } from 'zod';
import { isLiteral } from '../lib/glob.ts';
import { editsApart } from '../lib/edits.ts';
import { closest, didYouMean } from './did-you-mean.ts';
import { addIssue, anyText, duration, oneOf, text, yesOrNo } from './fields.ts';
import { classNames, severityNames } from './vocabulary.ts';

const patience = duration('0s', '24h');
const glob = anyText('a name or a pattern', 'such as "nightly-*"; * matches any run of characters, ? one');

const ignoreRule = z
  .strictObject({
    namespace: glob.optional(),
    kind: glob.optional(),
    name: glob.optional(),
    class: glob.optional(),
  })
  .superRefine(
    (rule, context) => {
      if (Object.keys(rule).length === 0)
        addIssue(context, {
          wrong: 'is empty and would ignore everything',
          hint: 'give it a namespace, kind, name or class',
        });
    },
    // A rule whose only key is mistyped is not empty.
    { when: ({ issues }) => issues.length === 0 },
  );

/** As the CRD has it: with a longer one every Remediation would be refused. */
const longestClass = 64;

const extraReason = z
  .strictObject({
    reason: text(
      'an event reason',
      /^\S+$/,
      'one word, as in the REASON column of kubectl get events',
      'such as reason: CertificateExpired',
    ),
    class: text(
      'a class name',
      /^[A-Z][A-Za-z0-9]{0,63}$/,
      'one word of at most 64 letters and digits that begins with a capital letter',
    ).optional(),
    severity: oneOf(severityNames).prefault('warning'),
    for: patience.prefault('1m'),
  })
  .superRefine(({ reason, class: own }, context) => {
    if (own === undefined && reason.length > longestClass)
      addIssue(
        context,
        {
          wrong: `is longer than the ${longestClass} characters of a class, and would be its own`,
          hint: `name a class of at most ${longestClass} characters beside it, such as class: BackupFailed`,
        },
        ['reason'],
      );
  })
  .transform((extra) => ({ ...extra, class: extra.class ?? extra.reason }));

const classRule = z.strictObject({
  enabled: yesOrNo.optional(),
  for: patience.optional(),
  severity: oneOf(severityNames).optional(),
});

export const ignore = z.array(ignoreRule).prefault([]);
export const classes = z.record(z.string(), classRule).prefault({});
export const extraReasons = z.array(extraReason).prefault([]);

interface Named {
  classes: Record<string, unknown>;
  ignore: { class?: string }[];
  extraReasons: { class: string }[];
}

/** Class names are a closed list, plus those that extraReasons brings. */
export function reportUnknownClasses({ classes, ignore, extraReasons }: Named, context: z.core.$RefinementCtx): void {
  const own = listIn(extraReasons)
    .map((extra) => extra?.class)
    .filter((name) => typeof name === 'string');
  const known: string[] = [...classNames, ...own];
  const complain = (name: string, path: PropertyKey[], words = known): void =>
    addIssue(context, { wrong: `there is no class ${JSON.stringify(name)}`, hint: didYouMean(name, words) }, path);

  // A list in its place is another mistake, and told as that.
  const named = Array.isArray(classes) ? [] : Object.keys(classes ?? {});
  for (const name of named) if (!known.includes(name)) complain(name, ['classes', name]);
  for (const [index, rule] of listIn(ignore).entries()) {
    const name = rule?.class;
    if (typeof name === 'string' && isLiteral(name) && !known.includes(name))
      complain(name, ['ignore', index, 'class']);
  }
  for (const [index, name] of own.entries()) {
    const near = closest(name, classNames);
    if (near && near !== name && editsApart(name, near) <= 1) complain(name, ['extraReasons', index, 'class'], [near]);
  }
}

const listIn = <T>(value: readonly T[]): readonly T[] => (Array.isArray(value) ? value : []);
