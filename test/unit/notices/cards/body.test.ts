import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Remediation } from '../../../../src/kube/remediation.ts';
import { composeMessage } from '../../../../src/notices/cards/compose.ts';
import { aContext } from '../../../golden/scenes.ts';
import { aFix, approvedByAda, at, condition, executed, type FixOptions } from '../../../support/fixes.ts';

const card = (fix: Remediation, over = {}) => composeMessage([fix], aContext(over)).cards[0]!;
const allLabels = (fix: Remediation, over = {}) =>
  card(fix, over)
    .buttons.flat()
    .map(({ label }) => label);
/** Of what decides. */
const labels = (...of: Parameters<typeof allLabels>): string[] =>
  allLabels(...of).filter((label) => !/^(I'm on it|Details|Snooze 1h)$/.test(label));

const after = { nowMs: Date.parse(at('02:42:45')) };
test('its time is up and the controller is away: the buttons go, and the card says why', () => {
  assert.deepEqual(labels(aFix(), { nowMs: after.nowMs - 1 }), ['Approve undo', 'Reject']);
  assert.deepEqual(labels(aFix(), after), []);
  assert.deepEqual(card(aFix(), after).footer, ['The time to approve was over at 03:42 CET; nothing was changed']);
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
test('what was about to be applied and was not, is said so, and there is nothing to undo', () => {
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
