import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../src/kube/remediation.ts';
import { RetryLater } from '../../../src/lib/errors.ts';
import { composeMessage } from '../../../src/notices/cards/compose.ts';
import { aContext } from '../../golden/scenes.ts';
import { aFix, aNotice, approvedByAda, at, condition, executed, type FixOptions } from '../../support/fixes.ts';
import { aDesk, gone, upsert } from './desk.ts';

/* A message does not go on asking for what nobody can do any more. */

const card = (fix: Remediation, over = {}) => composeMessage([fix], aContext(over)).cards[0]!;
const allLabels = (fix: Remediation, over = {}) =>
  card(fix, over)
    .buttons.flat()
    .map(({ label }) => label);
/** Of what decides. */
const labels = (...of: Parameters<typeof allLabels>): string[] =>
  allLabels(...of).filter((label) => !/^(I'm on it|Details|Snooze 1h)$/.test(label));

const deleted: [string, Remediation, string][] = [
  ['a proposal', aFix(), 'checkout: its record was deleted, nothing was changed by tapfix'],
  ['a card without a fix', aNotice({ n: 1 }), 'reports: its record was deleted, nothing was changed by tapfix'],
  [
    'a fix that is watched',
    aFix({ phase: 'Applied', approval: approvedByAda, status: { execution: executed } }),
    'checkout: the record of its fix was deleted, tapfix no longer watches it',
  ],
];
for (const [name, fix, headline] of deleted)
  test(`${name} whose Remediation is deleted: one last edit, and its Notice goes`, async () => {
    const desk = aDesk();
    const { outbox } = desk.startWith([fix]);
    await desk.clock.advance(5_100);
    outbox.onFix(gone(fix));
    await desk.clock.advance(60_000);
    assert.deepEqual(desk.edits(), [[headline]]);
    assert.deepEqual(desk.server.all(), []);
  });

test('deleted while nobody watched: the next list tells, and the last edit waits for the vendor', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  desk.vendor.down = new RetryLater('down', 5_000);
  outbox.onFixes([]);
  await desk.clock.advance(20_000);
  assert.equal(desk.server.all().length, 1);
  desk.vendor.down = undefined;
  await desk.clock.advance(30_000);
  assert.deepEqual(desk.edits().length, 1);
  assert.deepEqual(desk.server.all(), []);
});

test('a chat that refuses the last edit does not keep the Notice', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  desk.vendor.down = new Error('the bot was kicked');
  outbox.onFix(gone(aFix()));
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.server.all(), []);
});

test('many at once keep to the budget of edits', async () => {
  const desk = aDesk();
  const fixes = Array.from({ length: 20 }, (_, n) => aFix({ n: n + 1, name: `svc-${n}`, spec: { ttlMinutes: 60 } }));
  const { outbox } = desk.startWith([]);
  for (const fix of fixes) {
    outbox.onFix(upsert(fix));
    await desk.clock.advance(20_000);
  }
  for (const fix of fixes) outbox.onFix(gone(fix));
  await desk.clock.advance(1_000);
  assert.equal(desk.edits().length, 12);
  await desk.clock.advance(120_000);
  assert.equal(desk.edits().length, 20);
  assert.deepEqual(desk.server.all(), []);
});

test('of a namespace that may not be read nobody knows what is gone: its Notice stays', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()], { isHeard: (namespace) => namespace !== 'shop' });
  await desk.clock.advance(5_100);
  outbox.onFixes([]);
  await desk.clock.advance(60_000);
  assert.deepEqual([desk.edits().length, desk.server.all().length], [0, 1]);
});

test('what was over keeps its last word when its record goes', async () => {
  const desk = aDesk();
  const { outbox } = desk.startWith([aFix()]);
  await desk.clock.advance(5_100);
  const over = aFix({ phase: 'Resolved', conditions: [condition('Resolved', '02:13:20')] });
  outbox.onFix(upsert(over));
  await desk.clock.advance(1_000);
  outbox.onFix(gone(over));
  await desk.clock.advance(1_000);
  assert.deepEqual(desk.edits(), [['checkout healthy again by itself 03:13:20, nothing was changed']]);
  assert.deepEqual(desk.server.all(), []);
});

const after = { nowMs: Date.parse(at('02:42:45')) };
test('its time is up and the controller is away: the buttons go, and the card says why', () => {
  assert.deepEqual(labels(aFix(), { nowMs: after.nowMs - 1 }), ['Approve undo', 'Reject']);
  assert.deepEqual(labels(aFix(), after), []);
  assert.deepEqual(card(aFix(), after).footer, ['The time to approve was over at 03:42 CET; nothing was changed']);
});

test('that edit comes by itself, once', async () => {
  const desk = aDesk();
  desk.startWith([aFix()]);
  await desk.clock.advance(29 * 60_000);
  assert.deepEqual(desk.edits(), []);
  await desk.clock.advance(3 * 3_600_000);
  assert.equal(desk.edits().length, 1);
});

const without: [string, FixOptions, object, string[], string][] = [
  [
    'switched off in the configuration',
    {},
    { allowed: () => false },
    ['Reject'],
    'RolloutUndo is switched off in the configuration; nothing was changed',
  ],
  [
    'of another version',
    { spec: { action: { type: 'RebootNode', rebootNode: {} } } },
    {},
    ['Reject'],
    'Another version of tapfix proposed this; this one cannot do it',
  ],
];
for (const [name, over, context, buttons, footer] of without)
  test(`an action that is ${name} has no Approve`, () => {
    assert.deepEqual(labels(aFix(over), context), buttons);
    assert.deepEqual(card(aFix(over), context).footer, [footer]);
  });

const failedWith = (reason: string, message: string) =>
  card(
    aFix({
      phase: 'Failed',
      approval: approvedByAda,
      status: { execution: { startedAt: executed.startedAt, undo: executed.undo } },
      conditions: [condition('Failed', '02:14:12', { reason, message })],
    }),
  );
test('what was about to be applied and was not, is said so, and there is nothing to put back', () => {
  const { headline, footer } = failedWith('AlreadyHealthy', 'already healthy by now; nothing was changed');
  assert.equal(headline, 'checkout: the undo was not applied: already healthy by now; nothing was changed');
  assert.deepEqual(footer, []);
});

test('approved with its time over', () => {
  const late = { ...approvedByAda, at: at('02:50:00') };
  const fix = aFix({
    phase: 'Expired',
    approval: late,
    conditions: [condition('Expired', '02:50:01', { reason: 'TooLate' })],
  });
  assert.equal(
    card(fix, { nowMs: Date.parse(at('02:51:00')) }).headline,
    'checkout: approved by Ada 03:50:00, after it had expired at 03:42; nothing was changed',
  );
});
