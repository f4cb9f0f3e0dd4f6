import * as fc from 'fast-check';
import type { Remediation } from '../../src/kube/remediation.ts';
import type { EventView } from '../../src/kube/views.ts';
import { composeFarewell, composeMessage } from '../../src/notices/cards/compose.ts';
import { composeDetails } from '../../src/notices/cards/details.ts';
import type { Message } from '../../src/notices/cards/message.ts';
import { composePage } from '../../src/notices/cards/page.ts';
import { decodeAll, decodePage, decodePress } from '../../src/notices/payload.ts';
import { aContext } from '../golden/scenes.ts';
import { aFix, at } from '../support/fixes.ts';
import { anyFix, megabyte, words } from './any-fix.ts';

const notice = 'c0ffee00c0ffee00c0ffee00c0ffee00';
const asked = { by: 'telegram:1', name: '<Ada>', untilMs: Date.parse(at('02:14:50')) };
const anyContext = fc.boolean().map((asking) => aContext({ notice, confirming: () => (asking ? asked : undefined) }));

/** What was shown, and of how many Remediations. */
export interface Shown {
  fixes: number;
  messages: Message[];
}
const shown = (fixes: readonly Remediation[], ...messages: Message[]): Shown => ({ fixes: fixes.length, messages });

const anEvent = (message: string, count = 1): EventView => ({
  namespace: 'shop',
  name: 'e',
  uid: 'e',
  type: 'Warning',
  reason: 'BackOff',
  message,
  object: { kind: 'Pod', name: 'checkout-1', namespace: 'shop', uid: 'p' },
  count,
  lastSeenMs: Date.parse(at('02:12:34')),
});
const anyEvent = fc.tuple(words(1024), fc.constantFrom(1, 7)).map(([message, count]) => anEvent(message, count));
const alone = fc
  .tuple(anyFix, fc.option(fc.array(anyEvent, { maxLength: 10 }), { nil: undefined }), anyContext)
  .map(([fix, events, context]) => shown([fix], composeMessage([fix], context), composeDetails(fix, events, context)));

const several = (min: number, max: number) => fc.array(anyFix, { minLength: min, maxLength: max, size: 'max' });
const together = fc
  .tuple(several(2, 12), fc.constantFrom('card' as const, 'boot' as const), anyContext)
  .map(([fixes, form, context]) => shown(fixes, composeMessage(fixes, context, form), composeFarewell(fixes, context)));
const storm = fc
  .tuple(several(11, 45), fc.integer({ min: 1, max: 5 }), anyContext)
  .map(([fixes, page, context]) =>
    shown(fixes, composeMessage(fixes, context, 'storm'), composePage(fixes, context, { notice, page })),
  );

/** Mostly a card and its Details, which say nearly all; several in one message, storms and their pages besides. */
export const anyShown = fc.oneof(
  { arbitrary: alone, weight: 150 },
  { arbitrary: together, weight: 4 },
  { arbitrary: storm, weight: 1 },
);

/** What no schema saw. */
const placesOfWords = ['diagnosis', 'rationale', 'evidence', 'diff', 'event'] as const;
export const anyLongShown = fc.tuple(megabyte, fc.constantFrom(...placesOfWords)).map(([line, where]) => {
  const fix = aFix();
  if (where === 'diagnosis' || where === 'rationale') fix.spec[where] = line;
  if (where === 'evidence') fix.spec.context.evidence = [line];
  if (where === 'diff') fix.status!.preview!.diff = line;
  const events = where === 'event' ? [anEvent(line)] : [];
  const context = aContext();
  return shown([fix], composeMessage([fix], context), composeDetails(fix, events, context));
});

/** Whether tapfix would know what is meant when it is pressed. */
export const isKnown = (data: string): boolean =>
  Buffer.byteLength(data) <= 64 &&
  (decodePress(decodePage(data)?.inner ?? data) ?? decodePage(data) ?? decodeAll(data)) !== undefined;
