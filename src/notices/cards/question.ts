import type { Remediation } from '../../kube/remediation.ts';
import { redact } from '../../lib/redact.ts';
import { isDiffShownWhole } from './body.ts';
import { type CardContext, cardContext, type MessageContext } from './card-context.ts';
import { composeCard } from './compose.ts';
import type { CardRow, Line, Message } from './message.ts';
import { actionWords } from './subject.ts';
import { timesIn } from './times.ts';

/**
 * The longest diff that every vendor shows whole beside a headline and the buttons: Telegram takes 4096 characters in
 * all, and each channel cuts exact text that is longer than 2000.
 */
const longestDiff = 2_800;
const longestPiece = 1_800;

type Asked = NonNullable<CardContext['confirming']>;

/**
 * One Remediation with its whole diff, its yes and its way back, for whoever pressed Approve beside less than that.
 * undefined if no chat can show the diff: what cannot be seen cannot be approved.
 */
export function composeQuestion(
  fix: Remediation,
  context: MessageContext,
  { asked, isWritten }: { asked: Asked; isWritten: boolean },
): Message | undefined {
  const diff = redact(fix.status?.preview?.diff.trimEnd() ?? '');
  if (diff.length > longestDiff) return undefined;
  const own: CardContext = {
    ...cardContext(fix, context),
    confirm: fix.spec.action ? [fix.spec.action.type] : [],
    confirming: asked,
  };
  const card = composeCard(fix, own);
  const rows = isDiffShownWhole(fix, own) ? card.rows : fixWhole(fix, diff);
  const until = timesIn(context.timeZone, context.nowMs).atZoned(asked.untilMs);
  const rest = isWritten ? { rest: `Press Yes, or write the same again, until ${until}.` } : {};
  return { cards: [{ ...card, rows }], ...rest, silent: true };
}

/** There is room for the diff and for little else. The rest is behind Details. */
function fixWhole(fix: Remediation, diff: string): CardRow[] {
  const summary = actionWords(fix)?.summary ?? '';
  return [{ label: 'Fix', lines: [summary, ...inPieces(diff)] }];
}

/** Cut between lines, so that each piece is short enough; a line that is longer alone is cut within. */
function inPieces(diff: string): Line[] {
  const pieces: string[] = [];
  for (const text of diff.split('\n').flatMap((line) => line.match(/.{1,1800}/gu) ?? [''])) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= longestPiece)
      pieces[pieces.length - 1] = `${last}\n${text}`;
    else pieces.push(text);
  }
  return pieces.map((code) => ({ code }));
}
