import type { Answer, ChannelName, Command, CommandHint, Deed, Place } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Mute } from '../kube/mutes.ts';
import type { Notice } from '../kube/notice.ts';
import type { Remediation } from '../kube/remediation.ts';
import type { Clock } from '../lib/clock.ts';
import type { Confirms } from './confirms.ts';
import type { SubjectAccess } from './subject-access.ts';
import type { Request, Said } from './verb.ts';

/** What all commands are handed. */
export interface Hall {
  clock: Clock;
  current: () => Config;
  timeZone: string;
  /** tapfix's own namespace. */
  ownNamespace: string;
  confirms: Confirms;
  fixes(): Remediation[];
  noticeAt(channel: ChannelName, place: Place, message: string): Notice | undefined;
  noticesWith(uid: string): Notice[];
  /** Does what a button would do, by the same rules. */
  handle(request: Request): Promise<Answer>;
  /** One audit line; returns what is said. */
  audit(deed: Deed, said: Said): Answer;
  mutes: { active(): Mute[]; set(mute: Mute): Promise<void> };
  subjectAccess: SubjectAccess;
  /** How tapfix itself is, a line each. */
  status(): string[];
}

/** One thing that can be written: one file, and one row in commands/table.ts. */
export interface CommandRow extends CommandHint {
  /** What may or must follow its name. */
  takes: string;
  run(command: Command, words: readonly string[], hall: Hall): Promise<Answer>;
}

/** How long something may be snoozed or muted. */
export const [shortestMs, longestMs] = [60_000, 7 * 86_400_000];
