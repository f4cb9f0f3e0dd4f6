import type { About, Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import { composeMessage, withoutReplaced } from './compose.ts';
import type { MessageContext } from './context.ts';
import { countsOf, type Wanted } from './due.ts';
import { asShown } from './left.ts';
import type { Message } from './message.ts';
import { reminderOf } from './reminder.ts';
import { composeReminder } from './reminder-words.ts';
import { stateHash } from './state.ts';
import { stormHash } from './storm-words.ts';
import { composeSystem, systemHash } from './system-words.ts';

/** What a message is made from: Remediations, or what tapfix has to say about itself. */
export interface Content {
  members: Remediation[];
  system?: { about: About; found: number };
}

/** A storm grows by the second; nobody reads as fast. */
export const stormEveryMs = 30_000;

/** What it ought to show, and how it says that. */
export function renderingOf(
  notice: Notice,
  { members, system }: Content,
  context: MessageContext,
): { wanted: Wanted; message(): Message } {
  if (system) {
    const { about, found } = system;
    const wanted = { shown: systemHash(about, found), counts: undefined };
    return { wanted, message: () => composeSystem(about, found, context) };
  }
  const shown = asShown(members, context);
  if (notice.spec.form === 'storm') {
    const current = withoutReplaced(shown);
    const wanted = { shown: stormHash(current), counts: undefined, apartMs: stormEveryMs };
    return { wanted, message: () => composeMessage(current, context, notice.spec.form) };
  }
  const reminder = notice.spec.form === 'reminder' ? reminderOf(notice) : undefined;
  if (reminder) {
    const wanted = { shown: reminder.kind, counts: undefined }; // said once, and true of that moment: never edited
    return { wanted, message: () => composeReminder(reminder.kind, members, context) };
  }
  const wanted = { shown: stateHash(shown, context), counts: countsOf(shown) };
  return { wanted, message: () => composeMessage(shown, context, notice.spec.form) };
}

/** Signals that were waiting to be seen come at once; whose they are takes a moment. */
const catchingUpMs = 15_000;
/** Until everything that was found has had its patience. */
const countingMs = 600_000;

/** Pure. How many of these incidents nobody could have seen before it could see again. */
export function foundAfter(about: About, fixes: readonly Remediation[]): number {
  if (about.what !== 'blind') return 0;
  const [fromMs, untilMs] = [Date.parse(about.from), Date.parse(about.until) + catchingUpMs];
  const isFound = ({ spec }: Remediation): boolean => {
    const seenMs = Date.parse(spec.incident.firstSeen);
    return seenMs > fromMs && seenMs <= untilMs;
  };
  return new Set(fixes.filter(isFound).map(({ spec }) => spec.incident.key)).size;
}

/** Later its number stays as it is: Remediations are deleted some day. */
export const isCounting = (about: About, nowMs: number): boolean =>
  about.what === 'blind' && nowMs < Date.parse(about.until) + countingMs;
