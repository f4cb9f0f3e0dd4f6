import type { Message } from '../notices/message.ts';

export type ChannelName = 'telegram' | 'slack' | 'console';

export interface Place {
  chat: string;
  thread?: string;
}

/** Somebody pressed a button. */
export interface Press {
  channel: ChannelName;
  /** "telegram:123456789"; on the console the kubeconfig's user. */
  by: string;
  /** How the vendor calls that person; only for logs. */
  name: string;
  place: Place;
  message: string;
  data: string;
}

export interface Answer {
  say: string;
  /** Must be seen: a refusal, not a confirmation. */
  alert: boolean;
}

export interface ChannelHealth {
  ok: boolean;
  detail: string;
}

export interface Channel {
  readonly name: ChannelName;
  /** What an earlier process showed may be off the screen: what is still to be decided is shown again. */
  readonly forgets?: boolean;
  /** Returns the vendor's id of the message. Throws RetryLater when it may be tried again. */
  post(place: Place, message: Message): Promise<string>;
  /** An identical edit and a message that is gone are not errors. */
  edit(place: Place, id: string, message: Message): Promise<void>;
  /** Receives presses until the signal aborts; survives the vendor's outages. */
  run(onPress: (press: Press) => Promise<Answer>, signal: AbortSignal): Promise<void>;
  health(): ChannelHealth;
}
