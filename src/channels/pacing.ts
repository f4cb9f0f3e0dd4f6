import Bottleneck from 'bottleneck';
import { type Clock, inTime } from '../lib/clock.ts';
import { NotSent, type Turn } from './channel.ts';

/** At most so many calls in any such time. */
export interface Rate {
  calls: number;
  inMs: number;
}

export interface ChatRates {
  /** The time between two calls about the same chat. */
  apartMs: number;
  most?: Rate;
  /** Calls that can wait get only so many of those: the others are kept for alerts. */
  rest?: Rate;
  /** How long the vendor asks to wait for, if this is such an error. The chat's other calls wait as well. */
  pauseMs?: (error: unknown) => number | undefined;
}

interface PacerDeps {
  clock: Clock;
  /** All calls of the bot together. */
  bot: Rate;
  /** The same for calls about no chat; then all calls wait. */
  pauseMs?: (error: unknown) => number | undefined;
  /** A chat without calls is forgotten after this time, which must be longer than its windows. */
  idleMs?: number;
}

interface ChatPacer {
  call<T>(chat: string, turn: Turn, work: () => Promise<T>): Promise<T>;
  /** How many chats are remembered. */
  size(): number;
}

/** Makes each call to the vendor wait for its turn, so that our own traffic never earns a 429. */
export interface Pacer {
  /** A call that counts for the bot only. */
  call<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
  /** Calls about chats of one kind; they count for the bot as well. */
  chats(rates: ChatRates): ChatPacer;
}

/** The smaller number goes first. A button's spinner waits for an answer; nobody's sleep depends on a list. */
const priorities: Readonly<Record<NonNullable<Turn['urgency']>, number>> = { press: 0, critical: 3, usual: 5, rest: 9 };
/** A call without an answer for this long counts as sent. The chat's next one must not wait for its timeout. */
const unansweredMs = 3_000;
const usualIdleMs = 300_000;

/** Limits that a call passed on its way, and how to give its place back. */
interface Passed {
  limiter: Bottleneck;
  inMs: number;
}

/**
 * One limiter for the bot, and before it one for each chat, so that a busy chat delays no other. The windows slide: a
 * place is free again a full window after the vendor answered the call that took it. bottleneck keeps the queues; all
 * time is the Clock's.
 */
export function createPacer({ clock, bot: botRate, pauseMs, idleMs = usualIdleMs }: PacerDeps): Pacer {
  const bot = new Bottleneck({ reservoir: botRate.calls });
  const ofBot: Passed = { limiter: bot, inMs: botRate.inMs };

  /** `enter` queues a job. What the caller gave up meanwhile is not sent: somebody may have sent it again. */
  function inTurn<T>(
    { signal, check }: Turn,
    work: () => Promise<T>,
    enter: (job: () => Promise<void>) => Promise<unknown>,
    passed: readonly Passed[],
    leave: (error: unknown) => Promise<void>,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const giveUp = (): void => reject(new NotSent());
    const job = async (): Promise<void> => {
      signal?.removeEventListener('abort', giveUp);
      if (signal?.aborted) return free(passed);
      const sending = checked(check, work);
      resolve(sending);
      const error = await inTime({ clock, ms: unansweredMs, late: undefined }, () => failureOf(sending));
      for (const { limiter, inMs } of passed) void clock.sleep(inMs).then(() => limiter.incrementReservoir(1));
      await leave(error);
    };
    if (signal?.aborted) giveUp();
    else {
      signal?.addEventListener('abort', giveUp, { once: true });
      enter(job).catch(reject);
    }
    return promise;
  }

  function chats({ apartMs, most, rest, pauseMs: pauseOfChat }: ChatRates): ChatPacer {
    // One call at a time, which keeps its place for the pause as well: so the most urgent one goes next.
    const one = { maxConcurrent: 1, timeout: idleMs };
    const group = new Bottleneck.Group({ ...one, ...(most && { reservoir: most.calls }) });
    group.on('created', (limiter) => void limiter.chain(bot));
    const restGroup = rest && new Bottleneck.Group({ reservoir: rest.calls, timeout: idleMs });

    function call<T>(chat: string, turn: Turn, work: () => Promise<T>): Promise<T> {
      const limiter = group.key(chat);
      const before = rest && turn.urgency === 'rest' ? restGroup?.key(chat) : undefined;
      const enterChat = (job: () => Promise<void>): Promise<void> => limiter.schedule(optionsOf(turn), job);
      const enter = (job: () => Promise<void>): Promise<void> =>
        before ? before.schedule(optionsOf(turn), () => enterChat(job)) : enterChat(job);
      const passed = [
        ofBot,
        ...(most ? [{ limiter, inMs: most.inMs }] : []),
        ...(before && rest ? [{ limiter: before, inMs: rest.inMs }] : []),
      ];
      return inTurn(turn, work, enter, passed, (error) => clock.sleep(pauseOfChat?.(error) ?? apartMs));
    }
    return { call, size: () => group.keys().length };
  }

  /** Nothing passes a limiter that owes places. */
  async function pause(failure: unknown): Promise<void> {
    const ms = pauseMs?.(failure);
    if (ms === undefined) return;
    await bot.incrementReservoir(-botRate.calls);
    void clock.sleep(ms).then(() => bot.incrementReservoir(botRate.calls));
  }

  return {
    call: (turn, work) => inTurn(turn, work, (job) => bot.schedule(optionsOf(turn), job), [ofBot], pause),
    chats,
  };
}

const optionsOf = ({ urgency = 'usual' }: Turn): { priority: number } => ({ priority: priorities[urgency] });

async function checked<T>(check: (() => void) | undefined, work: () => Promise<T>): Promise<T> {
  check?.();
  return work();
}

async function free(passed: readonly Passed[]): Promise<void> {
  await Promise.all(passed.map(({ limiter }) => limiter.incrementReservoir(1)));
}

/** undefined if it succeeds. */
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );
