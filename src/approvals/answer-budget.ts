import type { Answer, Command, Interaction, Press } from '../channels/channel.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../lib/clock.ts';
import { spokenDuration } from '../lib/duration.ts';
import { nextSlot } from '../lib/window.ts';
import { entriesOf } from '../notices/cards/people.ts';
import { everyChat } from '../notices/plan/route.ts';

/** Somebody who gets an answer, and where. */
interface Asker {
  by: string;
  /** They are on the approvers' list. */
  isKnown: boolean;
  /** The chat that all of it is posted in; undefined where only the person who asked sees the answer. */
  chat: string | undefined;
}
interface Answered extends Asker {
  atMs: number;
}

const minuteMs = 60_000;
const mostForOne = { known: 8, stranger: 2 };
/** Telegram takes 20 messages a minute in a group, and eight of them are kept for alerts. */
const mostInChat = 12;
/** All strangers together: the others can still ask. */
const mostForStrangers = 4;

/** Pure. 0: they may be answered now. Otherwise how long until then. */
export function answerWaitMs(answered: readonly Answered[], asker: Asker, nowMs: number): number {
  const { by, isKnown, chat } = asker;
  const slot = (counts: (one: Answered) => boolean, most: number): number =>
    nextSlot(
      answered.filter(counts).map(({ atMs }) => atMs),
      most,
      minuteMs,
      nowMs,
    );
  const slots = [slot((one) => one.by === by, isKnown ? mostForOne.known : mostForOne.stranger)];
  if (chat !== undefined) slots.push(slot((one) => one.chat === chat, mostInChat));
  if (chat !== undefined && !isKnown) slots.push(slot((one) => one.chat === chat && !one.isKnown, mostForStrangers));
  return Math.max(...slots) - nowMs;
}

interface BudgetDeps {
  clock: Clock;
  current: () => Config;
}

/** Limits answers, so that nobody in a chat can use up what the vendor lets us post there. Decisions are made anyway. */
interface AnswerBudget {
  ofCommand(command: Command, answer: Answer): Answer;
  ofPress(press: Press, answer: Answer): Answer;
}

const nothing: Answer = { say: '', alert: false };

export function createAnswerBudget({ clock, current }: BudgetDeps): AnswerBudget {
  let answered: Answered[] = [];

  function askerOf({ channel, by, place }: Interaction): Asker {
    const isKnown = entriesOf(current(), channel, by).length > 0;
    const isOurs = everyChat(current()).some((one) => one.channel === channel && one.chat === place.chat);
    // Chats that are not ours share one budget: anybody can write to a bot.
    return { by, isKnown, chat: channel === 'telegram' ? (isOurs ? place.chat : 'elsewhere') : undefined };
  }

  /** How long until the next answer to this person; undefined if there is none for now. */
  function spend(asker: Asker): number | undefined {
    const nowMs = clock.now();
    answered = answered.filter(({ atMs }) => Math.abs(nowMs - atMs) < minuteMs);
    if (answerWaitMs(answered, asker, nowMs) > 0) return undefined;
    answered.push({ ...asker, atMs: nowMs });
    return answerWaitMs(answered, asker, nowMs);
  }

  return {
    ofCommand(command, answer) {
      if (command.channel === 'console') return answer;
      const nextMs = spend(askerOf(command));
      if (nextMs === undefined) return unseen(answer, nothing);
      return nextMs > 0 ? withNote(answer, `The next answer to you is in ${spokenDuration(nextMs)}.`) : answer;
    },
    ofPress(press, answer) {
      const { show, inPlace, onUnseen, ...rest } = answer;
      const asker = askerOf(press);
      // An approver who leafs through a list posts nothing.
      if (!show || press.channel === 'console' || (inPlace && asker.isKnown)) return answer;
      if (spend(asker) !== undefined) return answer;
      if (onUnseen || !rest.say) return unseen(answer, tooMany);
      return rest;
    },
  };
}

const tooMany: Answer = { say: 'Too many answers at once; press it again in a minute.', alert: true };

/** A question that is not shown is not asked either. */
function unseen({ onUnseen }: Answer, instead: Answer): Answer {
  onUnseen?.();
  return instead;
}

function withNote(answer: Answer, note: string): Answer {
  const { say, show } = answer;
  if (!show) return { ...answer, say: `${say} ${note}`.trim() };
  return { ...answer, show: { ...show, rest: [show.rest, note].filter(Boolean).join(' · ') } };
}
