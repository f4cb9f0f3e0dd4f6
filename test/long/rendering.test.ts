import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { maxCharacters, type Rendered, renderPlainly, renderSlack } from '../../src/channels/slack/render.ts';
import { plainText, renderTelegram } from '../../src/channels/telegram/render.ts';
import type { Message } from '../../src/notices/cards/message.ts';
import { readMessage } from '../support/block-kit.ts';
import { parseStrictly, tappableIn } from '../support/telegram-html.ts';
import { countTexts, leaks } from './any-fix.ts';
import { anyShown, isKnown } from './any-message.ts';

const warningDot = '⚠️';
/** Control, format, private and unassigned characters, and all that Unicode lets a font leave out. */
const unseen = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u3164\u115f\u1160\uffa0\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{DI}]/gu;

/** What holds for everything that people read. */
function checkWords(text: string): void {
  assert.ok(text.trim().length > 0 && text.isWellFormed(), 'nothing, or a character cut in two');
  assert.deepEqual(text.replaceAll(warningDot, '').match(unseen) ?? [], [], 'a character that cannot be seen');
  assert.deepEqual(leaks(text), [], 'a secret');
}

function forTelegram() {
  const seen = { ...countTexts(), longest: 0, buttons: 0 };
  const check = (message: Message): void => {
    seen.hand(message);
    const { html, keyboard } = renderTelegram(message);
    assert.deepEqual(tappableIn(html), [], 'something to tap that is not a button');
    for (const text of [parseStrictly(html), plainText(message)]) {
      checkWords(text);
      assert.ok(text.length <= 4096, `${text.length} characters`);
      seen.longest = Math.max(seen.longest, text.length);
    }
    for (const { text, callback_data } of keyboard.inline_keyboard.flat() as {
      text: string;
      callback_data: string;
    }[]) {
      checkWords(text);
      assert.ok(isKnown(callback_data), callback_data);
      seen.buttons += 1;
    }
  };
  return { seen, check };
}

const payloads = ({ blocks }: Rendered): string[] =>
  blocks
    .flatMap((block) => (block.type === 'actions' ? block.elements : []))
    .map((element) => String((element as { value?: string }).value));
const offered = ({ cards, buttons = [] }: Message): string[] =>
  [...cards.flatMap((card) => card.buttons.flat()), ...buttons.flat()].map(({ data }) => data);

function forSlack() {
  const seen = { ...countTexts(), longest: 0, buttons: 0, most: 0 };
  const check = (message: Message): void => {
    seen.hand(message);
    for (const rendered of [renderSlack(message), renderPlainly(message)]) {
      const text = readMessage(rendered);
      const size = JSON.stringify(rendered.blocks).length;
      assert.ok(size <= maxCharacters, `${size} characters`);
      checkWords(text);
      checkWords(rendered.text);
      const shown = payloads(rendered);
      for (const data of shown) assert.ok(isKnown(data), data);
      if (!/and \d+ more: kubectl get fix/.test(text)) assert.deepEqual(shown, offered(message));
      seen.longest = Math.max(seen.longest, size);
      seen.buttons += shown.length;
      seen.most = Math.max(seen.most, rendered.blocks.length);
    }
  };
  return { seen, check };
}

test('100,000 texts that reach both renderers: each vendor gets what it takes, every button, and no secret', () => {
  const [telegram, slack] = [forTelegram(), forSlack()];
  let told = 0;
  fc.assert(
    fc.property(anyShown, ({ fixes, messages }) => {
      told += fixes;
      for (const { check } of [telegram, slack]) messages.forEach(check);
    }),
    { numRuns: 6_500, endOnFailure: true }, // shrinking such texts takes minutes
  );
  for (const { seen } of [telegram, slack]) {
    console.log(
      `${seen.texts()} texts, ${seen.planted()} with a secret, of ${told} Remediations: all taken, none told`,
    );
    assert.ok(seen.texts() >= 100_000, `only ${seen.texts()} texts reached the renderer`);
    assert.ok(seen.planted() >= 20_000, `only ${seen.planted()} of them with a secret`);
    assert.ok(seen.buttons > 5_000, `only ${seen.buttons} buttons`);
  }
  const [{ longest }, { seen }] = [telegram.seen, slack];
  assert.ok(longest > 3_500, `the longest had only ${longest} characters: nothing was ever cut`);
  assert.ok(seen.longest > 10_500, `the longest had only ${seen.longest} characters: nothing was ever cut`);
  assert.ok(seen.most > 10, `at most ${seen.most} blocks`);
});
