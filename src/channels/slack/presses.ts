import { z } from 'zod';
import { type Clock, inTime } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Answer, Command, Handlers, Place, Press } from '../channel.ts';
import type { SlackAnswers } from './answers.ts';
import type { Envelope } from './socket.ts';

/**
 * A press or command, a key that is the same each time Slack delivers it, and the URL for an answer. `user` is a person
 * of these workspaces: an id means somebody only within one, and a shared channel has people of several.
 */
export type SlackInteraction = {
  key: string;
  user: string;
  teams: readonly string[];
  responseUrl?: string | undefined;
} & ({ press: Press; command?: never } | { command: Command; press?: never });

/** One row per type of envelope that we use. */
const readers: Readonly<Record<string, (envelope: Envelope) => SlackInteraction | undefined>> = {
  interactive: pressIn,
  slash_commands: slashIn,
  events_api: mentionIn,
};
const interactionIn = (envelope: Envelope): SlackInteraction | undefined => readers[envelope.type]?.(envelope);

/** https://docs.slack.dev/reference/interaction-payloads/block_actions-payload, only the fields we need. */
const blockActions = z.object({
  type: z.literal('block_actions'),
  user: z.object({
    id: z.string(),
    team_id: z.string().optional(),
    username: z.string().optional(),
    name: z.string().optional(),
  }),
  team: z.object({ id: z.string() }).nullish(),
  container: z.object({
    channel_id: z.string(),
    message_ts: z.string(),
    thread_ts: z.string().optional(),
    is_ephemeral: z.boolean().optional(),
  }),
  actions: z.tuple([z.object({ value: z.string(), action_ts: z.string().optional() })], z.unknown()),
  response_url: z.url().optional(),
});

function pressIn({ envelope_id, body }: Envelope): SlackInteraction | undefined {
  const parsed = blockActions.safeParse(body);
  if (!parsed.success) return undefined;
  const { user, team, container, actions, response_url } = parsed.data;
  const [{ value, action_ts }] = actions;
  // The first message of a thread is not in the thread itself: an answer in the thread would not be seen.
  const thread = container.thread_ts === container.message_ts ? undefined : container.thread_ts;
  return {
    key: [user.id, container.message_ts, value, action_ts ?? envelope_id].join(' '),
    user: user.id,
    teams: given(user.team_id, team?.id),
    responseUrl: response_url,
    press: {
      channel: 'slack',
      by: `slack:${user.id}`,
      name: user.username ?? user.name ?? user.id,
      place: placeOf(container.channel_id, thread),
      message: container.message_ts,
      data: value,
      // Buttons reach only the app that posted them, and the app can have sent an ephemeral message only as an answer.
      ...(container.is_ephemeral && { ours: true as const }),
    },
  };
}

/** https://docs.slack.dev/interactivity/implementing-slash-commands */
const slashCommand = z.object({
  command: z.string(),
  text: z.string().optional(),
  user_id: z.string(),
  team_id: z.string().optional(),
  user_name: z.string().optional(),
  channel_id: z.string(),
  trigger_id: z.string().optional(),
  response_url: z.url().optional(),
});

function slashIn({ envelope_id, body }: Envelope): SlackInteraction | undefined {
  const parsed = slashCommand.safeParse(body);
  if (!parsed.success) return undefined;
  const { text, user_id, team_id, user_name, channel_id, trigger_id, response_url } = parsed.data;
  const id = trigger_id ?? envelope_id;
  return {
    key: `command ${id}`,
    user: user_id,
    teams: given(team_id),
    responseUrl: response_url,
    command: {
      channel: 'slack',
      by: `slack:${user_id}`,
      name: user_name ?? user_id,
      place: placeOf(channel_id),
      id,
      text: wordsOf(text),
    },
  };
}

/** https://docs.slack.dev/reference/events/app_mention */
const mention = z.object({
  event_id: z.string().optional(),
  event: z.object({
    type: z.literal('app_mention'),
    user: z.string(),
    team: z.string().optional(),
    user_team: z.string().optional(),
    text: z.string(),
    channel: z.string(),
    ts: z.string().optional(),
    thread_ts: z.string().optional(),
    bot_id: z.undefined().optional(),
  }),
});

