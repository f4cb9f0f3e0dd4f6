import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { maxCharacters, renderPlainly, renderSlack } from '../../src/channels/slack/render.ts';
import { readMessage, RefusedBySlack } from '../support/block-kit.ts';
import { leaks } from './any-fix.ts';
import { anyLongShown } from './any-message.ts';

test('lines of a megabyte are cut for Slack, and hide no secret', () =>
  fc.assert(
    fc.property(anyLongShown, ({ messages }) => {
      for (const message of messages)
        for (const rendered of [renderSlack(message), renderPlainly(message)]) {
          const text = readMessage(rendered);
          assert.ok(JSON.stringify(rendered.blocks).length <= maxCharacters && text.isWellFormed());
          assert.deepEqual([...leaks(text), ...leaks(rendered.text)], []);
        }
    }),
    { numRuns: 10, endOnFailure: true },
  ));

const section = (text: string, type = 'plain_text') => ({ type: 'section', text: { type, text } });
const words = (text: string) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text }] }],
});
const button = (over: object) => ({
  type: 'button',
  text: { type: 'plain_text', text: 'x' },
  action_id: 'a',
  value: 'v',
  ...over,
});
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
  'a button of 76': {
    text: 'x',
    blocks: [{ type: 'actions', elements: [button({ text: { type: 'plain_text', text: 'x'.repeat(76) } })] }],
  },
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
