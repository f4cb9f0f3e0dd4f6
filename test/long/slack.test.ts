import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { maxCharacters, renderPlainly, renderSlack, type Rendered } from '../../src/channels/slack/render.ts';
import { composeMessage } from '../../src/notices/compose.ts';
import { decodePress } from '../../src/notices/payload.ts';
import type { Message } from '../../src/notices/message.ts';
import { aContext } from '../golden/scenes.ts';
import { readMessage, RefusedBySlack } from '../support/block-kit.ts';
import { at } from '../support/fixes.ts';
import { anyFix, leaks, made } from './any-fix.ts';

const payloads = ({ blocks }: Rendered): string[] =>
  blocks.flatMap((block) => (block.type === 'actions' ? block.elements : [])).map((element) => String((element as { value?: string }).value)); // prettier-ignore

const offered = ({ cards }: Message): string[] =>
  cards.flatMap(({ buttons }) => buttons.flat().map(({ data }) => data));

test('whatever thousands of Remediations say, Slack gets blocks that it takes, with every button', () => {
  const seen = { told: 0, longest: 0, buttons: 0, most: 0 };
  fc.assert(
    fc.property(fc.array(anyFix, { minLength: 1, maxLength: 12 }), fc.boolean(), (members, asking) => {
      const asked = { by: 'slack:U1', name: '<Ada>', untilMs: Date.parse(at('02:14:50')) };
      const message = composeMessage(members, aContext({ confirming: () => (asking ? asked : undefined) }));
      for (const rendered of [renderSlack(message), renderPlainly(message)]) {
        const text = readMessage(rendered);
        const size = JSON.stringify(rendered.blocks).length;
        assert.ok(size <= maxCharacters, `${size} characters`);
        assert.ok(text.trim().length > 0 && text.isWellFormed());
        assert.deepEqual([...leaks(text), ...leaks(rendered.text)], [], 'a secret');
        assert.ok(!/[\x00-\x08\x0b-\x1f\x7f]/.test(text), 'a control character');
        const shown = payloads(rendered);
        for (const data of shown) assert.ok(Buffer.byteLength(data) <= 64 && decodePress(data), data);
        if (!/and \d+ more: kubectl get fix/.test(text)) assert.deepEqual(shown, offered(message));
        seen.longest = Math.max(seen.longest, size);
        seen.buttons += shown.length;
        seen.most = Math.max(seen.most, rendered.blocks.length);
      }
      seen.told += members.length;
    }),
    { numRuns: 1_000, endOnFailure: true }, // shrinking such texts takes minutes
  );
  assert.ok(seen.told >= 3_000, `only ${seen.told} Remediations`);
  console.log(`${made.texts} texts, ${made.planted} with a secret, in ${seen.told} Remediations: all taken, none told`);
  assert.ok(made.texts >= 100_000 && made.planted >= 5_000, JSON.stringify(made));
  assert.ok(seen.longest > 11_000, `the longest had only ${seen.longest} characters: nothing was ever cut`);
  assert.ok(seen.most > 15, `at most ${seen.most} blocks`);
  assert.ok(seen.buttons > 1_000, `only ${seen.buttons} buttons`);
});

const section = (text: string, type = 'plain_text') => ({ type: 'section', text: { type, text } });
const words = (text: string) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
});
const button = (over: object) => ({ type: 'button', text: { type: 'plain_text', text: 'x' }, action_id: 'a', value: 'v', ...over }); // prettier-ignore
const refused: Readonly<Record<string, { text: string; blocks: unknown }>> = {
  'no words for the lock screen': { text: '', blocks: [section('x')] },
  'a mention in them': { text: 'a <!channel> b', blocks: [section('x')] },
  'a bare &': { text: 'a & b', blocks: [section('x')] },
  'a mention in mrkdwn': { text: 'x', blocks: [section('<@U1>', 'mrkdwn')] },
  'an empty section': { text: 'x', blocks: [section('')] },
  'a section of 3001 characters': { text: 'x', blocks: [section('x'.repeat(3001))] },
  '51 blocks': { text: 'x', blocks: Array.from({ length: 51 }, () => section('x')) },
  '13,200 characters in all': { text: 'x', blocks: Array.from({ length: 5 }, () => section('x'.repeat(2700))) },
  'a header of 151': { text: 'x', blocks: [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }] },
  'a header in mrkdwn': { text: 'x', blocks: [{ type: 'header', text: { type: 'mrkdwn', text: 'x' } }] },
  'rich text without words': { text: 'x', blocks: [words('')] },
  'half a character': { text: 'x', blocks: [words('\ud83d')] },
  'a button of 76': { text: 'x', blocks: [{ type: 'actions', elements: [button({ text: { type: 'plain_text', text: 'x'.repeat(76) } })] }] }, // prettier-ignore
  'two buttons of one id': { text: 'x', blocks: [{ type: 'actions', elements: [button({}), button({})] }] },
  'a style that is none': { text: 'x', blocks: [{ type: 'actions', elements: [button({ style: 'green' })] }] },
  'no buttons at all': { text: 'x', blocks: [{ type: 'actions', elements: [] }] },
  'a block that is none': { text: 'x', blocks: [{ type: 'carousel' }] },
};
for (const [name, message] of Object.entries(refused))
  test(`the reader of this test refuses what Slack refuses: ${name}`, () =>
    assert.throws(() => readMessage(message), RefusedBySlack));

test('the reader of this test takes what Slack takes', () => {
  const blocks = [section('a &lt; b', 'mrkdwn'), words('*x* <y> & z'), { type: 'actions', elements: [button({})] }];
  assert.equal(readMessage({ text: 'a &lt; b', blocks }), 'a < b\n*x* <y> & z\n[ x ]');
});
