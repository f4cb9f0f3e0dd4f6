import type { Remediation } from '../../kube/remediation.ts';
import { redact } from '../../lib/redact.ts';
import { showsWholeDiff } from './body.ts';
import { type CardContext, cardContext, type MessageContext } from './card-context.ts';
import { composeMessage } from './compose.ts';
import type { Line, Message } from './message.ts';
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
  const confirm = fix.spec.action ? [fix.spec.action.type] : [];
  const own: MessageContext = { ...context, confirm, confirming: () => asked };
  const [card] = composeMessage([fix], own).cards;
  if (!card) return undefined;
  const lines = [...card.rows.flatMap((row) => row.lines), ...card.footer];
  const isThere = diff === '' || lines.some((line) => typeof line !== 'string' && 'code' in line && line.code === diff);
  const isWhole = isThere && showsWholeDiff(fix, cardContext(fix, own));
  const rows = isWhole ? card.rows : [{ label: 'Change', lines: inPieces(diff) }];
  const until = timesIn(context.timeZone, context.nowMs).atZoned(asked.untilMs);
  const rest = isWritten ? { rest: `Press Yes, or write the same again, until ${until}.` } : {};
  return { cards: [{ ...card, rows }], ...rest, silent: true };
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
