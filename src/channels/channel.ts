import Bottleneck from 'bottleneck';
import type { Message } from '../notices/cards/message.ts';

export type ChannelName = 'telegram' | 'slack' | 'console';

export interface Place {
  chat: string;
  thread?: string;
}

/** Somebody did something in chat. */
export interface Interaction {
  channel: ChannelName;
  /** "telegram:123456789"; on the console the kubeconfig's user. */
  by: string;
  /** How the vendor calls that person; only for logs. */
  name: string;
  place: Place;
}

/** Somebody pressed a button. */
export interface Press extends Interaction {
  message: string;
  data: string;
  /** The vendor vouches that tapfix wrote the message: its own card, or what an answer showed, which no Notice knows. */
  ours?: true;
}

/** Somebody wrote "/open" or "@tapfix open" or "/tapfix open". */
export interface Command extends Interaction {
  /** What was written, without whatever made it a command: "snooze api-3f9a1c-1 1h". */
  text: string;
  /** The message it is a reply to. */
  replyTo?: string;
}

export interface Answer {
  /** Empty: the press is answered without a word. */
  say: string;
  /** Must be seen: a refusal, not a confirmation. */
  alert: boolean;
  /** More than a few words: for the eyes of who asked where the vendor can do that, else without a sound. */
  show?: Message;
  /** The press came from something shown: that is changed, nothing new is shown. */
  inPlace?: boolean;
}

/** What may be written, for the vendor to list. */
export interface CommandHint {
  name: string;
  does: string;
}

/** Who decides what becomes of it. */
export interface Handlers {
  onPress(press: Press): Promise<Answer>;
  onCommand(command: Command): Promise<Answer>;
  commands: readonly CommandHint[];
}

export interface ChannelHealth {
  ok: boolean;
  detail: string;
}

/** It cannot be posted there: that chat has another id since. What was posted before stays where it is. */
export class ChatMoved extends Error {
  override readonly name = 'ChatMoved';
  readonly to: string;
  constructor(to: string) {
    super(`the chat is ${to} now`);
    this.to = to;
  }
}

export interface Channel {
  readonly name: ChannelName;
  /** What an earlier process showed may be off the screen: what is still to be decided is shown again. */
  readonly forgets?: boolean;
  /** The id that this chat has now, where vendors change them: as far as it is known. */
  chatNow?(chat: string): string;
  /** Returns the vendor's id of the message. Throws RetryLater when it may be tried again, ChatMoved when it belongs elsewhere. `replyTo`: the message it answers. */
  post(place: Place, message: Message, replyTo?: string): Promise<string>;
  /** An identical edit and a message that is gone are not errors. */
  edit(place: Place, id: string, message: Message): Promise<void>;
  /** Receives presses and commands until the signal aborts; survives the vendor's outages. */
  run(handlers: Handlers, signal: AbortSignal): Promise<void>;
  health(): ChannelHealth;
}

interface Pace {
  minTimeMs: number;
  maxConcurrent: number;
}

/** The same channel with its vendor calls spread out. It only delays: the limits of section "Telling" are the outbox's. */
export function paced(channel: Channel, { minTimeMs, maxConcurrent }: Pace): Channel {
  const limiter = new Bottleneck({ minTime: minTimeMs, maxConcurrent });
  return {
    ...channel,
    post: (place, message, replyTo) => limiter.schedule(() => channel.post(place, message, replyTo)),
    edit: (place, id, message) => limiter.schedule(() => channel.edit(place, id, message)),
  };
}
