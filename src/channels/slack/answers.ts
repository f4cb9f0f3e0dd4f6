import { fetch } from 'undici';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { type Answer, NotSent } from '../channel.ts';
import type { Pacer } from '../pacing.ts';
import { ofStatus, SlackTrouble, troubleOf } from './failures.ts';
import type { SlackInteraction } from './presses.ts';
import { renderAnswer, type Rendered, renderSlack } from './render.ts';
import type { CallPatience, WebClient } from './slack-client.ts';

export interface SlackAnswersDeps {
  web: () => Promise<WebClient>;
  pacer: Pick<Pacer, 'call'>;
  patience: CallPatience;
  clock: Clock;
  log: Log;
}

/**
 * Answers people's presses and commands; only they see it. Never throws: an answer that cannot be sent is only logged.
 */
export interface SlackAnswers {
  to(interaction: SlackInteraction, answer: Answer): Promise<void>;
  /** Answers that still wait for their turn are not sent any more. */
  drop(): void;
}

/** A refusal appears nowhere else, and sending it twice does no harm. */
const mostTries = 3;
const longestPauseMs = 3_000;

export function createAnswers({ web, pacer, patience, clock, log }: SlackAnswersDeps): SlackAnswers {
  let leaving = new AbortController();

  async function to(interaction: SlackInteraction, answer: Answer): Promise<void> {
    // A success is visible on the card itself. For a command, the answer is all there is to see.
    const isHeard = answer.alert || interaction.command !== undefined;
    if (answer.say && isHeard) await patiently(interaction, () => say(interaction, renderAnswer(answer.say)));
    const { show, inPlace, onUnseen } = answer;
    if (show) await patiently(interaction, () => say(interaction, renderSlack(show), inPlace), onUnseen);
  }

  async function patiently(
    { press }: SlackInteraction,
    call: () => Promise<unknown>,
    onUnseen?: () => void,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return void (await call());
      } catch (error) {
        const { say: reason, retryMs } = troubleOf(error);
        if (retryMs === undefined || error instanceof NotSent || tries === mostTries) {
          onUnseen?.();
          return press
            ? log.warn({ reason, tries }, 'press not answered')
            : log.warn({ reason, tries }, 'command not answered');
        }
        await clock.sleep(Math.min(retryMs, longestPauseMs));
      }
    }
  }

  /**
   * Slack's response URL is the only way to change a message that only one person sees, or to show one in a channel
   * where we are not a member.
   */
  async function say(
    { press, command, user, responseUrl }: SlackInteraction,
    words: Rendered,
    inPlace = false,
  ): Promise<unknown> {
    const { place } = press ?? command;
    if (responseUrl && (inPlace || command)) return respond(responseUrl, { ...words, replace_original: inPlace });
    const where = { channel: place.chat, user, ...(place.thread && { thread_ts: place.thread }) };
    const { chat } = await web();
    const turn = { urgency: press ? 'press' : 'rest', signal: leaving.signal } as const;
    return pacer.call(turn, () => chat.postEphemeral({ ...where, ...words }));
  }

  /** https://docs.slack.dev/interactivity/handling-user-interaction#message_responses */
  async function respond(url: string, words: Rendered & { replace_original: boolean }): Promise<void> {
    const late = new AbortController();
    const done = new AbortController();
    void clock.sleep(patience.callMs, done.signal).then(() => late.abort());
    try {
      const body = JSON.stringify({ ...words, response_type: 'ephemeral' });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, { method: 'POST', headers, body, signal: late.signal });
      if (!answer.ok) throw new SlackTrouble(ofStatus(answer.status));
      await answer.text();
    } finally {
      done.abort();
    }
  }
  function drop(): void {
    leaving.abort();
    leaving = new AbortController();
  }

  return { to, drop };
}
