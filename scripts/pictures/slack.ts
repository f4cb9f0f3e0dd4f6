import { renderSlack, type Rendered } from '../../src/channels/slack/render.ts';
import { escaped, type App, type Shown } from './app.ts';
import { slackCss } from './slack-css.ts';

const postedAt = '03:12';
const channel = 'ops-prod-eu';
const avatar = '<div class="avatar">t</div>';
const header = `<header><span class="back"></span><span><b># ${channel}</b><small>5 members</small></span></header>`;

/** Slack: Block Kit, as its phone app shows it. What it is given is kept whole, so that any change of it is noticed. */
export const slack: App = {
  show(message) {
    const rendered = renderSlack(message);
    return { text: JSON.stringify(rendered, withoutPayload), buttons: rendered.blocks.flatMap(labelsOf) };
  },
  css: slackCss,
  screen(shown, view) {
    const { text, blocks } = JSON.parse(shown.text) as Rendered;
    if (view === 'lock') return `<section class="lock">${notification(text)}</section>`;
    const above = view === 'chat' ? header : '';
    const body = blocks.map((block) => blockAsPage(block as unknown as Block)).join('');
    return `<section class="screen">${above}<div class="chat">${avatar}<div class="message"><div class="sender"><b>tapfix</b><span
class="app">APP</span><time>${postedAt}</time></div>${body}</div></div></section>`;
  },
};

/** Nobody sees what a button carries. */
const withoutPayload = (key: string, value: unknown): unknown => (key === 'value' ? undefined : value);

const labelsOf = (block: Rendered['blocks'][number]): Shown['buttons'] =>
  block.type === 'actions' ? [(block as unknown as Block).elements!.map(({ text }) => wordsOf(text))] : [];

interface Words {
  text: string;
}
interface Element {
  type: string;
  text?: Words | string;
  style?: string | { bold?: boolean };
  elements?: Element[];
}
interface Block {
  type: string;
  text?: Words;
  elements?: Element[];
}

const wordsOf = (text: Element['text']): string => (typeof text === 'string' ? text : (text?.text ?? ''));

/** What is escaped for mrkdwn is shown unescaped. */
const notification = (text: string): string =>
  `<div class="notification">${avatar}<div><b>#${channel}</b><div class="words">tapfix: ${text}</div></div><time>now</time></div>`;

const pages: Readonly<Record<string, (block: Block) => string>> = {
  header: ({ text }) => `<h1>${escaped(wordsOf(text))}</h1>`,
  section: ({ text }) => `<div class="section">${escaped(wordsOf(text))}</div>`,
  context: ({ elements = [] }) =>
    `<div class="context">${elements.map(({ text }) => escaped(wordsOf(text))).join(' ')}</div>`,
  rich_text: ({ elements = [] }) => elements.map(richAsPage).join(''),
  actions: ({ elements = [] }) => `<div class="row">${elements.map(buttonAsPage).join('')}</div>`,
};

/** A block that we began to send and nobody draws would be a hole in the picture. */
function blockAsPage(block: Block): string {
  const draw = pages[block.type];
  if (!draw) throw new Error(`nobody draws a block of the type ${block.type}`);
  return draw(block);
}

const richAsPage = ({ type, elements = [] }: Element): string =>
  `<div class="${type}">${elements.map((run) => (typeof run.style === 'object' && run.style.bold ? `<b>${escaped(wordsOf(run.text))}</b>` : escaped(wordsOf(run.text)))).join('')}</div>`;

const buttonAsPage = ({ text, style }: Element): string =>
  `<span class="button ${typeof style === 'string' ? style : ''}">${escaped(wordsOf(text))}</span>`;
