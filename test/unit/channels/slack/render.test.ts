import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { maxBlocks, maxCharacters, renderPlainly, renderSlack } from '../../../../src/channels/slack/render.ts';
import { composeFarewell, composeMessage } from '../../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../../src/notices/cards/details.ts';
import type { Card, Message } from '../../../../src/notices/cards/message.ts';
import { aContext } from '../../../golden/scenes.ts';
import { readMessage } from '../../../support/block-kit.ts';
import { aFix } from '../../../support/fixes.ts';

const nasty = '*b* _i_ ~s~ `c` ```d``` <!channel> <@U012AB3CD> &amp; :fire: https://example.com\n> quoted';
const aCard = (over: Partial<Card> = {}): Card => ({
  dot: 'red',
  headline: 'x',
  rows: [],
  footer: [],
  buttons: [],
  ...over,
});
const one = (card: Partial<Card>): Message => ({ cards: [aCard(card)], silent: false });
const types = (message: Message): string[] => renderSlack(message).blocks.map(({ type }) => type);

test('whatever comes from the cluster is shown as it is: nothing in the blocks is read as markup', () => {
  const fix = aFix({
    spec: { diagnosis: nasty, rationale: nasty, context: { changed: [nasty], evidence: [nasty] } },
  });
  const message = composeDetails(fix, [], aContext());
  const rendered = renderSlack(message);
  assert.ok(!JSON.stringify(rendered.blocks).includes('mrkdwn'));
  const said = message.cards[0]!.rows.flatMap(({ lines }) => lines).filter((line) => typeof line === 'string');
  assert.ok(said.some((line) => line.includes('```d```')));
  for (const line of said) assert.ok(readMessage(rendered).includes(line), line);
});

test('on the lock screen nobody is mentioned and nothing is linked', () => {
  const { text } = renderSlack(one({ headline: '<!channel> & <@U1>', subtitle: 'a < b' }));
  assert.equal(text, '🔴 &lt;!channel&gt; &amp; &lt;@U1&gt;\na &lt; b');
});

test('a card is a header, its words and its buttons; several are a header, one block of lines and numbered buttons', () => {
  assert.deepEqual(types(composeMessage([aFix()], aContext())), ['header', 'rich_text', 'actions', 'actions']);
  const three = [1, 2, 3].map((n) => aFix({ n, name: `web-${n}` }));
  assert.deepEqual(types(composeMessage(three, aContext())), ['header', 'rich_text', 'actions']);
});

test('a line too long for a header is shown in bold instead of being cut', () => {
  const headline = `${'x'.repeat(160)} keeps crashing, 0/3 ready`;
  assert.deepEqual(types(one({ headline })), ['rich_text']);
  assert.ok(readMessage(renderSlack(one({ headline }))).includes(headline));
});

test('what helps is green, what is asked about once more is red, and all have the payload as value', () => {
  const buttons = [
    ['a:1', 'r:1'],
    ['c:1', 'b:1'],
  ].map((row) => row.map((data) => ({ label: data, data })));
  const [, ...actions] = renderSlack(one({ buttons })).blocks as { elements?: { style?: string; value: string }[] }[];
  assert.deepEqual(
    actions.flatMap(({ elements }) => elements!).map(({ style, value }) => [value, style]),
    [
      ['a:1', 'primary'],
      ['r:1', undefined],
      ['c:1', 'danger'],
      ['b:1', undefined],
    ],
  );
});

test('evidence of use to some readers only is set apart', () => {
  const rows = [{ label: 'Seen', lines: ['a', { code: 'b' }, 'c'], fold: true }];
  const [, body] = renderSlack(one({ rows })).blocks as { elements?: { type: string }[] }[];
  assert.deepEqual(
    body!.elements!.map(({ type }) => type),
    ['rich_text_section', 'rich_text_quote'],
  );
  assert.match(readMessage(renderSlack(one({ rows }))), /Seen\na\nb\nc$/);
});

