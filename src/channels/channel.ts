import { RetryLater } from '../lib/errors.ts';
import type { Message } from '../notices/cards/message.ts';

export type ChannelName = 'telegram' | 'slack' | 'console' | 'webhook';

export interface Place {
  chat: string;
  thread?: string;
}

/** Somebody did something in chat. */
export interface Interaction {
  channel: ChannelName;
  /** "telegram:123456789"; on the console the kubeconfig's user. */
  by: string;
  /** The vendor's name for that person; only for logs. */
  name: string;
  place: Place;
}

/** Somebody pressed a button. */
export interface Press extends Interaction {
  message: string;
  data: string;
  /**
   * The vendor guarantees that tapfix wrote the message: its own card, or a message shown as an answer, which has no
   * Notice.
   */
  ours?: true;
}

/** Somebody wrote "/open" or "@tapfix open" or "/tapfix open". */
export interface Command extends Interaction {
  /** The vendor's id of what was written: the same each time it is delivered, and never that of another one. */
  id: string;
  /** When it was written, by the vendor's clock; undefined if the vendor does not say. */
  writtenMs?: number;
  /** When this process received it, by our own clock. */
  receivedMs?: number;
  /** The text without the part that made it a command: "snooze api-3f9a1c-1 1h". */
  text: string;
  /** The message it is a reply to. */
  replyTo?: string;
}

export interface Answer {
  /** Empty: the press is answered without text, a command with nothing but what is shown. */
  say: string;
  /** It must be seen: a refusal, not a confirmation. */
  alert: boolean;
  /**
   * More than a few words. Only the person who asked sees it where the vendor can do that; elsewhere it is posted
   * without a sound.
   */
  show?: Message;
  /** The press came from a message shown as an answer: that message is edited, and nothing new is shown. */
  inPlace?: boolean;
  /** Called if `show` could not be shown. A question that nobody has seen is not asked. */
  onUnseen?: () => void;
}

/** A command that people may write, for the vendor's list. */
export interface CommandHint {
  name: string;
  does: string;
}

/** The code that decides what to do with a press or a command. */
export interface Handlers {
  onPress(press: Press): Promise<Answer>;
  onCommand(command: Command): Promise<Answer>;
  commands: readonly CommandHint[];
}

export interface ChannelHealth {
  ok: boolean;
  detail: string;
}

/** The message cannot be posted there because the chat has a new id. Earlier messages stay in the old chat. */
export class ChatMoved extends Error {
  override readonly name = 'ChatMoved';
  readonly to: string;
  constructor(to: string) {
    super(`the chat is ${to} now`);
    this.to = to;
  }
}

/** It was still waiting for its turn when its caller gave up. The vendor never saw it. */
export class NotSent extends RetryLater {
  override readonly name = 'NotSent';
  constructor() {
    super('it was not sent: nobody waits for it any more', 1_000);
  }
}

/** The place of a call among others that wait for the same vendor. */
export interface Turn {
  /** Answers to presses go first, then critical incidents; lists and answers to commands can wait. */
  urgency?: 'press' | 'critical' | 'usual' | 'rest';
  /** The caller gives up: a call that still waits is dropped, one that is under way is not. */
  signal?: AbortSignal;
  /** Called immediately before it is sent; throws when it may not be (any more). */
  check?(): void;
}

export interface Channel {
  readonly name: ChannelName;
  /** True if messages of an earlier process may be off the screen. Those still to be decided are shown again. */
  readonly forgets?: boolean;
  /** The current id of this chat, as far as it is known, for vendors that change ids. */
  chatNow?(chat: string): string;
  /**
   * Returns the vendor's id of the message. Throws RetryLater when it may be retried, ChatMoved when it belongs in
   * another chat, NotSent when the caller gave up in time. `replyTo` is the message it answers.
   */
  post(place: Place, message: Message, replyTo?: string, turn?: Turn): Promise<string>;
  /** An identical edit and a message that is gone are not errors. */
  edit(place: Place, id: string, message: Message, turn?: Turn): Promise<void>;
  /**
   * Receives presses and commands until the signal aborts; survives the vendor's outages. After it ended it may be run
   * again.
   */
  run(handlers: Handlers, signal: AbortSignal): Promise<void>;
  health(): ChannelHealth;
  /** Since when somebody else receives what people press and write as well; undefined if nobody does. */
  sharedSinceMs?(): number | undefined;
}
