/** How a message is dressed: in Telegram's HTML, or not at all. */
export interface Markup {
  /** Everything from the cluster goes through here. */
  words(text: string): string;
  /* These take what is dressed already. */
  strong(text: string): string;
  exact(text: string): string;
  folded(text: string): string;
  /** What Telegram counts. */
  visible(text: string): string;
}

/** Only these four are decoded by Telegram. */
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** https://core.telegram.org/bots/api#html-style */
export const html: Markup = {
  words: escapeHtml,
  strong: (text) => `<b>${text}</b>`,
  exact: (text) => `<pre>${text}</pre>`,
  folded: (text) => `<blockquote expandable>${text}</blockquote>`,
  visible: (text) => text.replace(/<[^>]*>/g, '').replace(/&(lt|gt|amp|quot);/g, '.'),
};

const asItIs = (text: string): string => text;
export const plain: Markup = { words: asItIs, strong: asItIs, exact: asItIs, folded: asItIs, visible: asItIs };
