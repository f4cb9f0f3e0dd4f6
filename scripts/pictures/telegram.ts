import { renderTelegram } from '../../src/channels/telegram/render.ts';
import { escaped, type App, type Shown } from './app.ts';
import { telegramCss } from './telegram-css.ts';
import { isBlock, parseTelegramHtml, type Node } from './telegram-html.ts';

/** A message keeps the time it was posted at however often it is edited, and a bot's is not marked as edited. */
const postedAt = '03:12';

export const telegram: App = {
  show(message) {
    const { html, keyboard } = renderTelegram(message);
    return { text: html, buttons: keyboard.inline_keyboard.map((row) => row.map(({ text }) => text)) };
  },
  css: telegramCss,
  screen(shown, view) {
    if (view === 'lock') return `<section class="lock">${notification(shown)}</section>`;
    const above = view === 'chat' ? header : '';
    return `<section class="screen">${above}<div class="chat">${avatar}${bubble(shown)}</div></section>`;
  },
};

const group = 'On call, prod-eu';
const avatar = '<div class="avatar">t</div>';
const header = `<header><span class="back"></span><span class="avatar group">on</span>
<span><b>${group}</b><small>5 members</small></span></header>`;

/** A locked phone shows the words as they come, without their dress, until its lines are full. */
function notification({ text }: Shown): string {
  const words = escaped(wordsOf(parseTelegramHtml(text)));
  return `<div class="notification">${avatar}<div><b>${group}</b><div class="words">tapfix: ${words}</div></div><time>now</time></div>`;
}

const wordsOf = (nodes: readonly Node[]): string =>
  nodes.map((node) => (typeof node === 'string' ? node : wordsOf(node.children))).join('');

function bubble({ text, buttons }: Shown): string {
  const rows = buttons.map((row) => `<div class="row">${row.map(button).join('')}</div>`);
  const body = nodesAsPage(parseTelegramHtml(text));
  return `<div class="message"><div class="bubble"><div class="sender">tapfix</div><div class="text">${body}<span
class="room"></span></div><time>${postedAt}</time></div>${rows.join('')}</div>`;
}

const button = (label: string): string => `<span class="button">${escaped(label)}</span>`;

/** A block begins and ends a line by itself: the line break beside it is not another one. */
const nodesAsPage = (nodes: readonly Node[]): string =>
  nodes
    .map((node, n) => {
      if (typeof node !== 'string') return elementAsPage(node);
      const start = isBlock(nodes[n - 1]) ? node.replace(/^\n/, '') : node;
      return escaped(isBlock(nodes[n + 1]) ? start.replace(/\n$/, '') : start);
    })
    .join('');

function elementAsPage({ tag, attribute, children }: Exclude<Node, string>): string {
  const kind = `${tag}${attribute.startsWith(' expandable') ? ' expandable' : ''}`;
  const name = tag === 'pre' || tag === 'blockquote' ? 'div' : 'span';
  return `<${name} class="${kind}">${nodesAsPage(children)}</${name}>`;
}
