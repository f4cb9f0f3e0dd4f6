import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { consoleText } from '../../src/channels/console/console-text.ts';
import { renderTelegram } from '../../src/channels/telegram/render.ts';
import type { Message } from '../../src/notices/cards/message.ts';

/** Words are compared whole. UPDATE_GOLDEN=1 writes them anew: read them aloud before committing. */
const update = process.env['UPDATE_GOLDEN'] === '1';

function keysOf(): (data: string) => string {
  const seen: string[] = [];
  return (data) => {
    const [verb, uid, page] = [data.slice(0, 1), data.slice(1, 23), Number(data.slice(23, 26))];
    if (verb === 'p') return `p ${page}`;
    if (!seen.includes(uid)) seen.push(uid);
    return `${{ a: 'a', r: 'r', c: 'y', b: 'n', k: 'i', d: 'd', z: 's', o: 'i', g: 'g', t: 't' }[verb]} ${seen.indexOf(uid) + 1}`;
  };
}

function asText(message: Message): string {
  const { html, keyboard } = renderTelegram(message);
  const buttons = keyboard.inline_keyboard.map((row) => row.map(({ text }) => `[ ${text} ]`).join(' '));
  const sound = message.silent ? 'silent' : 'with sound';
  return [`--- Telegram, ${sound}`, html, ...buttons, '', '--- console', consoleText(message, keysOf()), ''].join('\n');
}

/** The whole message, in every channel, against the file of that name. */
export function compareWords(name: string, message: Message): void {
  const file = new URL(`${name.replaceAll(' ', '-')}.txt`, import.meta.url);
  const text = asText(message);
  if (update) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
}
