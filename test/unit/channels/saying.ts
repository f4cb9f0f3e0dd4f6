import type { Line, Message } from '../../../src/notices/cards/message.ts';

/** A message that has this text wherever the text may be somebody else's, and these lines as well. */
export const saying = (text: string, ...lines: Line[]): Message => ({
  title: { dot: 'red', text },
  cards: [
    {
      dot: 'red',
      headline: text,
      subtitle: text,
      rows: [
        { label: text, lines: [text, { code: text }, { command: text, orElse: text }, ...lines] },
        { label: 'Seen', lines: [text, { code: text }], fold: true },
      ],
      footer: [text],
      buttons: [[{ label: text, data: 'a:x' }]],
    },
  ],
  rest: text,
  buttons: [[{ label: text, data: 'a:y' }]],
  silent: false,
});
