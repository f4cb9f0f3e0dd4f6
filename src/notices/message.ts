/** A message before any vendor's markup: what is said, in which order. Channels only render it. */
export type Dot = 'red' | 'orange' | 'yellow' | 'blue' | 'green' | 'grey';

export interface Button {
  label: string;
  /** At most 64 bytes (Telegram's limit, and ours for every channel). */
  data: string;
}

export interface Row {
  /** Changed, Why, Fix, Risk... */
  label: string;
  lines: string[];
}

export interface Card {
  dot: Dot;
  /** The lock-screen line: what is broken, how badly. */
  headline: string;
  subtitle?: string;
  rows: Row[];
  footer: string[];
  buttons: Button[][];
}

export interface Message {
  /** The most severe first, in full; the others shortened to their headline. */
  cards: Card[];
  /** No sound on the phone. */
  silent: boolean;
}
