/**
 * A message before any vendor's markup: its content and its order. Channels only render it. The dot of an incident is the
 * state of its workload: red broken, yellow being fixed, blue watched after a fix, green healthy after it, grey over.
 */
export type Dot = 'red' | 'yellow' | 'blue' | 'green' | 'grey' | 'warning' | 'hello';

export interface Button {
  label: string;
  /** At most 64 bytes (Telegram's limit, and ours for every channel). */
  data: string;
}

/**
 * A command of ours that may be tapped, and words after it. Everything else in a message may have come from the cluster,
 * so the channels see to it that nothing in it can be tapped.
 */
export interface Hint {
  tap: string;
  words: string;
}

/** An address from the configuration, which may be followed. */
export interface WebLink {
  link: string;
  url: string;
}

/**
 * Words; or something exact (a diff) in a fixed-width font, never reflowed; or a command to copy; or one to tap; or a
 * link. Half a
 * command looks like a whole one, so it is shown whole or, where there is no room, replaced by a short one that prints
 * it.
 */
export type Line = string | { code: string } | { command: string; orElse: string } | Hint | WebLink;

export interface CardRow {
  /** Changed, Why, Fix, Risk... */
  label: string;
  lines: Line[];
  /** Useful to some readers only. It is folded where the vendor supports that. */
  fold?: boolean;
}

export interface Card {
  dot: Dot;
  /** The lock-screen line: what is broken, how badly. */
  headline: string;
  subtitle?: string;
  rows: CardRow[];
  /** The lines below the headline, and below the rows where there are any. */
  footer: Line[];
  buttons: Button[][];
}

/** Somebody who is called by name, with an id from the configuration: never from the cluster. */
export interface Mention {
  id: string;
  name: string;
}

/** One of the incidents of an alert. */
export interface AlertedIncident {
  /** "#3f9a1c": the same for every proposal of one incident. */
  id: string;
  namespace: string;
  kind: string;
  name: string;
  class: string;
  severity: string;
  since: string;
  /** The name of its Remediation: kubectl get fix. */
  fix: string;
  ready?: number;
  desired?: number;
}

/** The content of a message for a machine that wakes people. */
export interface Alert {
  event: 'trigger' | 'acknowledge' | 'resolve';
  /** The same in all three events. */
  id: string;
  at: string;
  cluster: string;
  severity: string;
  summary: string;
  incidents: AlertedIncident[];
  /** How many more incidents there are. */
  more?: number;
}

export interface Message {
  /** Above several cards: the lock-screen line for all of them. */
  title?: { dot: Dot; text: string };
  cards: Card[];
  /** Every card is one line of a list. Its dot is shown only if it differs from that of the title. */
  isList?: true;
  /** A line below the cards: their place, or how many did not fit. */
  rest?: string;
  /** Below that: what can be written about the cards. */
  hint?: Hint;
  /** Below all cards: buttons that concern the message, not one card. */
  buttons?: Button[][];
  /** Below everything: people who are called by name. */
  mentions?: Mention[];
  /** The same for a webhook, which shows nothing else. */
  alert?: Alert;
  /** No sound on the phone. */
  silent: boolean;
}
