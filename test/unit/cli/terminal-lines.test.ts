import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTerminalLines, type TerminalLine } from '../../../src/cli/terminal-lines.ts';

const options = { cluster: 'prod-eu', include: ['shop-*', 'payments'], timeZone: 'Europe/Berlin', auditAsJson: false };

const logged = (level: string, msg: string, fields: object = {}): string =>
  `${JSON.stringify({ level, time: '2026-02-03T02:12:05.123Z', ...fields, msg })}\n`;

/** What a terminal shows of a log, as "out: ..." and "err: ...". */
function shown(lines: readonly string[], over: Partial<typeof options> = {}): string[] {
  const show = createTerminalLines({ ...options, ...over });
  const asText = ({ to, text }: TerminalLine): string => `${to === 'stdout' ? 'out' : 'err'}: ${text}`;
  return lines.flatMap((line) => {
    const found = show(line);
    return found ? [asText(found)] : [];
  });
}

const started = (over: object = {}): string =>
  logged('info', 'tapfix started', {
    role: 'all',
    identity: 'ada@example.com',
    cluster: 'prod-eu',
    port: 8080,
    ...over,
  });
const broken = (kind: string, error: string): string =>
  logged('warn', 'watch is broken', { kind, error, retryInMs: 900 });
const back = (kind: string): string => logged('info', 'watch is back', { kind, failures: 3, downMs: 4000 });
const away = 'cannot reach the API server https://10.0.0.1: connect ECONNREFUSED';
const decision = { audit: true, decision: 'Approved', by: 'ada@example.com', channel: 'console' };
const fix = { namespace: 'shop', fix: 'checkout-1a2b', action: 'RolloutUndo' };

