import assert from 'node:assert/strict';
import { test } from 'node:test';
import { consoleText } from '../../../../src/channels/console/console-text.ts';
import { renderSlack } from '../../../../src/channels/slack/render.ts';
import { renderTelegram } from '../../../../src/channels/telegram/render.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { composeDetails } from '../../../../src/notices/cards/details.ts';
import type { Line, Message } from '../../../../src/notices/cards/message.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, at } from '../../../support/fixes.ts';

const linesOf = ({ cards }: Message, label: string): readonly Line[] =>
  cards[0]!.rows.find((row) => row.label === label)?.lines ?? [];

test('Details keep to themselves what the card does', () => {
  const diff = 'app args  --db=postgres://app:hunter2@db/shop → --db=postgres://app:hunter3@db/shop';
  const fix = aFix({ status: { preview: { diff, targetHash: 'abc', at: at('02:12:36') } } });
  const details = linesOf(composeDetails(fix, [], aContext()), 'Fix');
  assert.deepEqual(details[1], {
    code: 'app args  --db=postgres://[redacted]@db/shop → --db=postgres://[redacted]@db/shop',
  });
  assert.doesNotMatch(JSON.stringify(composeMessage([fix], aContext())), /hunter/);
});

test('everything that the card has no room for, in the order in which people ask', () => {
  const fix = aFix();
  fix.spec.context.evidence.push('last lines of the log of app:', '> panic: no route to db');
  const links = [
    {
      label: 'Dashboard',
      url: 'https://grafana.example.com/{namespace}?name={name}&c={cluster}',
      class: 'Crash*',
      namespace: '*',
    },
    { label: 'Elsewhere', url: 'https://example.com/', class: '*', namespace: 'pay*' },
  ];
  fix.spec.incident.object.name = 'a&b/../c';
  const [card] = composeDetails(fix, undefined, { ...aContext(), links }).cards;
  const labels = ['Changed', 'Why', 'Seen', 'Events', 'Log', 'Fix', 'Risk', 'Undo', 'Who', 'kubectl', 'Links'];
  assert.deepEqual(
    card!.rows.map(({ label }) => label),
    labels,
  );
  assert.match(card!.subtitle!, /CrashLoop \(critical\)/);
  assert.deepEqual(linesOf({ cards: [card!], silent: true }, 'Log'), [
    'last lines of the log of app:',
    '> panic: no route to db',
  ]);
  assert.deepEqual(linesOf({ cards: [card!], silent: true }, 'Links'), [
    { link: 'Dashboard', url: 'https://grafana.example.com/shop?name=a%26b%2F..%2Fc&c=prod-eu' },
  ]);
});

test('each vendor makes a link of a configured address, and of nothing else', () => {
  const links = [{ label: 'Run <book>', url: 'https://wiki.example.com/{name}?a="b"', class: '*', namespace: '*' }];
  const message = composeDetails(aFix(), [], { ...aContext(), links });
  assert.match(
    renderTelegram(message).html,
    /<a href="https:\/\/wiki\.example\.com\/checkout\?a=&quot;b&quot;">Run &lt;book&gt;<\/a>$/,
  );
  assert.match(
    JSON.stringify(renderSlack(message).blocks),
    /\{"type":"link","url":"https:\/\/wiki\.example\.com\/checkout\?a=\\"b\\"","text":"Run <book>"\}/,
  );
  assert.match(
    consoleText(message, () => undefined),
    /Links {4}Run <book>: https:\/\/wiki\.example\.com\/checkout/,
  );
});

const wiki = { label: 'Wiki', url: 'https://wiki.example.com/', class: 'None', namespace: '*' };
const runbooks: [string, string, unknown][] = [
  ['https, on the host of a configured link', 'https://wiki.example.com/checkout?x=1', { link: 'Runbook', url: 'https://wiki.example.com/checkout?x=1' }],
  ['https, elsewhere', 'https://evil.example.com/', 'Runbook: https://evil.example.com/'],
  ['a host that only begins like it', 'https://wiki.example.com.evil.example/', 'Runbook: https://wiki.example.com.evil.example/'],
  ['http, on that host', 'http://wiki.example.com/', 'Runbook: http://wiki.example.com/'],
  ['somebody in front of the host', 'https://ada@wiki.example.com/', 'Runbook: https://[redacted]@wiki.example.com/'],
  ['words', 'ask the payments team', 'Runbook: ask the payments team'],
]; // prettier-ignore
for (const [what, text, want] of runbooks)
  test(`the runbook that a workload is annotated with: ${what}`, () => {
    const fix = aFix();
    fix.spec.context.evidence.unshift(`runbook: ${text}`);
    const details = composeDetails(fix, [], { ...aContext(), links: [wiki] });
    assert.deepEqual(linesOf(details, 'Links'), [want]);
    assert.doesNotMatch(JSON.stringify(linesOf(details, 'Seen')), /runbook/);
    assert.doesNotMatch(JSON.stringify(composeMessage([fix], aContext())), /[Rr]unbook/);
  });
