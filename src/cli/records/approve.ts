import { wrap } from '../../channels/console/console-text.ts';
import { rationaleParts, type Remediation } from '../../kube/remediation.ts';
import { iso } from '../../lib/clock.ts';
import { UserError } from '../../lib/errors.ts';
import { redact } from '../../lib/redact.ts';
import { visible } from '../../lib/text.ts';
import { fixWords } from '../../notices/cards/fix-words.ts';
import { actionWords, whatIsBroken } from '../../notices/cards/subject.ts';
import type { ClusterOptions, Session } from '../cluster-session.ts';
import { painted } from './columns.ts';
import { decide, deciderOf, mustBeDecidable } from './decision.ts';
import { findRecord } from './find-record.ts';

export interface ApproveOptions extends ClusterOptions {
  name: string;
  /** Nobody is asked. */
  yes: boolean;
}

/** `tapfix approve`: shows what would be done, asks, and records the decision under the person's own name. */
export async function runApprove({ name, yes }: ApproveOptions, session: Session): Promise<number> {
  const { io, terminal, clock } = session;
  const fix = await findRecord(name, session);
  const decider = await deciderOf(session);
  mustBeDecidable(fix, 'Approved', decider, session);
  io.print(proposalLines(fix, terminal.columns ?? 80, terminal.colour).join('\n'));
  const { namespace, name: own } = fix.metadata;
  if (!yes) {
    if (!terminal.ask)
      throw new UserError('nobody can be asked, because this is no terminal: approve with --yes what you have read', 2);
    const answer = await terminal.ask(`\n${capital(fixWords(fix).does)}? [y/N] `);
    if (!/^y(es)?$/i.test(answer)) {
      io.print('Nothing was done.');
      return 1;
    }
  }
  const { user } = decider;
  // A cluster that stamps decisions fills in who it was.
  const by = user === undefined ? {} : { by: user };
  await decide(fix, { state: 'Approved', ...by, at: iso(clock.now()), via: 'cli' }, decider, session);
  io.print(
    `Approved ${namespace}/${own}${user ? ` as ${user}` : ''}; tapfix show ${namespace}/${own} says what becomes of it.`,
  );
  return 0;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Pure. What is broken, what would be done to it, and the risk. */
export function proposalLines(fix: Remediation, columns: number, colour: boolean): string[] {
  const shown = (text: string, indent = ''): string[] => wrap(redact(visible(text)), indent, indent, columns);
  const { why } = rationaleParts(fix);
  const diff = redact(visible(fix.status?.preview?.diff.trimEnd() ?? '')).split('\n');
  return [
    ...shown(`${fix.metadata.namespace}/${fix.metadata.name}: ${whatIsBroken(fix)}`),
    ...(fix.spec.diagnosis ? shown(fix.spec.diagnosis, '  ') : []),
    '',
    ...shown(capital(actionWords(fix)?.summary ?? '')),
    ...diff.filter(Boolean).map((line) => painted(`  ${line}`, diffPaint(line), colour)),
    ...(why ? shown(why, '  ') : []),
  ];
}

const diffPaint = (line: string): 'red' | 'green' | undefined =>
  line.startsWith('-') ? 'red' : line.startsWith('+') ? 'green' : undefined;