const cases: { name: string; lines: string[]; want: string[] }[] = [
  {
    name: 'the start says what is watched, as whom, and how it ends',
    lines: [started()],
    want: ['out: watching prod-eu (shop-*, payments) as ada@example.com; Ctrl-C ends it'],
  },
  {
    name: 'the start of one half says which',
    lines: [started({ role: 'controller' })],
    want: ['out: watching prod-eu (shop-*, payments) as ada@example.com, the controller alone; Ctrl-C ends it'],
  },
  {
    name: 'a change of the configuration is the fields that changed, and one that is refused why',
    lines: [
      logged('info', 'configuration changed', { changes: [{ field: 'cluster' }, { field: 'retention' }] }),
      logged('info', 'configuration changed', {
        changes: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((field) => ({ field })),
      }),
      logged('info', 'configuration changed', { changes: [] }),
      logged('error', 'configuration change refused, the old one stays', { reason: 'cluster is missing (line 1)' }),
      logged('info', 'configuration is as before'),
    ],
    want: [
      'out: 03:12:05 configuration changed: cluster, retention',
      'out: 03:12:05 configuration changed: a, b, c, d, e and 2 more',
      'out: 03:12:05 configuration changed, to the same effect',
      'err: 03:12:05 configuration change refused, the old one stays: cluster is missing (line 1)',
      'out: 03:12:05 configuration is as before',
    ],
  },
  { name: 'the end is one word', lines: [logged('info', 'tapfix stopped')], want: ['out: stopped'] },
  { name: 'what the cards say is not said again', lines: [logged('info', 'phase', { phase: 'Applied' })], want: [] },
  {
    name: 'trouble is its time, its words and its cause',
    lines: [logged('error', 'not connected to the API server, trying again', { err: 'ECONNREFUSED', retryInMs: 5000 })],
    want: ['err: 03:12:05 not connected to the API server, trying again: ECONNREFUSED'],
  },
  {
    name: 'the cause may be called error',
    lines: [logged('warn', 'sweep failed', { namespace: 'shop', error: 'forbidden' })],
    want: ['err: 03:12:05 sweep failed: forbidden'],
  },
  {
    name: 'or reason',
    lines: [logged('warn', 'telegram does not work', { kind: 'NoToken', reason: 'no Telegram bot token' })],
    want: ['err: 03:12:05 telegram does not work: no Telegram bot token'],
  },
  {
    name: 'trouble without a cause is its words',
    lines: [logged('error', 'telegram refused our markup, sent as plain text')],
    want: ['err: 03:12:05 telegram refused our markup, sent as plain text'],
  },
  {
    name: 'an error that was logged whole is its message, without its stack',
    lines: [logged('error', 'failed', { err: { type: 'Error', message: 'boom', stack: 'Error: boom\n at x' } })],
    want: ['err: 03:12:05 failed: boom'],
  },
  {
    name: 'a cause of many lines and control bytes is one line',
    lines: [logged('warn', 'pass failed', { error: 'a\n  b\u001b[2Jc' })],
    want: ['err: 03:12:05 pass failed: a b [2Jc'],
  },
  {
    name: 'a long cause is cut',
    lines: [logged('warn', 'pass failed', { error: 'x'.repeat(1_000) })],
    want: [`err: 03:12:05 pass failed: ${'x'.repeat(200)}...`],
  },
  {
    name: 'an API server that answers again is worth a line',
    lines: [logged('info', 'the API server answers')],
    want: ['out: 03:12:05 the API server answers'],
  },
  {
    name: 'so is a chat that works again',
    lines: [logged('info', 'telegram works again', { was: 'NoToken' })],
    want: ['out: 03:12:05 telegram works again'],
  },
  {
    name: 'another process holds the Lease, until it ends',
    lines: [
      logged('info', 'this replica leads', { lease: 'tapfix-controller', leader: 'mac_1', takeover: false }),
      logged('info', 'another replica leads, this one follows', { lease: 'tapfix-watcher', leader: 'pc_2' }),
      logged('info', 'this replica leads', { lease: 'tapfix-watcher', leader: 'mac_1', takeover: true }),
    ],
    want: [
      'out: 03:12:05 pc_2 holds tapfix-watcher; this process takes over when it ends',
      'out: 03:12:05 this process holds tapfix-watcher now',
    ],
  },
  {
    name: 'one outage breaks every watch, and is told as one',
    lines: [broken('Pod', away), broken('Event', away), back('Pod'), back('Event')],
    want: [`err: 03:12:05 watch is broken: ${away}`, 'out: 03:12:05 the API server answers again'],
  },
  {
    name: 'two reasons are two lines',
    lines: [broken('Pod', away), broken('Event', 'events is forbidden'), back('Event'), back('Pod')],
    want: [
      `err: 03:12:05 watch is broken: ${away}`,
      'err: 03:12:05 watch is broken: events is forbidden',
      'out: 03:12:05 the API server answers again',
    ],
  },
  {
    name: 'the next outage is told again',
    lines: [broken('Pod', away), back('Pod'), broken('Pod', away)],
    want: [
      `err: 03:12:05 watch is broken: ${away}`,
      'out: 03:12:05 the API server answers again',
      `err: 03:12:05 watch is broken: ${away}`,
    ],
  },
  {
    name: 'a decision is who, what and where',
    lines: [logged('info', 'decision', { ...decision, ...fix })],
    want: ['err: 03:12:05 Approved by ada@example.com: RolloutUndo, shop/checkout-1a2b'],
  },
  {
    name: 'a refused decision is why as well',
    lines: [logged('info', 'decision', { ...decision, ...fix, decision: 'Refused', reason: 'TooLate' })],
    want: ['err: 03:12:05 Refused for ada@example.com (TooLate): RolloutUndo, shop/checkout-1a2b'],
  },
  {
    name: 'a question is put to somebody, and may be left again',
    lines: [
      logged('info', 'decision', { ...decision, ...fix, decision: 'Asked' }),
      logged('info', 'decision', { ...decision, decision: 'Back' }),
    ],
    want: [
      'err: 03:12:05 asked ada@example.com once more: RolloutUndo, shop/checkout-1a2b',
      'err: 03:12:05 ada@example.com went back',
    ],
  },
  {
    name: 'a press on nothing we know has no what and where',
    lines: [logged('info', 'decision', { ...decision, decision: 'Refused', reason: 'Unreadable' })],
    want: ['err: 03:12:05 Refused for ada@example.com (Unreadable)'],
  },
  { name: 'what is not a log line is passed over', lines: ['', '{"level":'], want: [] },
];
for (const { name, lines, want } of cases) test(name, () => assert.deepEqual(shown(lines), want));

test('a decision stays a JSON line where no person reads it', () => {
  const line = logged('info', 'decision', { ...decision, ...fix });
  assert.deepEqual(shown([line], { auditAsJson: true }), [`err: ${line.trimEnd()}`]);
});
