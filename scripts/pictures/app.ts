import type { Message } from '../../src/notices/cards/message.ts';

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

/** What a chat is given to show: the vendor's own markup, and the words on the buttons. */
export interface Shown {
  text: string;
  buttons: string[][];
}

/** How much of the phone is in the picture: what a locked one shows, the message in its chat, or the message alone. */
export type View = 'lock' | 'chat' | 'message';

/** A chat app on a phone: one file for each vendor. */
export interface App {
  show(message: Message): Shown;
  css(theme: Theme): string;
  screen(shown: Shown, view: View): string;
}

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
