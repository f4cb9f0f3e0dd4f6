import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { consoleText } from '../../../src/channels/console/console-text.ts';
import { html as markup, maxText, plainText, renderTelegram } from '../../../src/channels/telegram/render.ts';
import { type Remediation, undoIntro } from '../../../src/kube/remediation.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import type { Line, Message } from '../../../src/notices/cards/message.ts';
import { aContext } from '../../golden/scenes.ts';
import { approvedByAda, aQuotaFix, at, condition, executed } from '../../support/fixes.ts';

/** A command of that many characters whose end must not get lost. */
const commandOf = (length: number): string => {
  const [head, tail] = ["kubectl -n shop create -f - <<'EOF'\n{", '}\nEOF'];
  return head + 'x'.repeat(length - head.length - tail.length) + tail;
};
const why = 'The namespace has no such limit afterwards.';
const diff = (length: number) => ({
  preview: { diff: 'd'.repeat(length), targetHash: 'q', at: at('02:12:36') },
});
const proposed = (length: number, diffLength = 40): Remediation =>
  aQuotaFix({ spec: { rationale: `${why} ${undoIntro}\n${commandOf(length)}` }, status: diff(diffLength) });
const failed = (length: number): Remediation =>
  aQuotaFix({
    approval: approvedByAda,
    phase: 'Failed',
    conditions: [condition('Failed', '02:24:12')],
    status: { execution: { ...executed, undo: commandOf(length) } },
  });

const unescaped = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

const printed = {
  rationale: "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.spec.rationale}'",
  undo: "kubectl -n shop get fix platform-hardening-3f9a1c-7 -o jsonpath='{.status.execution.undo}'",
};
const cases: [string, Remediation, number, string | undefined][] = [
  ['a short one of a proposal', proposed(200), 200, undefined],
  ['one as long as a rationale may hold', proposed(1_980), 1_980, undefined],
  ['a long one beside a long diff', proposed(1_980, 8_000), 1_980, printed.rationale],
  ['a short one beside a long diff', proposed(200, 8_000), 200, undefined],
  ['a short one of a failed fix', failed(200), 200, undefined],
  ['a long one of a failed fix', failed(3_500), 3_500, undefined],
  ['one of a failed fix that alone fills the message', failed(4_096), 4_096, printed.undo],
];
for (const [name, fix, length, instead] of cases) {
  const message = composeMessage([fix], aContext());
  const { html } = renderTelegram(message);

  test(`whole or not at all, in Telegram: ${name}`, () => {
    assert.ok(markup.visible(html).length <= maxText);
    const block = `<pre>${(instead ?? commandOf(length)).replaceAll('<', '&lt;')}</pre>`;
    assert.ok(html.includes(block), html);
    if (instead) assert.doesNotMatch(html, /create -f/);
  });
  test(`whole or not at all, without markup: ${name}`, () => {
    const text = plainText(message);
    assert.ok(text.length <= maxText && text.includes(`\n${instead ?? commandOf(length)}`), text);
    if (instead) assert.doesNotMatch(text, /create -f/);
  });
  test(`always whole on the console: ${name}`, () => {
    const lines = consoleText(message, () => undefined).split('\n');
    for (const line of commandOf(length).split('\n')) assert.ok(lines.some((shown) => shown.trim() === line));
    assert.ok(!lines.some((line) => line.includes('jsonpath')));
  });
}

test('what stands in for a command says that it is not the command', () => {
  assert.match(
    renderTelegram(composeMessage([failed(4_096)], aContext())).html,
    /Put it back with\na command too long for this message; this prints it:\n<pre>kubectl -n shop get fix /,
  );
});

test('a diff that is cut says so', () => {
  const { html } = renderTelegram(composeMessage([proposed(200, 8_000)], aContext()));
  assert.match(html, /<blockquote expandable>d+…<\/blockquote>/);
});

test('whatever else a message says, a command in it is whole or not there', () => {
  const words = fc.string({ unit: 'grapheme-ascii', maxLength: 2_000 });
  const command = fc.integer({ min: 60, max: 4_096 }).map(commandOf);
  const line: fc.Arbitrary<Line> = fc.oneof(
    words,
    fc.record({ code: words }),
    fc.record({ command, orElse: fc.constant(printed.undo) }),
  );
  const lines = fc.array(line, { maxLength: 5 });
  const card = fc.record({ headline: words, subtitle: words, footer: lines, label: words, lines });
  fc.assert(
    fc.property(fc.array(card, { minLength: 1, maxLength: 9 }), (cards) => {
      const message: Message = {
        silent: false,
        cards: cards.map(({ headline, subtitle, footer, label, lines }) => ({
          dot: 'red' as const,
          headline,
          subtitle,
          rows: [{ label, lines }],
          footer,
          buttons: [],
        })),
      };
      for (const text of [unescaped(renderTelegram(message).html), plainText(message)]) {
        assert.ok(text.length <= maxText);
        const begun = text.split('create -f - <<').length;
        assert.equal(text.split('x}\nEOF').length, begun);
        assert.equal(text.split('kubectl -n shop get fix').length, text.split(printed.undo).length);
      }
    }),
    { numRuns: 300 },
  );
});