test('a command is shown whole or replaced by one that prints it', () => {
  const command = `kubectl apply -f - <<'END'\n${'x'.repeat(2_900)}\nEND`;
  const rows = [{ label: 'Risk', lines: [{ command, orElse: 'kubectl get fix' }] }];
  assert.ok(readMessage(renderSlack(one({ rows }))).includes(command));
  const long = [{ label: 'Risk', lines: [{ command: `${command}${command}`, orElse: 'kubectl get fix' }] }];
  assert.match(readMessage(renderSlack(one({ rows: long }))), /this prints it:\nkubectl get fix$/);
});

const long = '😀&<'.repeat(170);
const large = Array.from({ length: 40 }, (_, n) =>
  aFix({
    n: n + 1,
    name: 'x'.repeat(250),
    spec: {
      diagnosis: long,
      rationale: long.repeat(4),
      context: { changed: Array(10).fill(long), evidence: Array(10).fill(long) },
    },
    status: { preview: { diff: `${long}\n`.repeat(16), targetHash: 'h', at: '2026-11-16T02:12:36Z' } },
  }),
);

test('cards of the longest texts the resource allows still fit, and say what is broken', () => {
  const messages = [large.slice(0, 1), large.slice(0, 3), large].map((members) => composeMessage(members, aContext()));
  for (const message of [...messages, composeFarewell(large, aContext())]) {
    const rendered = renderSlack(message);
    assert.ok(JSON.stringify(rendered.blocks).length <= maxCharacters && rendered.blocks.length <= maxBlocks);
    assert.match(readMessage(rendered), /^[🔴⚪]/u);
  }
});

test('more cards than Slack has blocks: as many as fit, and the others are counted', () => {
  const buttons = [[{ label: 'Approve', data: 'a:1' }]];
  const rendered = renderSlack({ cards: Array.from({ length: 30 }, () => aCard({ buttons })), silent: false });
  assert.ok(rendered.blocks.length <= maxBlocks);
  assert.match(readMessage(rendered), /and 6 more: kubectl get fix -A$/);
});

test('where not even the headlines fit, as many cards as do are shown with their buttons, and the others are counted', () => {
  const buttons = [Array.from({ length: 5 }, (_, n) => ({ label: 'x'.repeat(75), data: `a:${'y'.repeat(60)}${n}` }))];
  const cards = Array.from({ length: 20 }, () => aCard({ headline: 'x'.repeat(300), buttons }));
  const rendered = renderPlainly({ title: { dot: 'red', text: '20 are failing' }, cards, silent: false });
  const text = readMessage(rendered);
  const shown = rendered.blocks.filter(({ type }) => type === 'actions').length;
  assert.ok(shown > 5 && shown < 20, String(shown));
  assert.match(text, new RegExp(`and ${20 - shown} more: kubectl get fix -A$`));
  assert.ok(JSON.stringify(rendered.blocks).length <= maxCharacters);
});

test('a button payload beyond 64 bytes is our bug and found here', () => {
  assert.throws(() => renderSlack(one({ buttons: [[{ label: 'x', data: 'x'.repeat(65) }]] })), RangeError);
});

test('whatever the words are, Slack takes the blocks', () => {
  const words = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 3000 }),
    fc.constantFrom(nasty, nasty.repeat(200), '', ' ', '\n'),
  );
  const line = fc.oneof(words, fc.record({ code: words }), fc.record({ command: words, orElse: words }));
  const label = fc.constantFrom('Why', 'Fix');
  const row = fc.record({ label, lines: fc.array(line, { maxLength: 12 }), fold: fc.boolean() });
  const card = fc.record({
    dot: fc.constantFrom('red' as const, 'grey' as const),
    headline: words,
    rows: fc.array(row, { maxLength: 5 }),
    footer: fc.array(line, { maxLength: 3 }),
    buttons: fc.constantFrom<Card['buttons']>([], [[{ label: 'Approve', data: 'a:1' }]]),
  });
  const message = fc.record({ cards: fc.array(card, { minLength: 1, maxLength: 20 }), silent: fc.boolean() });
  fc.assert(
    fc.property(message, (message) => void readMessage(renderSlack(message))),
    { numRuns: 200 },
  );
});