/** A mention in a card's thread is about that card. Slack repeats it for an hour; a slash command is never repeated. */
function mentionIn({ envelope_id, body }: Envelope): SlackInteraction | undefined {
  const parsed = mention.safeParse(body);
  if (!parsed.success) return undefined;
  const { event_id, event } = parsed.data;
  const writtenMs = Math.floor(Number(event.ts) * 1000);
  return {
    key: `mention ${event_id ?? event.ts ?? envelope_id}`,
    user: event.user,
    teams: given(event.user_team, event.team),
    command: {
      channel: 'slack',
      by: `slack:${event.user}`,
      name: event.user,
      place: placeOf(event.channel, event.thread_ts),
      id: event.ts ?? event_id ?? envelope_id,
      ...(Number.isFinite(writtenMs) && { writtenMs }),
      text: wordsOf(event.text.replace(/<@[^>]*>/g, ' ')),
      ...(event.thread_ts !== undefined && { replyTo: event.thread_ts }),
    },
  };
}

const given = (...teams: (string | undefined)[]): string[] => teams.filter((team) => team !== undefined);

const placeOf = (chat: string, thread?: string): Place => ({ chat, ...(thread !== undefined && { thread }) });

/** The text as it was typed: Slack escapes three characters. */
const wordsOf = (text = ''): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&').trim();

/** After three seconds Slack shows the presser that nobody answered. */
const ackWithinMs = 2_000;
/** More presses than Slack can repeat when a socket ends. */
const mostRemembered = 1_000;
const lastAnswersMs = 2_000;

interface PressesDeps {
  answers: SlackAnswers;
  /** The workspace that tapfix is in. Throws if Slack does not say. */
  ownTeam(): Promise<string | undefined>;
  clock: Clock;
  log: Log;
}

interface Presses {
  /** Takes presses, for the first time or again. What was decided before is not decided again. */
  begin(): void;
  receive(envelope: Envelope, handlers: Handlers): void;
  /** Takes no more presses. Those under way are decided and answered, if that does not take long. */
  end(): Promise<void>;
}

/** Each press and each command is decided once, however often and on however many sockets it arrives. */
export function createPresses({ answers, ownTeam, clock, log }: PressesDeps): Presses {
  const decisions = new Map<string, Promise<void>>();
  const underWay = new Set<Promise<void>>();
  let isOver = true;

  function receive(envelope: Envelope, handlers: Handlers): void {
    if (isOver) return; // not acknowledged: Slack shows the presser an error
    const work = handle(envelope, handlers).finally(() => underWay.delete(work));
    underWay.add(work);
  }

  /**
   * A press is acknowledged once it is decided, so that Slack shows an error if we are killed before. But it is never
   * acknowledged late.
   */
  async function handle(envelope: Envelope, handlers: Handlers): Promise<void> {
    const found = interactionIn(envelope);
    const decided = found && (decisions.get(found.key) ?? take(found, handlers));
    if (decided) await inTime({ clock, ms: ackWithinMs, late: undefined }, () => decided);
    try {
      await envelope.ack();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'press not acknowledged');
    }
  }

  function take(interaction: SlackInteraction, handlers: Handlers): Promise<void> {
    const answer = decide(interaction, clock.now(), handlers);
    const answered = answer.then((said) => answers.to(interaction, said)).finally(() => underWay.delete(answered));
    underWay.add(answered);
    const decided = answer.then(() => undefined);
    decisions.set(interaction.key, decided);
    for (const oldest of decisions.keys()) if (decisions.size > mostRemembered) decisions.delete(oldest);
    return decided;
  }

  async function decide(
    interaction: SlackInteraction,
    receivedMs: number,
    { onPress, onCommand }: Handlers,
  ): Promise<Answer> {
    const { press, command } = interaction;
    try {
      const by = await whoIs(interaction);
      return await (press ? onPress({ ...press, by }) : onCommand({ ...command, by, receivedMs }));
    } catch (error) {
      const reason = messageOf(error);
      if (press) log.error({ reason }, 'press not handled');
      else log.error({ reason }, 'command not handled');
      return { say: 'Something went wrong in tapfix; nothing was decided. Try again.', alert: true };
    }
  }

  /** Somebody of another workspace is nobody that the approvers' list can name: "slack:T0OTHER/U012AB3CD". */
  async function whoIs({ user, teams }: SlackInteraction): Promise<string> {
    const own = teams.length > 0 ? await ownTeam() : undefined;
    const other = own === undefined ? undefined : teams.find((team) => team !== own);
    return other === undefined ? `slack:${user}` : `slack:${other}/${user}`;
  }

  return {
    begin: () => void (isOver = false),
    receive,
    async end() {
      isOver = true;
      await inTime({ clock, ms: lastAnswersMs, late: undefined }, () => Promise.allSettled(underWay));
      answers.drop();
    },
  };
}
